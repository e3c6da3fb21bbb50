#!/bin/sh
# Calls of each type, and messages and bytes between ranks, are exactly as many as others count: a
# library of the test that stands before MPI in the same run, Open MPI itself, NetPIPE in what it
# says, and EZTrace in a run of its own. Of real programs where they are installed.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi
export COUNTS=$work/counts
export OMPI_MCA_pml_monitoring_enable_output=3
export OMPI_MCA_pml_monitoring_filename=$work/prof

# MPI KINDS RANKS COMMAND...: records all ranks, behind the counter.
compare() {
	compared_mpi=$1 kinds=$2 ranks=$3; shift 3
	rm -f counts.* prof.*
	options='--events-wait 20000 --polls' monitor=0
	case $kinds in *library*) monitor=2 ;; esac # it knows no intercommunicators
	export OMPI_MCA_pml_monitoring_enable=$monitor
	# shellcheck disable=SC2016
	recorded_job $compared_mpi "$ranks" \
		sh -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$work/libcounter.$compared_mpi.so" "$@"
	"$ADAPTRACE" dump --json job.atr >dump || fail dump
	"$ADAPTRACE" report --mpi --json job.atr >report || fail report
	"$ADAPTRACE" info --json job.atr >info || fail info
	echo "$compared_mpi: $*"
	# shellcheck disable=SC2086
	python3 "$here/mpi_counts.py" $kinds || fail "$compared_mpi $*"
	case $kinds in *types*) return ;; esac
	command -v eztrace >/dev/null && command -v otf2-print >/dev/null || return 0
	rm -rf ez
	OMPI_MCA_pml_monitoring_enable=0 mpirun.$compared_mpi -n "$ranks" \
		eztrace -o "$work/ez" -t $compared_mpi "$@" >/dev/null 2>&1 || return 0
	otf2-print ez/*_trace/eztrace_log.otf2 >eztrace 2>/dev/null
	[ ! -s eztrace ] || python3 "$here/mpi_counts.py" eztrace || fail "$compared_mpi $* as EZTrace"
}

for mpi in $mpis; do
	case $mpi in
	openmpi) own=library netpipe=NPopenmpi ;;
	*) own= netpipe=NPmpich2 ;;
	esac
	python3 "$sources/counter.py" mpicc.$mpi >counter.c || fail "counter.py"
	mpicc.$mpi -w -O1 -shared -fPIC -o libcounter.$mpi.so counter.c -ldl || fail "the counter"
	compile $mpi kinds
	compare $mpi types 3 ./kinds.$mpi log
	command -v $netpipe >/dev/null || continue
	compare $mpi "counter netpipe $own" 2 $netpipe -a -l 21 -u 1000 -n 10 -o np.out
done
examples=/usr/share/lammps/examples/rigid
[ -e $examples/in.rigid ] && ldd "$(command -v lmp)" 2>/dev/null | grep -q libmpi.so || pass
cp $examples/* .
sed -e 's/^run.*/run 500/' in.rigid >in.short
compare openmpi 'counter library' 2 lmp -in in.short -log none -screen none
pass
