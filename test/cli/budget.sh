#!/bin/sh
# The trace never exceeds the budget by more than its names, every sample is accounted for, and the
# recorder's own memory stays small, whatever the budget is and however many call paths there are.
. "$(dirname "$0")/scenario"
need_sampling

fit() { # BUDGET ARGUMENTS...
	budget=$1; shift
	echo "-- $budget $*"
	recorded -m "$budget" "$@" >said
	check "$(stat -c %s adaptrace.atr)" <<'END'
import sys
import recording

info = recording.info()
samples = recording.samples()
memory, counts = info["memory"], info["samples"]
print(sys.argv[1], "bytes,", memory, counts)
assert int(sys.argv[1]) <= memory["budget"] + (200 << 10)
assert memory["used"] <= memory["budget"]
assert memory["contexts"] <= memory["used"]
assert counts["taken"] == counts["stored"] + counts["reduced"]
assert counts["stored"] == len(samples) == sum(e["stored"] for e in info["events"])
assert counts["stored"] == sum(thread["stored"] for thread in info["threads"])
assert counts["stored"] == sum(command["stored"] for command in info["commands"])
assert counts["malformed"] == 0
assert [s["time_ns"] for s in samples] == sorted(s["time_ns"] for s in samples)
assert memory["peak_rss"] < memory["budget"] + (32 << 20)
END
}

fit 64K "$TARGETS/contexts" 100000 0.4
fit 100K -F 20000 --inherit "$TARGETS/contexts" 100000 0.4
fit 1M "$TARGETS/quarters" 2 0.3
fit 3M -g none "$TARGETS/quarters" 2 0.3
pass
