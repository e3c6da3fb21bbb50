#!/bin/sh
# The Firefox Profiler: its tables, and the profiler's own program where npm has installed it.
. "$(dirname "$0")/convert_traces"
check_format firefox .firefox.json.gz
zcat reduced.firefox.json.gz | grep -q '"what":"cpu-clock: period 194162, memory"' ||
	fail "reductions are no markers"
"$ADAPTRACE" convert --firefox -e page-faults -o faults.json.gz plain.atr
zcat faults.json.gz | grep -q '"weightType":"samples"' || fail "page faults are no milliseconds"
"$ADAPTRACE" info --json plain.atr >info.json
zcat plain.firefox.json.gz | python3 -c 'import json, sys
info, profile = json.load(open("info.json")), json.load(sys.stdin)
assert abs(profile["meta"]["startTime"] - info["start_time_ns"] / 1e6) < 1
starts = {t["tid"]: t["start_ns"] for t in info["threads"]}
base = profile["meta"]["startTimeAsClockMonotonicNanosecondsSinceBoot"]
shared = profile["shared"]
libs = [profile["libs"][lib]["name"] for lib in shared["resourceTable"]["lib"]]
assert sorted(libs[i] for i in set(shared["funcTable"]["resource"])) == ["app", "libx.so"], libs
categories = {profile["meta"]["categories"][i]["name"] for i in shared["frameTable"]["category"]}
assert categories == {"User"}, categories
for t in profile["threads"]:
    assert round(t["registerTime"] * 1e6) == max(0, starts[t["tid"]] - base), t["tid"]'
"$ADAPTRACE" info --json reduced.atr >info.json
zcat reduced.firefox.json.gz | python3 -c 'import json, sys
info, profile = json.load(open("info.json")), json.load(sys.stdin)
base = profile["meta"]["startTimeAsClockMonotonicNanosecondsSinceBoot"]
times = [max(0, r["time_ns"] - base) for r in info["reductions"]]
strings = profile["shared"]["stringArray"]
for t in profile["threads"]:
    table = t["markers"]
    for column in "startTime", "endTime":
        assert [round(time * 1e6) for time in table[column]] == times, (column, table)
    assert [strings[name] for name in table["name"]] == ["Reduction"] * len(times), table
    assert table["phase"] == [0] * len(times) and table["length"] == len(times), table
    times = []  # one thread shows them for all'
# A process is what it executed last, in all of its tracks.
if python3 "$here/may_sample.py"; then
	recorded -g none -o exec.atr sh -c \
		'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exec "$0" 0.1' "$TARGETS/burn" >/dev/null
	"$ADAPTRACE" convert --firefox exec.atr
	zcat exec.firefox.json.gz | python3 -c 'import json, sys
names = {(t["name"], t["processName"]) for t in json.load(sys.stdin)["threads"]}
assert names == {("sh", "burn"), ("burn", "burn")}, names'
fi

if ! command -v profiler-cli >/dev/null; then
	echo "the profiler itself was not asked: no @firefox-devtools/profiler-cli from npm"
	pass
fi
export HOME="$work"
for kind in reduced hostile; do
	load_profile $kind.firefox.json.gz || { echo "the profiler does not start"; pass; }
	profiler-cli profile info >$kind.info
	threads=$(grep -o 't-[0-9]*: ' $kind.info | tr -d ': ' | sort -u)
	for t in $threads; do profiler-cli thread functions --thread $t --limit 0 --json; done >functions
	profiler-cli stop --all >/dev/null
	python3 - functions $kind.json <<'EOF'
import collections, json, sys
text, seen, at = open(sys.argv[1]).read(), collections.Counter(), 0
while at < len(text.rstrip()):
    thread, at = json.JSONDecoder().raw_decode(text, at)
    while at < len(text) and text[at].isspace():
        at += 1
    for f in thread["functions"]:
        seen[f["name"]] += f["selfSamples"]
want = json.load(open(sys.argv[2]))["events"][0]["functions"]
assert len(want) > 5
for name, f in want.items():
    assert abs(seen[name] * 1e6 - f["self"]) < 1e3, (name, seen[name], f)
EOF
done
pass
