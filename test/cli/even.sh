#!/bin/sh
# What is stored in the end covers the whole run evenly: every quarter of the threads' CPU time has
# the same number of samples, although most of them came before one or another reduction. Time that
# the machine takes away has none, so an event that comes too seldom to be thinned is the measure.
. "$(dirname "$0")/scenario"
need_sampling

rate=$(rate 8000)

even() { # SAMPLES-OF-A-THREAD ARGUMENTS-OF-RECORD...
	seconds=$(lasting "$1" "$rate"); shift
	echo "-- $*"
	recorded -e cpu-clock:freq="$rate" -e task-clock:freq=500 "$@" "$TARGETS/quarters" 2 "$seconds" >said
	measure <<'END'
import bisect
import recording

info = recording.info()
samples = recording.samples()
event, measure = (e["name"] for e in info["events"])
assert len(info["reductions"]) >= 2, info["reductions"]
assert {r["event"] for r in info["reductions"]} == {event}
assert len(samples) == info["samples"]["stored"]
bounds = {}
with open("said") as file:
    for line in file:
        if line.startswith("quarter"):
            thread, tid, number, monotonic, cpu = map(int, line.split()[1:])
            bounds.setdefault(tid, []).append(monotonic)
counts = {event: [0] * 4, measure: [0] * 4}
for sample in samples:
    quarter = bisect.bisect(bounds.get(sample["tid"], []), sample["time_ns"])
    if 1 <= quarter <= 4:
        counts[sample["event"]][quarter - 1] += 1
print(counts)
# Thinning takes every second one, so that a quarter is off by one or two for each reduction. Were it
# by lot, 3.4 standard deviations would be a false alarm in 1,500 quarters, of which one more recording
# remains. A busy machine has one reduction more, which leaves 600 samples of a quarter.
share = sum(counts[event]) / sum(counts[measure])
for count, measured in zip(counts[event], counts[measure]):
    expected = measured * share
    assert expected > 400, counts
    assert recording.close(count, expected, 0, 3.4 * expected ** 0.5)
END
}

even 20000 -m 64K
even 20000 -m 64K --inherit
even 40000 -m 64K
pass
