#!/bin/sh
# A child that the program made by clone() itself has calls of its own, though no fork handler ran:
# whether its parent had made some before or not.
. "$(dirname "$0")/scenario"
need_sampling

gcc -std=gnu11 -Wall -Wextra -O2 -I"$here/../../include" -o target "$here/../regions/clone.c" ||
	fail "build"
for when in late early; do
	recorded -m 1M --mpi -F 100 -g none ./target $([ $when = late ] || echo early)
	"$ADAPTRACE" dump --json adaptrace.atr >dump || fail dump
	check $when <<'E2'
import collections, json, sys
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
count = collections.Counter((c['call'], c['pid']) for c in calls)
pids = {call: {c['pid'] for c in calls if c['call'] == call} for call in ('parent', 'child', 'number')}
assert len(pids['parent']) == len(pids['child']) == 1 and not pids['parent'] & pids['child'], count
assert pids['number'] == pids['parent'] | pids['child'], count
assert all(n == (1 if call in ('around', 'first') else 1000) for (call, _), n in count.items()), count
assert ('around' in {c['call'] for c in calls}) == (sys.argv[1] == 'late'), count
E2
done
pass
