#!/bin/sh
# Where too many stacks are deeper than what is copied of them, more is copied from then on; not
# where the user said how much.
. "$(dirname "$0")/scenario"
need_sampling
need_root "sample a cgroup"
need_cgroup

late_share() { # of the stacks in the last third that do not reach their root
	check "$@" <<'END'
import sys
import recording

least, most = map(float, sys.argv[1:])
if recording.info()["counting"] != "cgroup":
    raise SystemExit
samples = recording.samples()
late = samples[len(samples) * 2 // 3:]
share = sum(not sample["complete"] for sample in late) / len(late)
print(len(samples), "samples, late ones cut:", share)
assert len(late) > 500
assert least <= share <= most
END
}

recorded -F 4000 "$TARGETS/deep" 1.5
late_share 0 0.004
recorded -F 4000 -g dwarf,16K "$TARGETS/deep" 1.5
late_share 0.02 0.2
# The copies that came later follow the period as well.
recorded -F 10000 -m 64K --max-overhead 0 "$TARGETS/deep" 3
check <<'END'
import recording

info = recording.info()
if info["counting"] != "cgroup":
    raise SystemExit
sampled = sum(command["weight"] for command in info["commands"])
print(len(info["reductions"]), "reductions,", sampled, "ns")
assert len(info["reductions"]) >= 2
assert sampled < 3.6e9
END
pass
