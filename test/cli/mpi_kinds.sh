#!/bin/sh
# Each kind of call is told as it was: collectives with their root and bytes, one-sided calls, files,
# partitioned messages, neighbours, intercommunicators; and communicators are the same for all ranks.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

for mpi in $mpis; do
	compile $mpi kinds
	rm -f data
	options='--events-wait 5000'
	recorded_job $mpi 3 ./kinds.$mpi log
	"$ADAPTRACE" dump --json job.atr >dump || fail dump
	check $mpi <<'E'
import json
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
users, files = {}, set()
for rank in range(3):
    told = []
    for c in sorted((c for c in calls if c['rank'] == rank), key=lambda c: c['end_ns']):
        assert c['finished']
        for p in c['parts']:
            peer = p.get('peer_rank', p.get('peer', 0))
            told.append((c['call'], p['kind'], -1 if peer is None else peer, p.get('bytes') or 0,
                         p.get('bytes_in', p.get('asked', p.get('mode'))) or 0))
            if p['kind'].startswith(('file', 'read', 'write')):
                assert p['file'] == 'data', p
                files.add(p['file_number'])
            if p.get('communicator_number'):
                users.setdefault(p['communicator_number'], set()).add(rank)
    expected = [(line.split()[0], line.split()[1], *map(int, line.split()[2:]))
                for line in open(f'log.{rank}')]
    for i, (a, b) in enumerate(zip(told, expected)):
        assert a == b, (rank, i, 'told', a, 'expected', b)
    assert len(told) == len(expected), (rank, len(told), len(expected))
assert len(files) == 1, files
# The world, its copy, the ring, and what was merged: of all; one side: of two; the other, and each
# rank's own: of one. The two sides of an intercommunicator see different groups.
print(sorted(sorted(u) for u in users.values()))
assert sorted(sorted(u) for u in users.values()) == sorted(
    4 * [[0, 1, 2]] + [[0, 1], [2]] + [[0], [1], [2]] + [[0, 1], [2]]), users
E
done
pass
