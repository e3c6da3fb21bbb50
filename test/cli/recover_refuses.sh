#!/bin/sh
# While the recorder lives there is nothing to recover, afterwards neither; and who recovers what a
# killed one left does so alone.
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

lose_recorder -m 256K -o y.atr "$TARGETS/burn" 20 >said
kill -KILL $target
mkfifo slow
"$ADAPTRACE" recover -o slow y.atr 2>first & # waits for who reads
first=$!
background="$background $first"
await sh -c "ls -l /proc/$first/fd | grep -q /dev/shm/adaptrace-"
"$ADAPTRACE" recover y.atr 2>errors && fail "recovered by two at once"
one_complaint errors 'another adaptrace recover' || fail "$(cat errors)"
"$ADAPTRACE" snapshot -o y.atr y.atr 2>errors && fail "a snapshot of the dead"
one_complaint errors 'no recorder' || fail "$(cat errors)"
recorded -m 256K -o y.atr true 2>errors
grep -q 'another recorder, or recover,' errors || fail "$(cat errors)"
cat slow >recovered.atr
wait $first || fail "$(cat first)"
"$ADAPTRACE" info recovered.atr | grep -q 'was recovered' || fail "not recovered"
"$ADAPTRACE" recover y.atr 2>errors && fail "recovered twice"
one_complaint errors 'nothing to recover' || fail "$(cat errors)"

# What somebody else put there is named, alone: all of /dev/shm is not to be removed.
start_recording -m 256K -o x.atr sleep 60 2>errors
image=
for file in /dev/shm/adaptrace-*; do
	for fd in /proc/$recorder/fd/*; do [ "$file" -ef "$fd" ] && image=$file; done
done
kill -TERM $recorder
wait $recorder
[ -n "$image" ] || fail "no image"
for kind in mkdir mkfifo "ln -s /etc/passwd" "cp x.atr"; do
	$kind "$image"
	[ -L "$image" ] || chmod 755 "$image"
	wrong=
	for command in recover snapshot; do
		timeout 10 "$ADAPTRACE" $command x.atr 2>errors && wrong="$command worked"
		one_complaint errors "'$image', .* is not yours alone; remove it" ||
			wrong="$command said $(cat errors)"
	done
	rm -r "$image"
	[ -z "$wrong" ] || fail "$kind: $wrong"
done
pass
