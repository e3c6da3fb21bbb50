#!/bin/sh
# --pause-at mpi-init: ranks sleep once they have initialized MPI, and go on when they are resumed or
# when the recorder is gone, with one recorder and with one a rank, in C and in Fortran.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

cat >paused.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	int rank, size, level;
	char name[20];

	if (argc > 1 && !strcmp(argv[1], "thread"))
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(name, sizeof(name), "on.%d.%d", rank, size);
	fclose(fopen(name, "w"));
	for (double end = MPI_Wtime() + 0.2; MPI_Wtime() < end;)
		;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END
cat >paused.f90 <<'END'
program paused
  use mpi
  integer :: error
  call MPI_Init(error)
  open(1, file='on.0.2')
  close(1)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
END
state() { "$ADAPTRACE" ctl "$1" status --json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])' 2>/dev/null; }
begin() { # COMMAND...: pauses after MPI_Init
	rm -f on.*
	"$ADAPTRACE" record -q -F 200 -g none --mpi --pause-at mpi-init -o job.atr -- "$@" 2>job.err &
	recorder=$!
	background="$background $recorder"
	await paused job.atr
	! ls on.* 2>/dev/null || fail "a rank runs on"
}
paused() { [ "$(state "$1")" = paused ]; }
resumes() {
	"$ADAPTRACE" ctl job.atr resume || fail "not resumed"
	wait $recorder || fail "record ended with $?: $(cat job.err)"
	[ -e on.0.2 ] || fail "no rank ran"
}

"$ADAPTRACE" record --pause-at mpi-init true 2>errors && fail "paused at MPI_Init without --mpi"
one_complaint errors "is for --mpi" || fail "$(cat errors)"
"$ADAPTRACE" record --mpi --pause-at mpi-inot true 2>errors && fail "no such point"
for mpi in $mpis; do
	mpicc.$mpi -O1 -o paused.$mpi paused.c || fail "cannot compile paused.c for $mpi"
	begin mpirun.$mpi -n 2 ./paused.$mpi
	"$ADAPTRACE" ctl job.atr pause 2>errors && fail "paused twice"
	sleep 0.5
	resumes
	check "$mpi" <<'END'
import json, sys
import recording

info = recording.info("job.atr")
gap = max(info["gaps"], key=lambda gap: gap["to_ns"] - gap["from_ns"])
print(sys.argv[1], info["gaps"])
assert gap["to_ns"] - gap["from_ns"] > 300000000, gap
assert not [s for s in recording.samples("job.atr") if gap["from_ns"] < s["time_ns"] < gap["to_ns"]]
report = json.loads(recording.output_of("report", "--mpi", "--json", "job.atr"))
init, = [c for c in report["calls"] if c["call"] == "MPI_Init"]
assert init["calls"] == 2 and init["longest_ns"] < info["wall_ns"] - 500000000, (init, info["wall_ns"])
END
	# It records for a while only.
	begin mpirun.$mpi -n 2 ./paused.$mpi thread
	"$ADAPTRACE" ctl job.atr resume --for 0.1 || fail "not resumed"
	wait $recorder || fail "record ended with $?"
	check <<'END'
import recording

info = recording.info("job.atr")
assert len({gap["from_ns"] for gap in info["gaps"]}) == 2, info["gaps"]
END
	! command -v mpif90.$mpi >/dev/null || {
		mpif90.$mpi -o fortran.$mpi paused.f90 2>/dev/null || fail "cannot compile paused.f90 for $mpi"
		begin mpirun.$mpi -n 2 ./fortran.$mpi
		resumes
	}
done
# Nobody is left asleep by a recorder that was killed.
begin mpirun.$mpi -n 2 ./paused.$mpi
kill -KILL $recorder
wait $recorder 2>/dev/null
await test -e on.0.2
await test -e on.1.2
"$ADAPTRACE" recover job.atr 2>job.err || fail "recover: $(cat job.err)"
# One recorder a rank.
rm -f on.* job.*.atr
mpirun.$mpi -n 2 "$ADAPTRACE" record -q -F 200 -g none --mpi --pause-at mpi-init -o job.%r.atr -- ./paused.$mpi 2>job.err &
launcher=$!
background="$background $launcher"
await paused job.0.atr
await paused job.1.atr
"$ADAPTRACE" ctl job.0.atr resume || fail "rank 0 not resumed"
await test -e on.0.2
[ ! -e on.1.2 ] || fail "rank 1 runs on"
"$ADAPTRACE" ctl job.1.atr resume || fail "rank 1 not resumed"
wait $launcher || fail "the job ended with $?: $(cat job.err)"
pass
