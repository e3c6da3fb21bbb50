#!/bin/sh
# Over several reductions the samples that are left weigh what the target used, in both ways of
# sampling, at any frequency, with every call graph.
. "$(dirname "$0")/scenario"
need_sampling

rate=$(rate 20000)
seconds=$(lasting 13000 "$rate") # of two threads: 26,000 samples

weigh() { # REDUCTIONS ARGUMENTS-OF-RECORD...
	least=$1; shift
	echo "-- $*"
	recorded -m 64K -F "$rate" "$@" "$TARGETS/quarters" 2 "$seconds" >said
	measure "$least" <<'END'
import sys
import recording

used, = recording.said()["used"]
info = recording.info()
samples = recording.samples()
total = sum(sample["weight"] for sample in samples)
if info["counting"] == "cgroup":
    exact = info["events"][0]["exact"] / 1e9
    assert recording.close(exact, used, 0.03, recording.stood_still())
assert recording.close(total / 1e9, used, 0.03, recording.allowance(info))
assert sum(command["weight"] for command in info["commands"]) == total
assert sum(thread["weight"] for thread in info["threads"]) == total
assert recording.report()["sampled_weight"] == total
assert len(info["reductions"]) >= int(sys.argv[1]), info["reductions"]
# Both threads used the same.
by_thread = sorted(recording.weights(samples, "tid").values())
chance = 4 * samples[0]["weight"] / 1e9 * (len(samples) / 2) ** 0.5
assert recording.close(by_thread[-2] / 1e9, used / 2, 0.03, chance + recording.allowance(info))
END
}

weigh 1
weigh 1 --inherit
weigh 1 --inherit -g fp
pass
