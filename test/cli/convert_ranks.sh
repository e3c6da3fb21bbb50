#!/bin/sh
# A job whose hosts gave their processes the same PIDs: every format that has processes has one for
# each rank, named by it, with the rank's weight.
. "$(dirname "$0")/convert_traces"
(cd "$here/../.." && make -s BUILD="${build#"$PWD"/}" "${build#"$PWD"/}/unit/make_job")
mkdir job
"$build/unit/make_job" job 4 200 nompi >/dev/null
"$ADAPTRACE" merge job -o job.atr 2>/dev/null
"$ADAPTRACE" report --per-rank --json job.atr >ranks.json
for format in chrome firefox speedscope; do "$ADAPTRACE" convert -q --$format job.atr; done
python3 - <<'EOF'
import collections, gzip, json
ranks = json.load(open("ranks.json"))["ranks"]
want = {"rank %d: job" % r["rank"]: r["weight"] for r in ranks}
assert len(want) == 4, want

slices = json.load(open("job.trace.json"))["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in slices if e.get("name") == "process_name"}
# A process that cannot have its PID says which it was.
assert sorted(names) == [100, 101, 1 << 22, (1 << 22) + 1], names
got = collections.Counter()
for e in slices:
    if e["ph"] == "X":
        got[names[e["pid"]].replace(", PID %d" % e["tid"], "")] += e.get("args", {"self": 0})["self"]
assert got == want, got

threads = json.load(gzip.open("job.firefox.json.gz"))["threads"]
assert len({t["pid"] for t in threads}) == 4
assert {t["processName"]: round(sum(t["samples"]["weight"]) * 10**6) for t in threads} == want

profiles = json.load(open("job.speedscope.json"))["profiles"]
assert {p["name"].rpartition(" ")[0]: p["endValue"] for p in profiles} == want
EOF
command -v protoc >/dev/null || { echo "no protoc (protobuf-compiler): pprof's was not read"; pass; }
"$ADAPTRACE" convert --pprof job.atr
python3 - <<'EOF'
import collections, json
from convert_check import read_pprof
profile = read_pprof("job.pb.gz")
strings, got = profile["string_table"], collections.Counter()
for sample in profile["sample"]:
    labels = {strings[label["key"][0]]: label for label in sample["label"]}
    got[strings[labels["process"]["str"][0]]] += sample["value"][0]
assert got == {"rank %d: job" % r["rank"]: r["weight"] for r in json.load(open("ranks.json"))["ranks"]}, got
EOF
pass
