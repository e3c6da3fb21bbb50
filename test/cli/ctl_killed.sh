#!/bin/sh
# Recorders and clients are killed at any moment while commands are carried out: the program runs on,
# what was recorded can be recovered, and a recorder is not held up by clients that went away.
. "$(dirname "$0")/scenario"
need_sampling

cat >steer <<'END'
import os, random, signal, subprocess, sys, time
import recording

COMMANDS = [["reset"], ["detail", "0.05"], ["pause", "--for", "0.05"], ["resume"], ["pause", "--recording"],
            ["event", "only", "page-faults"], ["event", "only", "cpu-clock"], ["event", "add", "minor-faults", "--anyway"],
            ["memory", "300K"], ["memory", "1M"], ["mark", "x" * 256], ["snapshot", "snapshot.atr"], ["status"]]
recorder, kills_clients, seconds = int(sys.argv[1]), sys.argv[2] == "clients", float(sys.argv[3])
random.seed(int(sys.argv[4]))
end = time.monotonic() + seconds
nr = 0
while time.monotonic() < end:
    client = subprocess.Popen([recording.ADAPTRACE, "ctl", str(recorder), *random.choice(COMMANDS)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if kills_clients and random.random() < 0.5:
        time.sleep(random.random() * 0.02)
        client.kill()
    assert client.wait() in (0, 1, -9), client.returncode
    nr += 1
if not kills_clients:
    os.kill(recorder, signal.SIGKILL)
print(nr, "commands")
END
runs_on() { # PID
	before=$(awk '{ print $14 + $15 }' /proc/$1/stat)
	await sh -c "[ \$(awk '{ print \$14 + \$15 }' /proc/$1/stat) -gt $before ]"
}
consistent() {
	check "$1" <<'END'
import sys
import recording

info = recording.info(sys.argv[1])
for event in info["events"]:
    assert event["stored"] <= event["taken"], event
stored = {}
for sample in recording.samples(sys.argv[1]):
    stored[sample["event"]] = stored.get(sample["event"], 0) + 1
for event in info["events"]:
    assert stored.get(event["name"], 0) == event["stored"], (event, stored)
assert all(w["stored"] >= 0 for w in info["windows"]), info["windows"]
END
}
turn=0
for way in "" --inherit "" --inherit; do
	start_recording -F 2000 -m 1M $way -e cpu-clock -o x.atr "$TARGETS/faults" 2 100000 >/dev/null 2>errors
	! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
	target=$(target_of $recorder)
	background="$background $target"
	turn=$((turn + 1))
	if [ $turn -le 2 ]; then
		python3 steer $recorder clients 1.5 $turn || fail "clients that are killed $way"
		"$ADAPTRACE" ctl $recorder resume 2>/dev/null
		"$ADAPTRACE" ctl $recorder stop || fail "the recorder does not answer $way"
	else
		python3 steer $recorder recorder 0.$((turn * 2)) $turn || fail "steering $way"
		wait $recorder 2>/dev/null
		runs_on $target
		"$ADAPTRACE" recover x.atr 2>errors || fail "cannot recover $way: $(cat errors)"
	fi
	runs_on $target
	kill $target
	wait $recorder 2>/dev/null
	consistent x.atr
	rm -f x.atr
done
pass
