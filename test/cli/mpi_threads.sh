#!/bin/sh
# 64 threads write events at once, and call MPI where it permits that: every call is there once, in
# its thread, and every message has its two ends.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

for mpi in $mpis; do
	compile $mpi threads -pthread
	recorded_job $mpi 1 ./threads.$mpi 64 50
	"$ADAPTRACE" dump --json job.atr >dump || fail dump
	check $mpi "$(cat job.out)" <<'E'
import collections, json, sys
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
print(sys.argv[1:], len(calls))
by_thread = collections.defaultdict(list)
for c in sorted(calls, key=lambda c: c['end_ns']):
    by_thread[c['tid']].append(c)
workers = {tid: mine for tid, mine in by_thread.items() if any(c['call'] == 'step' for c in mine)}
assert len(workers) == 64, len(workers)
multiple = 'multiple 1' in sys.argv[2]
requests = collections.Counter()
for tid, mine in workers.items():
    count = collections.Counter(c['call'] for c in mine)
    assert count['step'] == 50, (tid, count)
    if not multiple:
        continue
    assert count == dict(step=50, MPI_Irecv=50, MPI_Issend=50, MPI_Wait=100), count
    parts = [p for c in mine for p in c['parts']]
    sent = [p['tag'] for p in parts if p['kind'] == 'send-posted']
    assert sent == [p['tag'] for p in parts if p['kind'] == 'receive-done'] and len(set(sent)) == 1
    assert all(c['depth'] == (c['call'] != 'step') for c in mine)
    requests.update(p['request'] for p in parts)
assert set(requests.values()) <= {2}
E
done
pass
