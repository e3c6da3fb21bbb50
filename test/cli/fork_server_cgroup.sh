#!/bin/sh
# A server whose children live much shorter than the period: with events of a cgroup they have
# their share all the same.
. "$(dirname "$0")/scenario"
need_sampling
need_cgroup

recorded -F 500 -g none "$TARGETS/storm" 2000 1 child 150 >said
measure <<'END'
import recording

info = recording.info()
command, = (command for command in info["commands"] if command["comm"] == "child")
assert command["tasks"] == 2000, command
chance = 4 * info["events"][0]["final_period"] / 1e9 * command["stored"] ** 0.5
assert recording.between(command["weight"] / 1e9, *recording.of_storm(info, "child"), 0.05,
                         chance + recording.allowance(info))
END
pass
