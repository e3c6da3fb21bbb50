#!/bin/sh
# As the first process of a container: orphans are reaped, and who stops it stops the target.
. "$(dirname "$0")/scenario"
need_sampling
need_root "make a namespace of processes"
unshare --pid --fork --mount-proc true 2>/dev/null || skip "no namespace of processes can be made here"

cat >target <<'END'
echo $PPID >started
for i in 1 2 3 4 5; do (true &); done
sleep 1
ps -e -o stat= >states
exit 5
END
unshare --pid --fork --mount-proc "$ADAPTRACE" record -q -m 256K -o x.atr sh target
[ $? = 5 ] || fail "record ended with another status"
[ "$(cat started)" = 1 ] || fail "the recorder is not the first process"
[ -s states ] || fail "nobody was looked at"
grep Z states && fail "zombies"
unshare --pid --fork --mount-proc --kill-child "$ADAPTRACE" record -q -m 256K -o y.atr \
	sh -c 'touch begun; exec sleep 60' &
background=$!
await test -e begun
kill -TERM "$(pgrep -P $background)"
wait $background
[ $? = 143 ] || fail "record did not pass the signal on"
"$ADAPTRACE" info y.atr | grep -q 'killed by signal 15' || fail "no trace"
pass
