#!/bin/sh
# Calls that ask in vain whether something has come are summed, and not recorded. With --polls they
# are, and may be lost where the recorder does not keep up, but no message is.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

for mpi in $mpis; do
	compile $mpi polls
	for polls in '' --polls; do
		# shellcheck disable=SC2086
		record -g none -F 100 --mpi $polls ./polls.$mpi >said 2>&1 || fail "$mpi: $(cat said)"
		"$ADAPTRACE" report --mpi --json >report || fail report
		"$ADAPTRACE" info --json >info || fail info
		check $mpi $polls <<'E'
import json, sys
report = json.load(open('report'))
calls = {c['call']: c for c in report['calls']}
kind, = json.load(open('info'))['calls']['kinds']
lost = [w for w in report['warnings'] if 'lost on the way' in w]
print(sys.argv[1:], kind, {name: c['calls'] for name, c in calls.items()}, lost)
assert calls['MPI_Sendrecv']['sent'] == calls['MPI_Sendrecv']['received'] == 100
made = sum(c['calls'] for c in calls.values())
polls = sum(calls[name]['calls'] for name in ('MPI_Test', 'MPI_Iprobe', 'MPI_Request_get_status'))
assert polls == 3 * 300000 and report['ranks'][0]['calls'] == made
if sys.argv[2:]:
    assert lost and made == kind['seen'] + kind['lost']
else:
    assert not lost and kind['lost'] == 0 and made - polls == kind['seen'] == kind['stored']
E
	done
done
pass
