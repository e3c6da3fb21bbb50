#!/bin/sh
# What counters counted in the ranks' traces is in the merged one, to the last one, whatever way of
# counting a rank used; what not all have is left out in words.
. "$(dirname "$0")/scenario"
need_sampling
rank() { # RANK COUNTERS OPTIONS...
	rank=$1 counters=$2; shift 2
	OMPI_COMM_WORLD_RANK=$rank recorded --counters "$counters" -e cpu-clock:u "$@" -o "job/job.%r.atr" \
		"$TARGETS/faults" 3 $((20 + 10 * rank)) >/dev/null
}
mkdir job
rank 0 page-faults:u,task-clock:u
rank 1 page-faults:u,task-clock:u --inherit
rank 2 page-faults:u,task-clock:u
"$ADAPTRACE" merge job -o all.atr 2>said || fail "merge: $(cat said)"
grep -q 'left out: not' said && fail "counters were left out"
"$ADAPTRACE" merge -m 128K job -o small.atr 2>said || fail "merge: $(cat said)"
for trace in job/job.0 job/job.1 job/job.2 all small; do
	"$ADAPTRACE" report --json --sort symbol,module "$trace.atr" >"$(basename $trace).report" || fail report
	"$ADAPTRACE" info --json "$trace.atr" >"$(basename $trace).info" || fail info
done
check <<'P'
import collections, json
def load(name): return json.load(open(name))
names = ["page-faults:u", "task-clock:u"]
ranks, all_ = [load("job.%d.report" % i) for i in range(3)], load("all.report")
infos, info = [load("job.%d.info" % i) for i in range(3)], load("all.info")
assert [c["name"] for c in info["counters"]] == names, info["counters"]
for i, name in enumerate(names):
    for what in ("total", "with_samples"):
        parts, whole = [x["counters"][i][what] for x in infos], info["counters"][i][what]
        assert abs(whole - sum(parts)) <= 0.005 * sum(parts), (name, what, whole, parts)
def functions(report):
    sums = collections.Counter()
    for f in report["functions"]:
        sums[f["symbol"]] += f["counters"]["page-faults:u"] if "counters" in f else 0
    return sums
parts = sum((functions(r) for r in ranks), collections.Counter())
whole = functions(all_)
for name, count in parts.items():
    assert abs(whole[name] - count) <= 0.01 * sum(parts.values()), (name, whole[name], count)
# Where samples were left out for want of room, what was counted before the last one stays.
small = load("small.info")
assert small["samples"]["stored"] < info["samples"]["stored"], "nothing was left out"
for i, name in enumerate(names):
    got, of = small["counters"][i]["with_samples"], info["counters"][i]["with_samples"]
    assert 0.9 * of <= got <= 1.005 * of, (name, got, of)
P
rank 3 page-faults:u
"$ADAPTRACE" merge job -o all.atr 2>said || fail "merge: $(cat said)"
grep -q 'left out: not all' said || fail "nothing said of counters that differ"
check <<'P'
import recording
assert recording.info("all.atr")["counters"] == []
P
pass
