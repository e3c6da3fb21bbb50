#!/bin/sh
# What a recorder left that died of a damage to its own memory is kept, where no trace that can be
# read is made of it.
. "$(dirname "$0")/scenario"
need_sampling

duration=20.$$ # by which it is told from others
lose_recorder -m 64K -o killed.atr "$TARGETS/burn" $duration >said 2>errors
kill -KILL $target
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
# The first of the strings, which begin a page, is the empty one.
cat >damage.py <<'END_OF_PROGRAM'
import glob, os, sys

for path in glob.glob("/dev/shm/adaptrace-%d-*" % os.geteuid()):
    if path.endswith(".ctl"):
        continue
    with open(path, "r+b") as image:
        start = image.read(1 << 20)
        named = start.find("\x1f".join(sys.argv[1:]).encode() + b"\0")
        if named < 0:
            continue
        image.seek(named // 4096 * 4096)
        image.write(bytes([start[named // 4096 * 4096] ^ 1]))
        sys.exit(0)
sys.exit("no image")
END_OF_PROGRAM
python3 damage.py "$TARGETS/burn" $duration || fail "cannot damage it"
echo older >killed.atr
"$ADAPTRACE" recover killed.atr 2>errors && fail "recovered what is damaged"
one_complaint errors "what its recorder had in /dev/shm is damaged, and stays there" ||
	fail "$(cat errors)"
[ "$(cat killed.atr)" = older ] || fail "it replaced an older trace by one that nobody can read"
[ "$(ls -A | grep -c adaptrace-)$(ls | grep -c '\.old$')" = 00 ] || fail "it left $(ls -A)"
python3 damage.py "$TARGETS/burn" $duration || fail "the image is gone"
"$ADAPTRACE" recover killed.atr 2>errors || fail "$(cat errors)"
[ "$("$ADAPTRACE" dump killed.atr | wc -l)" -gt 50 ] || fail "samples are missing"
pass
