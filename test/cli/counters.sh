#!/bin/sh
# Counters that are read with every sample: what was counted between the samples that are left is
# what the kernel told the target itself, however many were thinned out, in both ways of sampling;
# and it is told of the function where it happened.
. "$(dirname "$0")/scenario"
need_sampling

counted() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	recorded --counters page-faults:u,task-clock:u -e cpu-clock:u "$@" "$TARGETS/faults" 3 30 >said
	check <<'END'
import recording

info = recording.info()
faults, clock = info["counters"]
own, = recording.said()["faults"]
assert faults["name"] == "page-faults:u" and faults["state"] == "counted" and faults["scale"] == 1
assert faults["running_ns"] > 0 and faults["event"] == "cpu-clock:u"
assert recording.close(faults["total"], own, 0.03, 100)
# All but what came behind the last sample of each stream.
assert recording.close(faults["with_samples"], faults["total"], 0.1)

samples = recording.samples()
assert sum(s["counters"]["page-faults:u"] for s in samples) == faults["with_samples"]
assert all(set(s["counters"]) == {"page-faults:u", "task-clock:u"} for s in samples)

report = recording.report()
functions = {(f["symbol"], f["module"]): f for f in report["functions"] if not f.get("unsampled")}
assert report["counters"]["page-faults:u"] == faults["with_samples"]
touching = functions["touch_pages", "faults"]["counters"]["page-faults:u"]
print(f"{touching} of {own:.0f} faults are told of touch_pages")
assert touching > 0.5 * own
assert sum(f["counters"]["page-faults:u"] for f in functions.values()) == faults["with_samples"]

# Of every thread: exactly what it had, where each has counters of its own.
inherited = info["counting"] == "inherit"
lines = [line.split() for line in open("said") if line.startswith("thread")]
sums = {t["tid"]: sum(f["counters"]["page-faults:u"] for f in t["functions"])
        for t in recording.report("adaptrace.atr", "--per-thread")["threads"] if "tid" in t}
for _, tid, number in lines:
    assert recording.close(sums[int(tid)], float(number), 0.15 if inherited else 0.5)

# What a tree says of its root is the sum of all.
tree = recording.report("adaptrace.atr", "--tree")["trees"]
assert sum(c["counters"]["page-faults:u"] for t in tree for c in t["children"] if "counters" in c) <= faults["with_samples"]
END
}

counted
counted -m 64K -F 20000
check <<'END'
import recording
assert recording.info()["reductions"], "nothing was thinned out"
END
counted --inherit
counted --inherit -m 64K -F 20000

# For people.
"$ADAPTRACE" report | grep -q 'samples  *page-faults:u  *task-clock:u  *symbol' || fail "no columns"
"$ADAPTRACE" report --tree | grep -q 'page-faults:u  *task-clock:u  *call path' || fail "no columns"
"$ADAPTRACE" info | grep -q 'counters  *page-faults:u: .* in all' || fail "info says nothing"
"$ADAPTRACE" dump | head -1 | grep -q ' page-faults:u=[0-9]* task-clock:u=[0-9]* ' || fail "no dump"
pass
