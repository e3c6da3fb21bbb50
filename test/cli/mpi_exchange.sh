#!/bin/sh
# Random messages, in all ways that MPI has, are recorded exactly: every send, and every receive with
# its true source, tag and size. Polling may be lost where the machine is too busy, messages not.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

for mpi in $mpis; do
	compile $mpi exchange
	for seed in 1 2; do
		recorded_job $mpi 3 ./exchange.$mpi $seed 30 log
		"$ADAPTRACE" dump --json job.atr >dump || fail dump
		"$ADAPTRACE" info --json job.atr >info || fail info
		check $mpi <<'E'
import json, sys
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
assert calls == sorted(calls, key=lambda c: c['end_ns'])
total = 0
for rank in range(3):
    mine = sorted((c for c in calls if c['rank'] == rank), key=lambda c: c['end_ns'])
    parts = [p for c in mine for p in c['parts']]

    def told(kinds):
        return [(p['peer_rank'], p['tag'], p['bytes']) for p in parts if p['kind'] in kinds]

    sent, received, cancelled = [], [], 0
    for line in open(f'log.{rank}'):
        kind, *numbers = line.split()
        if kind == 'C':
            cancelled += 1
        else:
            (sent if kind == 'S' else received).append(tuple(map(int, numbers)))
    assert told(('send', 'send-posted')) == sent, (rank, 'sends differ')
    assert told(('receive', 'receive-done')) == received, (rank, 'receives differ')
    assert sum(p['kind'] == 'cancelled' for p in parts) == cancelled, (rank, 'cancels')
    # A request ends once, and it had begun.
    posted = [p['request'] for p in parts if p['kind'] in ('send-posted', 'receive-posted')]
    ended = [p['request'] for p in parts
             if p['kind'] in ('send-done', 'receive-done', 'cancelled')]
    assert len(set(posted)) == len(posted) and sorted(posted) == sorted(ended), (rank, 'requests')
    total += len(sent) + len(received)
assert total > 400, total
info = json.load(open('info'))
assert info['samples']['malformed'] == 0
assert [process['rank'] for process in info['processes']] == [0, 1, 2]
print(sys.argv[1], total, 'messages', info['calls']['kinds'][0]['lost'], 'idle calls lost')
E
	done
done
pass
