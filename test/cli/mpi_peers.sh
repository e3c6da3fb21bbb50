#!/bin/sh
# Peers of messages and roots of collectives are the same ranks in every view and format, whatever
# communicator they are in, and whether all ranks were recorded together or apart.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

# RANKS HOW
agree() {
	"$ADAPTRACE" report --mpi --json job.atr >mpi.json || fail report
	"$ADAPTRACE" dump --json job.atr >dump.json && "$ADAPTRACE" dump job.atr >dump.txt || fail dump
	for format in chrome firefox; do
		"$ADAPTRACE" convert -q -f --$format job.atr || fail $format
	done
	with=
	if command -v otf2-print >/dev/null &&
		"$ADAPTRACE" convert -q -f --otf2 -o job-otf2 job.atr 2>/dev/null; then
		otf2-print -Werror job-otf2/traces.otf2 >otf2.txt || fail otf2-print
		with=otf2
	fi
	python3 "$here/mpi_peers.py" $1 $with || fail "$mpi, $1 ranks, recorded $2"
}

for mpi in $mpis; do
	compile $mpi inter
	for ranks in 2 5; do
		options='--events-wait 5000'
		recorded_job $mpi $ranks ./inter.$mpi log
		agree $ranks together
		rm -f part.*
		mpirun.$mpi -n $ranks "$ADAPTRACE" record -q -F 100 -g none --mpi $options -o part.%r.atr \
			./inter.$mpi log >job.out 2>job.err || fail "$(cat job.err)"
		"$ADAPTRACE" merge part.*.atr -o job.atr 2>said || fail "$(cat said)"
		agree $ranks apart
	done
done
pass
