#!/bin/sh
# With a stack as small as programs start with at all, commands do what they do with a large one.
. "$(dirname "$0")/scenario"
need_sampling

narrow() { (ulimit -s 32; exec env -i PATH="$PATH" LC_ALL="$LC_ALL" "$@"); }
narrow true || skip "programs do not start here"

narrow "$ADAPTRACE" record -q --max-overhead 0 -m 256K "$TARGETS/burn" 0.3 >said || fail "record: $?"
narrow "$ADAPTRACE" record -q -m 256K -o limit.atr sh -c 'ulimit -s' >limit || fail "record: $?"
[ "$(cat limit)" = 32 ] || fail "the target's limit is $(cat limit)"
for command in 'report' 'report --tree' 'report --symbols' info 'dump --json' 'convert --otf2' \
	'convert --pprof'; do
	narrow "$ADAPTRACE" $command adaptrace.atr >out 2>errors || fail "$command: $? $(cat errors)"
done
"$ADAPTRACE" report >wide
narrow "$ADAPTRACE" report >out && cmp out wide || fail "another report"
narrow "$ADAPTRACE" doctor >out
[ $? -le 1 ] || fail "doctor: $?"
narrow "$ADAPTRACE" record --help >out || fail "help: $?"
pass
