#!/bin/sh
# The same storm without a cgroup: short processes are under-sampled then, and what is missing is
# shown as [unsampled], so that sampled and [unsampled] together are what wait4 says.
. "$(dirname "$0")/scenario"
need_sampling

storm() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	recorded --inherit "$@" "$TARGETS/storm" 150 2 short 2000 long 6000 >said
	check <<'END'
import recording

said = recording.said()
commands = {command["comm"]: command for command in recording.info()["commands"]}
rows = recording.report("adaptrace.atr", "--sort", "comm")["functions"]
for comm in "short", "long":
    command = commands[comm]
    assert command["tasks"] == 150, command
    assert command["exact"] >= command["weight"] * 0.9
    # The kernel ends the events of a dying process before it takes its memory apart: 0.2 ms and more.
    death = 150 * 0.0003
    assert recording.close(command["exact"] / 1e9, *said[comm], 0.05, death)
    total = sum(row["self"] for row in rows if row["comm"] == comm)
    assert recording.close(total / 1e9, *said[comm], 0.05, death + recording.allowance(recording.info()))
END
}

storm -m 64K
storm -F 200
pass
