#!/bin/sh
# A recording is steered while it runs: status, marks, pauses, stop; and nobody else can do that.
. "$(dirname "$0")/scenario"
need_sampling

ctl() { "$ADAPTRACE" ctl "$@" || fail "ctl $* ended with $?"; }
state() { ctl "$@" status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])'; }
refused() { # WORDS ARGUMENTS...
	words=$1
	shift
	"$ADAPTRACE" ctl "$@" >said 2>errors
	status=$?
	[ $status = 1 ] || fail "ctl $* ended with $status"
	one_complaint errors "$words" || fail "ctl $*: $(cat errors)"
}

refused "no recorder of yours" nobody.atr status
for wrong in "" "adaptrace.atr" "adaptrace.atr leap" "adaptrace.atr mark" "adaptrace.atr stop now" "mark a b c" "adaptrace.atr snapshot a b" "resume --recording" \
	"stop --for 1" "stop --save x" "reset now" "pause --for never" "pause --json"; do
	"$ADAPTRACE" ctl $wrong 2>errors
	status=$?
	[ $status = 2 ] || fail "ctl $wrong ended with $status"
done

"$ADAPTRACE" ctl detial 3 2>errors
one_complaint errors "no command 'detial' for a recorder; did you mean 'detail'?" || fail "$(cat errors)"

start_recording -o adaptrace.atr "$TARGETS/burn" 60 2>errors
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
target=$(target_of $recorder)
[ "$(state adaptrace.atr)$(state $recorder)$(state $target)$(state)" = recordingrecordingrecordingrecording ] ||
	fail "$(state adaptrace.atr)"
# An image of another version: one byte of its number.
python3 "$here/damage_image.py" adaptrace.atr || fail "no image"
refused "is of another version of adaptrace" adaptrace.atr status
python3 "$here/damage_image.py" adaptrace.atr || fail "no image"
ctl adaptrace.atr mark "phase 2"
"$ADAPTRACE" ctl adaptrace.atr mark "$(printf 'a\033[31m')" 2>errors
[ $? = 2 ] && one_complaint errors "without control characters" || fail "$(cat errors)"
ctl snapshot 2>errors
ctl $recorder snapshot phase.atr 2>errors
for snapshot in snapshot.atr phase.atr; do
	"$ADAPTRACE" info --json $snapshot | grep -q '"phase 2"' || fail "$snapshot misses the mark"
done
refused "nothing is paused" adaptrace.atr resume
ctl $target pause --recording
[ "$(state)" = recording-paused ] || fail "$(state)"
refused "paused already" adaptrace.atr pause --recording
sleep 0.4 # what was sampled before is read, and the image has its number
ctl adaptrace.atr status --json >before
sleep 0.4
ctl adaptrace.atr status --json >after
cmp before after || fail "samples in a pause"
ctl adaptrace.atr resume
sleep 0.2
ctl adaptrace.atr pause --recording --for 0.1
await sh -c "[ \$('$ADAPTRACE' ctl adaptrace.atr status | grep -c paused) = 0 ]"

# Clients that send garbage, or connect and never read, are in nobody's way.
check $recorder <<'END'
import control_socket, os, random, sys

name, = control_socket.names_of(sys.argv[1])
mode = os.stat(name).st_mode & 0o777
assert mode == 0o600, oct(mode)

def client():
    return control_socket.connect(name)

def answer(packet):
    s = client()
    s.send(packet)
    return s.recv(5000)

for packet in (b"x", b"{}", b'{"v":2,"ctl":"stop"}', b'{"v":1,"ctl":"leap"}', b'{"v":1,"ctl":"stop","x":1}',
               b'{"v":1,"ctl":"mark"}', b'{"v":1,"ctl":"mark","text":"' + b"x" * 257 + b'"}', b"[" * 4000,
               b'{"v":1,"ctl":"mark","text":"a\\u000ab"}', b'{"v":1,"ctl":"resume","seconds":1e999}',
               b'{"v":1,"ctl":"stop"}}', b"x" * 5000, b'{"v":1,"ctl":"mark","text":"\xff"}'):
    got = answer(packet)
    assert got.startswith(b'{"ok":false,"error":"'), (packet[:40], got)
random.seed(1)
valid = b'{"v":1,"ctl":"mark","text":"phase"}'
for _ in range(100):
    packet = bytearray(valid)
    for _ in range(random.randint(1, 8)):
        packet[random.randrange(len(packet))] = random.randrange(256)
    assert answer(bytes(packet))[:6] == b'{"ok":'
silent = [client() for _ in range(100)]
for s in silent:
    try:
        s.send(valid)
    except OSError:
        pass # it has been closed for a later one
assert answer(valid).startswith(b'{"ok":true,"time_ns":')
END

[ "$(id -u)" = 0 ] && as_user "$ADAPTRACE" ctl $recorder stop 2>errors && fail "another user may stop it"
[ "$(state $recorder)" = recording ] || fail "$(state $recorder)"
ctl stop
await sh -c "[ -e adaptrace.atr ]"
[ "$(state $target)" = stopped ] || fail "$(state $target)"
refused "has ended" adaptrace.atr mark late
kill -0 $target || fail "stop ended the program"
kill -INT $recorder # which it passes on
wait $recorder
status=$?
[ $status = 130 ] || fail "record ended with $status"
refused "no recorder of yours is at work on 'adaptrace.atr' now: .* has ended" adaptrace.atr status

# Root may steer recorders of others. A socket of a dead recorder is replaced.
chmod 777 .
if [ "$(id -u)" = 0 ] && as_user "$ADAPTRACE" record -q -o other.atr true 2>/dev/null; then
	as_user "$ADAPTRACE" record -q -o other.atr sleep 60 2>/dev/null &
	other=$!
	background="$background $other"
	await sh -c "'$ADAPTRACE' ctl other.atr status >/dev/null 2>&1"
	ctl other.atr mark "by root"
	ctl other.atr stop
	kill $other
	wait $other
fi
# A recorder that is killed after stop has nothing to be recovered.
start_recording -o written.atr sleep 60
ctl written.atr stop
target=$(target_of $recorder)
kill -KILL $recorder $target
wait $recorder 2>/dev/null
rm written.atr
"$ADAPTRACE" report written.atr 2>errors && fail "a report of nothing"
! grep -q "killed recorder" errors || fail "$(cat errors)"
"$ADAPTRACE" doctor 2>/dev/null | grep -qF "$PWD/written.atr" && fail "the doctor sees what was written"

lose_recorder -o adaptrace.atr sleep 60
"$ADAPTRACE" recover adaptrace.atr 2>/dev/null || fail "nothing to recover"
start_recording -o adaptrace.atr sleep 60
ctl adaptrace.atr stop
kill $recorder $target
wait $recorder
pass
