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
spin() { # a process with two threads that spin
	$under "$TARGETS/barrier" 2 50 60 >rate &
	pid=$! background="$background $pid"
	until [ "$(ls "/proc/$pid/task" | wc -l)" -eq 3 ]; do
		sleep 0.05
	done
}
under=$unprivileged
spin
$under "$ADAPTRACE" record -q -e cpu-clock -F 1000 --in-step=yes --duration=0.8 -o attached/user.atr -p "$pid" 2>errors ||
	fail "$(cat errors)"
kill "$pid"
$under "$ADAPTRACE" record -q -e cpu-clock -F 1000 --in-step=yes -o attached/command.atr "$TARGETS/barrier" 2 50 1 >rate 2>errors ||
	fail "$(cat errors)"
under=
spin
# Until the period has doubled twice, however few samples the other tests leave it.
"$ADAPTRACE" record -q -e cpu-clock -F 5000 --max-overhead 1 --in-step=yes -o attached/root.atr -p "$pid" 2>errors &
recorder=$! background="$background $recorder"
floor=0 tries=0
while [ "${floor:-0}" -lt 2 ] && [ $tries -lt 300 ]; do
	sleep 0.1
	tries=$((tries + 1))
	floor=$("$ADAPTRACE" ctl "$recorder" status --json 2>/dev/null |
		sed -n 's/.*"floor": *\([0-9]*\).*/\1/p' | head -1)
done
kill -INT "$recorder"
wait "$recorder" || [ $? = 130 ] || fail "$(cat errors)"
kill "$pid"
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
