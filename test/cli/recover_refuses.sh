#!/bin/sh
# While the recorder lives there is nothing to recover; afterwards neither.
. "$(dirname "$0")/scenario"
need_sampling

start_recording -m 256K -o x.atr sleep 60 2>errors
if grep -q "no room in /dev/shm" errors; then
	kill -TERM $recorder
	skip "no room in /dev/shm"
fi
"$ADAPTRACE" recover x.atr 2>errors && fail "recovered from a living recorder"
grep -q 'still at work' errors || fail "$(cat errors)"
kill -TERM $recorder
wait $recorder
[ $? = 143 ] || fail "record ended with $?"
[ -s x.atr ] || fail "no trace"
"$ADAPTRACE" recover x.atr 2>errors && fail "recovered what was written"
one_complaint errors 'nothing to recover' || fail "$(cat errors)"
pass
