#!/bin/sh
# Threads that take turns on a CPU: the kernel swaps their contexts then, and loses counts of the
# events that tell totals by task. The total of all is right without them, and what is not right is
# not told. As an ordinary user, with inherited events.
. "$(dirname "$0")/scenario"
need_sampling

mkdir open && chmod 777 open && cd open || exit 1
cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')

take_turns() { # COMMAND-THAT-PINS...
	echo "-- $*"
	rm -f adaptrace.atr
	head -1 /proc/stat >../stat
	as_user "$ADAPTRACE" record -q --inherit --max-overhead 0 -e cpu-clock:u -m 64K \
		"$@" "$TARGETS/quarters" 2 0.5 >../said || fail "record ended with $?"
	as_user "$ADAPTRACE" info --json >../info.json || fail "info"
	as_user "$ADAPTRACE" report >../report || fail "report"
	cat ../report
	cd ..
	measure <<'END'
import json
import recording

used, = recording.said()["used"]
info = json.load(open("info.json"))
event, = info["events"]
stood = recording.stood_still()
assert recording.close(event["exact"] / 1e9, used, 0.03, stood)
for entry in info["commands"] + info["threads"]:
    if entry["exact"] is not None and entry["exact"]:
        print(entry["comm"], entry["exact"])
commands = {command["comm"]: command["exact"] for command in info["commands"]}
if commands["quarters"] is not None:
    assert recording.close(commands["quarters"] / 1e9, used, 0.05, stood)
END
	cd open || exit 1
}

take_turns taskset -c "$cpu"
take_turns env
pass
