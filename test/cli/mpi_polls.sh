#!/bin/sh
# A program that asks again and again whether something has come may lose that, where the recorder
# does not keep up, but no message.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

for mpi in $mpis; do
	compile $mpi polls
	record -g none -F 100 --mpi ./polls.$mpi >said 2>&1 || fail "$mpi: $(cat said)"
	"$ADAPTRACE" report --mpi --json >report || fail report
	check $mpi <<'E'
import json, sys
report = json.load(open('report'))
calls = {c['call']: c for c in report['calls']}
lost = [w for w in report['warnings'] if 'lost on the way' in w]
print(sys.argv[1], {name: c['calls'] for name, c in calls.items()}, lost)
assert lost and calls['MPI_Sendrecv']['sent'] == calls['MPI_Sendrecv']['received'] == 100
E
done
pass
