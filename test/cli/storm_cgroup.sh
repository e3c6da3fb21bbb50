#!/bin/sh
# A storm of short processes: with events of a cgroup each command's time is what wait4 says, at
# any period, also those that are longer than its processes live.
. "$(dirname "$0")/scenario"
need_sampling
need_cgroup

storm() { # COUNT ARGUMENTS-OF-RECORD...
	count=$1; shift
	echo "-- $*"
	recorded "$@" "$TARGETS/storm" "$count" 2 short 2000 long 6000 >said
	measure "$count" <<'END'
import sys
import recording

info = recording.info()
commands = {command["comm"]: command for command in info["commands"]}
period = info["events"][0]["final_period"] / 1e9
for comm in "short", "long":
    command = commands[comm]
    used, _ = recording.of_storm(info, comm)
    assert command["tasks"] == int(sys.argv[1]), command
    assert command["exact"] is None
    # What is cut off at either end of a process is chance, and where periods are longer than that
    # lasts, all is: four standard deviations, a false alarm in 16,000.
    chance = 2 * command["weight"] / 1e9 / max(command["stored"], 1) ** 0.5 / 5
    if period > 0.006:
        both = sum(recording.of_storm(info, comm)[0] for comm in ("short", "long"))
        chance = 4 * (period * used * (1 - used / both)) ** 0.5
        assert chance < 0.8 * used
    assert recording.close(command["weight"] / 1e9, used, 0.05, chance + recording.allowance(info))
END
}

# From 0.1 ms, with reductions, to 20 ms.
storm 200 -m 64K -F "$(rate 10000)"
storm 150 -F 1000 -g none
storm 200 -F 250 -g none
storm 200 -F 100 -g none
storm 400 -F 50 -g none
pass
