#!/bin/sh
# What is stored in the end covers the whole run evenly: every quarter of each thread's CPU time has
# the same number of samples, although most of them came before one or another reduction.
. "$(dirname "$0")/scenario"
need_sampling

even() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	recorded "$@" "$TARGETS/quarters" 2 1.4 >said
	check <<'END'
import bisect
import recording

info = recording.info()
samples = recording.samples()
assert len(info["reductions"]) >= 2, info["reductions"]
assert len(samples) == info["samples"]["stored"]
bounds = {}
with open("said") as file:
    for line in file:
        if line.startswith("quarter"):
            thread, tid, number, monotonic, cpu = map(int, line.split()[1:])
            bounds.setdefault(tid, []).append(monotonic)
counts = [0] * 4
for sample in samples:
    quarter = bisect.bisect(bounds.get(sample["tid"], []), sample["time_ns"])
    if 1 <= quarter <= 4:
        counts[quarter - 1] += 1
mean = sum(counts) / 4
for count in counts:
    assert recording.close(count, mean, 0.04, mean ** 0.5 / 2)
END
}

even -m 64K -F 20000
even -m 64K -F 20000 --inherit
pass
