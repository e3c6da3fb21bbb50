#!/bin/sh
# The same program in C, by mpif.h, use mpi and use mpi_f08, with Open MPI and MPICH: the same calls,
# each once, however the libraries call themselves. With a recorder for the job, and one per rank.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

cat >expected.py <<'E'
import collections, json, sys

def calls_of(paths):
    return [c for path in paths for c in map(json.loads, open(path)) if 'call' in c]

def examine(calls, ranks):
    for rank in range(ranks):
        mine = [c for c in calls if c['rank'] == rank]
        count = collections.Counter(c['call'] for c in mine)
        assert count == dict(MPI_Init=1, MPI_Irecv=10, MPI_Isend=10, MPI_Waitall=10,
                             MPI_Sendrecv=10, MPI_Allreduce=10, MPI_Comm_split=1, MPI_Bcast=1,
                             MPI_Comm_free=1, MPI_Barrier=1, MPI_Finalize=1), (rank, count)
        parts = [p for c in mine for p in c['parts']]
        sent = [p for p in parts if p['kind'] in ('send', 'send-posted')]
        received = [p for p in parts if p['kind'] in ('receive', 'receive-done')]
        assert [p['peer_rank'] for p in sent] == 20 * [(rank + 1) % ranks]
        assert [p['peer_rank'] for p in received] == 20 * [(rank - 1) % ranks]
        assert {p['bytes'] for p in sent + received} == {4}
        assert sorted(p['tag'] for p in received) == 10 * [5] + 10 * [6]
        bcast, = (p for c in mine if c['call'] == 'MPI_Bcast' for p in c['parts'])
        assert bcast['peer_rank'] == rank % 2 and bcast['bytes' if rank < 2 else 'bytes_in'] == 4, bcast
        assert all(c['finished'] and c['depth'] == 0 for c in mine)
E
for mpi in $mpis; do
	compile $mpi matrix
	programs=./matrix.$mpi
	if command -v mpif90.$mpi >/dev/null; then
		for way in mpif mpi f08; do
			mpif90.$mpi -w -o $way.$mpi "$sources/matrix_$way.f90" ||
				fail "cannot compile matrix_$way.f90 for $mpi"
			programs="$programs ./$way.$mpi"
		done
	fi
	for program in $programs; do
		echo "$program"
		recorded_job $mpi 3 $program
		"$ADAPTRACE" dump --json job.atr >dump || fail dump
		check <<'E'
from expected import *
examine(calls_of(['dump']), 3)
E
	done
	rm -f rank.*.atr
	mpirun.$mpi -n 2 "$ADAPTRACE" record -q -F 100 -g none --mpi -o rank.%r.atr ./matrix.$mpi 2>said ||
		fail "a recorder for each rank: $(cat said)"
	for rank in 0 1; do "$ADAPTRACE" dump --json rank.$rank.atr >dump.$rank || fail dump; done
	check <<'E'
from expected import *
examine(calls_of(['dump.0', 'dump.1']), 2)
E
done
pass
