#!/bin/sh
# An existing trace is kept as .old, until the next but one; a failed recording touches neither.
. "$(dirname "$0")/scenario"
need_sampling

command_of() { "$ADAPTRACE" info --json "$1" | python3 -c 'import json, sys
print(*json.load(sys.stdin)["command"])'; }

recorded sh -c 'exit 0' one
recorded sh -c 'exit 0' two
[ "$(command_of adaptrace.atr)" = 'sh -c exit 0 two' ] || fail "new: $(command_of adaptrace.atr)"
[ "$(command_of adaptrace.atr.old)" = 'sh -c exit 0 one' ] || fail "old"
recorded sh -c 'exit 0' three
[ "$(command_of adaptrace.atr.old)" = 'sh -c exit 0 two' ] || fail "old after the third"
record no-such-command 2>errors
record -m 5X true 2>errors
[ "$(command_of adaptrace.atr)" = 'sh -c exit 0 three' ] || fail "lost by a failure"
[ "$(ls)" = "adaptrace.atr
adaptrace.atr.old
errors
stat" ] || fail "left behind: $(ls)"
# One that cannot be looked at is there all the same.
if strace -qq -o calls -e trace=access -e inject=access:error=EACCES:when=1 true 2>/dev/null; then
	strace -f -qq -o calls -P adaptrace.atr -e inject=access:error=EACCES \
		"$ADAPTRACE" record -q --max-overhead 0 true 2>errors || fail "$(cat errors)"
	[ "$(command_of adaptrace.atr.old)" = 'sh -c exit 0 three' ] || fail "old, not looked at"
fi
# A trace tells of people's programs: it is for its owner alone.
[ "$(stat -c %a adaptrace.atr)" = 600 ] || fail "permissions $(stat -c %a adaptrace.atr)"
# Who takes all rights from new files is to read it all the same, and what a killed recorder leaves.
cat >modes <<'END'
for fd in /proc/$PPID/fd/*; do
	case $(readlink "$fd") in /dev/shm/*) stat -L -c %a "$fd" ;; esac
done
END
(umask 777; record -o narrow.atr sh ./modes) >image 2>errors || fail "with umask 777"
[ -s image ] || grep -q 'no room in /dev/shm' errors || fail "no image was looked at"
[ "$(stat -c %a narrow.atr)" = 600 ] || fail "permissions $(stat -c %a narrow.atr)"
grep -vx 600 image && fail "the image has other permissions"
pass
