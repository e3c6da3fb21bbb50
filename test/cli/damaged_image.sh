#!/bin/sh
# What a recorder left that died of a damage to its own memory is kept, where no trace that can be
# read is made of it.
. "$(dirname "$0")/scenario"
need_sampling

duration=20.$$
lose_recorder -m 64K -o killed.atr "$TARGETS/burn" $duration >said 2>errors
kill -KILL $target
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
python3 "$here/damage_image.py" killed.atr "$TARGETS/burn" $duration || fail "cannot damage it"
echo older >killed.atr
"$ADAPTRACE" recover killed.atr 2>errors && fail "recovered what is damaged"
one_complaint errors "what its recorder had in /dev/shm is damaged, and stays there" ||
	fail "$(cat errors)"
[ "$(cat killed.atr)" = older ] || fail "it replaced an older trace by one that nobody can read"
[ "$(ls -A | grep -c adaptrace-)$(ls | grep -c '\.old$')" = 00 ] || fail "it left $(ls -A)"
python3 "$here/damage_image.py" killed.atr "$TARGETS/burn" $duration || fail "the image is gone"
"$ADAPTRACE" recover killed.atr 2>errors || fail "$(cat errors)"
[ "$("$ADAPTRACE" dump killed.atr | wc -l)" -gt 50 ] || fail "samples are missing"
pass
