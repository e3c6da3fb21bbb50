#!/bin/sh
# A recording of a running process ends with it, by status 0, whatever the process' own was.
. "$(dirname "$0")/scenario"
need_sampling

mkfifo gate
sh -c 'echo ready; read line; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit 5' \
	<gate >said &
target=$!
background="$background $target"
exec 3>gate
await grep -q ready said
start_recording -p $target
echo go >&3
wait $recorder || fail "record -p ended with $?"
wait $target
[ $? = 5 ] || fail "the target ended with $?"
check <<'END'
import recording
assert recording.info()["samples"]["stored"] > 20
END

# It ends after the time that was given, and the process goes on.
sleep 100 &
target=$!
background="$background $target"
"$ADAPTRACE" record -q -e cpu-clock -p $target --duration 0.3 -o short.atr || fail "--duration ended with $?"
kill -0 $target || fail "harmed by --duration"
check <<'END'
import recording
duration = recording.info("short.atr")["wall_ns"]
assert 0.3e9 <= duration < 20e9, duration
END

# Or with a command, whose status it has then; one that goes on at its end is ended with it.
timed() { # STATUS RECORD-ARGS...
	expected=$1; shift
	"$ADAPTRACE" record -q -e cpu-clock -p $target -o timed.atr "$@"
	status=$?
	[ $status = "$expected" ] || fail "record $* ended with $status"
}
timed 7 sh -c 'sleep 0.3; exit 7'
kill -0 $target || fail "harmed by the end of a command"
check <<'END'
import recording
info = recording.info("timed.atr")
assert info["attached"] and info["command"] == ["sleep", "100"], info
assert 0.3e9 <= info["wall_ns"] < 20e9 and info["exit_status"] is None, info
END
"$ADAPTRACE" record -q -e cpu-clock -p $target -o none.atr ./missing 2>said
[ $? = 127 ] && one_complaint said "cannot execute './missing'" || fail "$(cat said)"
[ ! -e none.atr ] || fail "a trace for a command that never ran"
timed 137 sh -c 'kill -KILL $$'
"$ADAPTRACE" info --json timed.atr | grep -q '"killed":false' || fail "the target was killed"
timed 0 --duration 0.3 sh -c 'echo $$ >timer; exec sleep 100'
await sh -c '! readlink /proc/$(cat timer)/exe' >ended # which a zombie has not
# What interrupts both, as Ctrl-C does, ends the recording as without a command.
start_recording -p $target -o timed.atr sleep 100
timer=$(target_of $recorder)
kill -STOP $recorder
await grep -q '^State:.*T' /proc/$recorder/status
kill -TERM $recorder $timer
await grep -q '^State:.*Z' /proc/$timer/status
kill -CONT $recorder
wait $recorder || fail "interrupted with its command: $?"
"$ADAPTRACE" record -q --duration 1 true 2>said && fail "--duration with a command"
one_complaint said 'timeout 10' || fail "$(cat said)"
kill $target
wait $target

# What cannot be read of one is told, and else recorded; with few descriptors it is an error.
"$TARGETS/burn" 20 >used & target=$!
background="$background $target"
refusing() { # ERROR
	strace -qq -o calls -P "/proc/$target/task/$target/maps" -e inject=openat:error="$1" \
		"$ADAPTRACE" record -q --max-overhead 0 --duration 0.1 -p $target -o bare.atr 2>said
}
if strace -qq -o calls -e trace=openat -e inject=openat:error=EACCES:when=999 true 2>/dev/null; then
	refusing EACCES || fail "without mappings: $(cat said)"
	one_complaint said "code process $target has.*CAP_SYS_PTRACE" || fail "$(cat said)"
	"$ADAPTRACE" info bare.atr | grep -q 'mappings .*1 of code missing' || fail "not counted"
	refusing EMFILE && fail "without mappings, and says nothing"
	one_complaint said "cannot attach to process $target: Too many open" || fail "$(cat said)"
fi
kill $target

# A process that is gone, one that never was, and one of somebody else.
"$ADAPTRACE" record -q -p $target 2>said && fail "attached to a dead process"
grep -q "process $target" said || fail "$(cat said)"
if [ "$(id -u)" = 0 ]; then
	cp "$ADAPTRACE" . && chmod 755 adaptrace
	as_user ./adaptrace record -q -e cpu-clock -p 1 -o /dev/null 2>said
	[ $? = 125 ] || fail "attached to somebody else's process"
	tail -1 said | grep -q "another user's.*cap_perfmon" || fail "$(cat said)"
	# One of our own that says the same of itself.
	as_user python3 -c 'import ctypes, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) # PR_SET_DUMPABLE
print("ready", flush=True)
time.sleep(60)' >hidden & hidden=$!
	background="$background $hidden"
	await test -s hidden
	as_user ./adaptrace record -q -e cpu-clock:u -p $hidden -o /dev/null 2>said
	[ $? = 125 ] || fail "attached to a process that is not dumpable"
	one_complaint said 'or lets only root look into it;.*root' || fail "$(cat said)"
fi
pass
