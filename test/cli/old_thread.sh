#!/bin/sh
# A thread that is older than every reduction slows down as the others do: were it still sampled at
# the first period, its samples in the last quarter would weigh many times what it used there.
. "$(dirname "$0")/scenario"
need_sampling

rate=$(rate 20000)
seconds=$(lasting 26000 "$rate")

slow() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	recorded -m 64K -F "$rate" "$@" "$TARGETS/quarters" 2 "$seconds" >said
	measure <<'END'
import collections
import recording

info = recording.info()
last = collections.defaultdict(dict)
with open("said") as file:
    for line in file:
        if line.startswith("quarter"):
            thread, tid, number, monotonic, cpu = map(int, line.split()[1:])
            last[tid][number] = (monotonic, cpu)
end_of_third = min(marks[3][0] for marks in last.values())
late = [r for r in info["reductions"] if r["time_ns"] < end_of_third]
assert len(late) >= 2, info["reductions"]

# Each thread's weight in its last quarter is that quarter's CPU time.
for tid, marks in last.items():
    (start, cpu_start), (end, cpu_end) = marks[3], marks[4]
    weights = [s["weight"] for s in recording.samples()
               if s["tid"] == tid and start <= s["time_ns"] < end]
    chance = 2 * max(weights) * len(weights) ** 0.5
    assert recording.close(sum(weights), cpu_end - cpu_start, 0.05, chance + recording.allowance(info) * 1e9)

# The kernel delivered little more than what was worth keeping, not all at the first period.
used, = recording.said()["used"]
at_first = used * 1e9 / info["events"][0]["initial_period"]
print(f'{info["samples"]["taken"]} taken, {at_first:.0f} at the first period')
assert info["samples"]["taken"] < 0.8 * at_first
END
}

slow
slow --inherit
pass
