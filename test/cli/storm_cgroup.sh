#!/bin/sh
# A storm of short processes: with events of a cgroup each command's time is what wait4 says, at
# any period, also one that is longer than its processes live.
. "$(dirname "$0")/scenario"
need_sampling
need_cgroup

storm() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	recorded "$@" "$TARGETS/storm" 200 2 short 2000 long 6000 >said
	check <<'END'
import recording

said = recording.said()
commands = {command["comm"]: command for command in recording.info()["commands"]}
for comm in "short", "long":
    command = commands[comm]
    assert command["tasks"] == 200, command
    assert command["exact"] is None
    # A period that is long for so few samples: what is cut off at either end of a process is chance.
    chance = 2 * command["weight"] / 1e9 / max(command["stored"], 1) ** 0.5 / 5
    assert recording.close(command["weight"] / 1e9, *said[comm], 0.05, chance + recording.allowance(recording.info()))
END
}

storm -m 64K
storm -F 250 -g none
pass
