#!/bin/sh
# Any number of communicators may be alive at once, and their messages are known; of those that are
# too many for a trace it is said that they are in no matrix.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

for mpi in $mpis; do
	compile $mpi many_comms
	options='--events-wait 5000'
	for which in '5000 0' '0 70000'; do
		# shellcheck disable=SC2086
		recorded_job $mpi 1 ./many_comms.$mpi $which
		"$ADAPTRACE" report --mpi --json job.atr >report || fail report
		echo "$mpi $which: $(cat job.out)"
		check "$(cat job.out)" $which <<'E'
import json, sys
sent, alive, passing = map(int, sys.argv[1:])
report = json.load(open('report'))
calls = {c['call']: c for c in report['calls']}
link, = report['matrix']
elsewhere = report['messages_elsewhere']
assert calls['MPI_Sendrecv']['sent'] == sent and sent > 1000
assert link['messages'] + elsewhere == sent, (link, elsewhere, sent)
assert link['bytes'] == 4 * link['messages'] and report['bytes_elsewhere'] == 4 * elsewhere
assert bool(elsewhere) == bool(passing) and link['messages'] > 60000 * bool(passing), elsewhere
E
	done
done
pass
