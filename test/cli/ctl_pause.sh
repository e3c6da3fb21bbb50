#!/bin/sh
# A program is paused and goes on, whatever happens to the recorder; no sample is in a gap.
# Waits: for pauses to pass.
. "$(dirname "$0")/scenario"
need_sampling

ctl() { "$ADAPTRACE" ctl "$@" || fail "ctl $* ended with $?"; }
# A program that counts in a file, as does its child. The files are not truncated: they would be empty
# for most of the time where the disk is busy.
cat >count.sh <<'EOC'
(while :; do i=$((i + 1)); echo $i 1<>child; done) &
trap 'kill $!; exit 5' TERM
while :; do i=$((i + 1)); echo $i 1<>parent; done
EOC
stands_still() {
	sleep 0.1
	a=$(cat parent child)
	sleep 0.3
	[ "$a" = "$(cat parent child)" ]
}
goes_on() {
	for which in parent child; do
		a=$(cat $which)
		await sh -c "[ '$a' != \"\$(cat $which)\" ]"
	done
}

# Frozen by its cgroup where one is permitted, and stopped by signals with inherited events.
for way in "" --inherit; do
	start_recording -F 200 $way -o x.atr sh count.sh 2>errors
	! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
	goes_on
	ctl x.atr mark 'before the pause'
	ctl x.atr pause
	"$ADAPTRACE" ctl x.atr status | grep -q ': paused$' || fail "not paused $way"
	stands_still || fail "the program runs on $way"
	if [ -n "$(find /sys/fs/cgroup -maxdepth 3 -path "*/adaptrace-$recorder/cgroup.freeze" 2>/dev/null)" ]; then
		! grep -q '^State:.T' "/proc/$(target_of $recorder)/status" || fail "stopped by a signal, not frozen"
	fi
	"$ADAPTRACE" ctl x.atr pause 2>errors && fail "paused twice"
	ctl x.atr resume
	goes_on
	ctl x.atr pause --for 0.2
	await sh -c "'$ADAPTRACE' ctl x.atr status | grep -q ': recording$'"
	goes_on
	ctl x.atr pause
	ctl x.atr resume --for 0.1
	await sh -c "'$ADAPTRACE' ctl x.atr status | grep -q ': paused$'"
	kill $recorder # the program takes the signal
	wait $recorder
	status=$?
	[ $status = 5 ] || fail "record $way ended with $status"
	check <<'END'
import recording

info = recording.info("x.atr")
actions = [(a["action"], a["result"]) for a in info["actions"]]
assert actions == [("mark", "done"), ("pause", "done"), ("pause", "refused"), ("resume", "done"),
                   ("pause", "done"), ("resume", "done"), ("pause", "done"), ("resume", "done"),
                   ("pause", "done")], actions
texts = [a.get("text") for a in info["actions"]]
assert texts[4] == "for 0.2 s" and texts[5] == texts[8] == "the time of --for is over", texts
assert info["actions"][0]["text"] == "before the pause" and info["actions"][0]["pid"] > 0
gaps = [(g["from_ns"], g["to_ns"]) for g in info["gaps"]]
assert len(gaps) == 4 and all(a < b for a, b in gaps), gaps
assert sum(b - a for a, b in gaps) == info["wall_ns"] - info["sampled_ns"] > 600000000, info
for sample in recording.samples("x.atr"):
    assert not any(a < sample["time_ns"] < b for a, b in gaps), sample
END
done
"$ADAPTRACE" report x.atr | grep -q 'of it paused, with 1 mark' || fail "$("$ADAPTRACE" report x.atr | head -3)"
"$ADAPTRACE" convert --chrome -o x.json x.atr && grep -q 'before the pause' x.json || fail "no mark for Chrome"
"$ADAPTRACE" convert --firefox -o y.json x.atr && zcat -f y.json | grep -q 'before the pause' || fail "no mark for Firefox"
"$ADAPTRACE" merge -o job.atr x.atr 2>errors && "$ADAPTRACE" info job.atr | grep -q 'mark: before the pause' ||
	fail "no mark in a merged trace: $(cat errors)"

# When a pause is answered, whoever looks finds all that came before it.
check_all_seen() {
	check <<'END'
import json, os, subprocess, time
from recording import info

def looked():
    if os.path.exists("seen.atr"):
        os.unlink("seen.atr")
    status = json.loads(subprocess.check_output([os.environ["ADAPTRACE"], "ctl", "x.atr", "status", "--json"]))
    subprocess.run([os.environ["ADAPTRACE"], "snapshot", "-o", "seen.atr", "x.atr"], check=True, stderr=subprocess.DEVNULL)
    seen = info("seen.atr")
    return status["samples"], seen["samples"]["stored"], sum(t["stored"] for t in seen["threads"])

at_once = looked()
time.sleep(0.4)
later = looked()
assert at_once == later and at_once[1] > 0, (at_once, later)
END
}
start_recording -F "$(rate 4000)" --max-overhead 0 -o x.atr "$TARGETS/burn" 60 2>errors
for how in "" --recording; do
	sleep 0.25
	ctl x.atr pause $how
	check_all_seen
	ctl x.atr resume
done
kill $recorder
wait $recorder

# A recorder that is killed leaves nothing stopped.
start_recording -o x.atr sh count.sh
target=$(target_of $recorder)
background="$background $target"
goes_on
ctl x.atr pause
stands_still || fail "the program runs on"
kill -KILL $recorder
wait $recorder 2>/dev/null
goes_on
kill $target
"$ADAPTRACE" recover x.atr 2>/dev/null || fail "cannot recover"
sh count.sh &
target=$!
background="$background $target"
goes_on
start_recording -o x.atr -p $target
ctl $recorder pause
stands_still || fail "an attached program runs on"
ctl $recorder resume
goes_on
# Somebody else's stop is left alone.
kill -STOP $target
until grep -q '^State:.T' /proc/$target/status; do
	sleep 0.05
done
ctl $recorder pause
ctl $recorder resume
grep -q '^State:.T' /proc/$target/status || fail "it was stopped by somebody else"
kill -CONT $target
ctl $recorder pause
kill -INT $recorder
wait $recorder
goes_on
kill $target
pass
