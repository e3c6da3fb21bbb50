#!/bin/sh
# Threads that are attached to have events of their own, whose timers are kept on the grid without
# privilege as well. Threads that they start later inherit theirs, and are sampled all the same.
# Threads of a command get such events in place of inherited ones, and are not sampled twice.
. "$(dirname "$0")/scenario"
"$ADAPTRACE" doctor >text || skip "this kernel permits no sampling here"

mkdir attached
chmod 777 attached
unprivileged=
[ "$(id -u)" -ne 0 ] || unprivileged="setpriv --reuid=65534 --regid=65534 --clear-groups"
attach() { # attach FILE OPTION...: to a process with two threads that spin
	file=$1
	shift
	$under "$TARGETS/barrier" 2 50 60 >rate &
	pid=$! background="$background $pid"
	until [ "$(ls "/proc/$pid/task" | wc -l)" -eq 3 ]; do
		sleep 0.05
	done
	$under "$ADAPTRACE" record -q -e cpu-clock -F 1000 --in-step=yes "$@" --duration=0.8 -o "attached/$file" -p "$pid" 2>errors ||
		fail "$(kill "$pid"; cat errors)"
	kill "$pid"
}
under=$unprivileged
attach user.atr
$under "$ADAPTRACE" record -q -e cpu-clock -F 1000 --in-step=yes -o attached/command.atr "$TARGETS/barrier" 2 50 1 >rate 2>errors ||
	fail "$(cat errors)"
under=
attach root.atr -F 5000 -m 64K # the period doubles several times
check <<'END'
import recording

for path in "attached/user.atr", "attached/root.atr":
    info = recording.info(path)
    step = info["in_step"]
    print(path, step, info["samples"])
    assert info["counting"] == "inherit", info["counting"]
    assert step["asked"] and step["grid_ns"] == info["events"][0]["base_period"], step
    assert step["median_off_ns"] <= step["p90_off_ns"] <= info["events"][0]["final_period"], step
    assert step["restarts"] <= info["samples"]["taken"] / 50 + 4 * len(info["threads"]), step
    assert step["unsteered_cpus"] <= info["nr_cpus"], step
info = recording.info("attached/command.atr")
event, step = info["events"][0], info["in_step"]
if info["counting"] == "inherit":
    weight = sum(thread["weight"] for thread in info["threads"])
    print(step, weight, event, info["samples"])
    assert step["grid_ns"] == event["base_period"], step
    assert weight <= 1.02 * event["exact"] + 10 * event["final_period"], (weight, event)
    assert info["samples"]["taken"] == info["samples"]["stored"] + info["samples"]["reduced"]
assert len(recording.info("attached/root.atr")["reductions"]) > 1
END
pass
