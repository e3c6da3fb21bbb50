#!/bin/sh
# Where one of several operations fails that are completed together, it alone has failed: the others
# are told as they were, and so are those that come later and may have the same handles.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

for mpi in $mpis; do
	echo "$mpi: receives that fail"
	compile $mpi failures
	options='--events-wait 5000'
	recorded_job $mpi 2 ./failures.$mpi
	"$ADAPTRACE" dump --json job.atr >dump || fail dump
	check $mpi <<'E'
import collections, json
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
parts = [p for c in sorted(calls, key=lambda c: c['end_ns']) if c['rank'] == 1 for p in c['parts']]
kinds = collections.Counter(p['kind'] for p in parts)
del kinds['collective']
assert kinds == {'receive-posted': 8 * 24, 'receive-done': 8 * 23, 'cancelled': 8}, kinds
posted = {p['request'] for p in parts if p['kind'] == 'receive-posted'}
ended = [p['request'] for p in parts if p['kind'] in ('receive-done', 'cancelled')]
assert len(set(ended)) == len(ended) and set(ended) == posted, len(ended)
done = collections.Counter((p['tag'], p['bytes']) for p in parts if p['kind'] == 'receive-done')
assert done == {(0, 4): 8, (2, 4): 8, (3, 4): 8, (4, 8): 8 * 20}, done
E
done
pass
