#!/bin/sh
# Trace Event JSON: slices nest, and hold what their functions took.
. "$(dirname "$0")/convert_traces"
check_format chrome .trace.json
# A track that a program takes over from another: its slices begin where the others ended.
"$build/unit/make_trace" exec exec.atr
"$build/unit/make_trace" sums exec.atr >exec.json
"$ADAPTRACE" convert -q --chrome exec.atr
python3 "$here/convert_check.py" chrome exec.trace.json exec.json
grep -q '"since then":"cpu-clock: period 194162, memory"' reduced.trace.json || fail "no reductions"
"$ADAPTRACE" info --json reduced.atr >info.json
python3 - <<'EOF'
import json
info = json.load(open("info.json"))
events = json.load(open("reduced.trace.json"))["traceEvents"]
names = {(e["name"], e["pid"], e["tid"], e["args"]["name"]) for e in events if e["ph"] == "M"}
threads = {(t["pid"], t["tid"], t["comm"]) for t in info["threads"]}
assert names == {("thread_name",) + t for t in threads} | {
    ("process_name",) + t for t in threads if t[0] == t[1]}, names
told = [round(e["ts"] * 1000) for e in events if e["name"] == "Reduction"]
assert told == [r["time_ns"] - info["start_ns"] for r in info["reductions"]], told
EOF
if command -v profiler-cli >/dev/null; then # it imports this format, too
	export HOME="$work"
	for kind in reduced hostile; do
		load_profile $kind.trace.json || { echo "the profiler does not start"; pass; }
		profiler-cli stop --all >/dev/null
	done
fi
pass
