#!/bin/sh
# A process that becomes another program behind MPI_Finalize is still the rank that it was, and what
# threads may do is what the library says, also where the environment gives more than was asked for.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi
export OMPI_MPI_THREAD_LEVEL=3 MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE

for mpi in $mpis; do
	echo "$mpi"
	compile $mpi lives
	rm -f living
	recorded_job $mpi 2 ./lives.$mpi
	"$ADAPTRACE" dump --json job.atr >dump && "$ADAPTRACE" info --json job.atr >info || fail dump
	check <<'E'
import collections, json
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
counts = collections.Counter((c['rank'], c['call']) for c in calls)
names = 'MPI_Init', 'MPI_Sendrecv_replace', 'MPI_Finalize', 'another life'
assert counts == {(rank, name): 1 for rank in (0, 1) for name in names}, counts
levels = ['single', 'funneled', 'serialized', 'multiple']
said = [levels[int(line.split()[1])] for line in open('job.out') if line.startswith('level')]
told = [p['threads'] for p in json.load(open('info'))['processes']]
assert told == said and len(told) == 2, (told, said)
E
	command -v otf2-print >/dev/null || continue
	rm -rf job-otf2
	"$ADAPTRACE" convert --otf2 -o job-otf2 job.atr 2>said || { grep -q 'built without' said && continue; fail "$(cat said)"; }
	otf2-print -Werror job-otf2/traces.otf2 >log 2>&1 || fail "otf2-print: $(cat log)"
	[ "$(grep -cE '^MPI_(SEND|RECV) +[01] ' log)" = 4 ] || fail "not of the ranks' locations: $(grep ^MPI_ log)"
done
pass
