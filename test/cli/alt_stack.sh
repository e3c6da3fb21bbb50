#!/bin/sh
# What a handler with a stack of its own interrupted is told, too, while that stays where it is.
. "$(dirname "$0")/scenario"
need_sampling

"$TARGETS/alt_stack" || skip "there are no stacks for signals here"
recorded -m 1M -e cpu-clock "$TARGETS/alt_stack"
"$ADAPTRACE" dump --json adaptrace.atr >dump || fail dump
check <<'E2'
import json
stacks = [[f['symbol'] for f in s['stack']] for s in map(json.loads, open('dump')) if 'stack' in s]
handled = [s for s in stacks if 'handle' in s]
known = [s for s in handled if 'main' in s]
assert len(handled) > 20, len(handled)
assert len(known) > len(handled) / 3, (len(known), len(handled))
for s in known:
    assert s.index('handle') < s.index('interrupted') < s.index('main'), s
E2
pass
