#!/bin/sh
# Chains of exec, fork, vfork and thousands of threads are followed to their ends.
. "$(dirname "$0")/scenario"
need_sampling
# One sample a millisecond: to start a program the kernel holds interrupts off for parts of one on
# some virtual machines, where a faster clock loses ticks.

follow() { # HOW COUNT US COMM TASKS ARGUMENTS-OF-RECORD...
	how=$1 count=$2 us=$3 comm=$4 tasks=$5; shift 5
	echo "-- $how $*"
	recorded -F 1000 "$@" "$TARGETS/chain" "$how" "$count" "$us" >said
	check "$comm" "$tasks" <<'END'
import sys
import recording

comm, tasks = sys.argv[1], int(sys.argv[2])
info = recording.info()
command, = [command for command in info["commands"] if command["comm"] == comm]
# On a busy machine records of tasks may be lost, and it is said then.
missing = tasks - command["tasks"]
assert missing == 0 or 0 < missing < info["samples"]["lost_records"], (command, info["samples"])
if info["user_only"]:
    raise SystemExit  # much of so short lives is the kernel's
# Each process says what it and those behind it used. Inherited events end with a process, before or
# after its memory is taken apart.
used = max(recording.said()["used"])
least = used if info["counting"] == "cgroup" else sum(recording.said()["life"])
assert recording.between(recording.report()["total_weight"] / 1e9, least, used, 0.05,
                         recording.allowance(info))
END
}

for way in '' --inherit; do
	follow exec 40 5000 exe 1 $way
	follow fork 40 5000 chain 40 $way
	follow vfork 40 5000 exe 39 $way
	follow threads 2000 200 link 2000 $way
done
pass
