#!/bin/sh
# A program that lets whoever reads its stack wait does not hold up its recorder.
. "$(dirname "$0")/scenario"
need_sampling

"$TARGETS/held_stack" >said &
target=$!
background=$target
await sh -c "grep -q held said || ! kill -0 $target"
kill -0 $target 2>/dev/null || skip "no memory can be held here"
timeout -s KILL 60 "$ADAPTRACE" record -q -F 200 -p $target --duration 1 -o x.atr 2>errors
status=$?
[ $status = 0 ] || fail "record ended with $status: $(cat errors)"
kill -KILL $target
"$ADAPTRACE" report x.atr >report || fail "report"
grep -q spin report || fail "$(cat report)"
pass
