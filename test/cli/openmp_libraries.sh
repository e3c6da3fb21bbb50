#!/bin/sh
# Two OpenMP libraries that a program loads by dlopen(), each for its own extension: regions of one are
# in the other's. And a Fortran program.
. "$(dirname "$0")/scenario"
need_sampling

export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
runtime=$(gcc -print-file-name=libgomp.so.1)
[ -e "$runtime" ] || skip "no libgomp"
for n in 1 2; do
	python3 - "$runtime" libgom$n.so.1 <<'E' || fail "no second library"
import sys
data = open(sys.argv[1], 'rb').read()
open(sys.argv[2], 'wb').write(data.replace(b'libgomp.so.1\0', sys.argv[2].encode() + b'\0'))
E
	gcc -O2 -g -fPIC -fopenmp -c -o library.o "$here/../openmp/library.c" &&
		gcc -shared -nostdlib -Wl,-rpath,"$work" -o lib$n.so library.o ./libgom$n.so.1 -lc || fail "lib$n"
done
gcc -O2 -g -o loads_two "$here/../openmp/loads_two.c" -ldl || fail "loads_two"
[ "$(timeout 60 ./loads_two ./lib1.so ./lib2.so 20)" = 120 ] || fail "alone"
[ "$(recorded -m 4M --openmp -F 100 timeout 60 ./loads_two ./lib1.so ./lib2.so 20)" = 120 ] || fail "recorded"
"$ADAPTRACE" report --openmp --json >report || fail "report"
check <<'E'
import json
regions = json.load(open('report'))['regions']
assert sorted(r['count'] for r in regions) == [20, 40], regions
assert all(r['function'].startswith('run_region') and r['threads'] == 2 for r in regions), regions
E
# Their regions are one loop, of which some iterations are stored: each region is counted.
[ "$(recorded -m 4M --openmp --scale-trace -F 100 timeout 60 ./loads_two ./lib1.so ./lib2.so 600)" = 3600 ] ||
	fail "recorded with --scale-trace"
"$ADAPTRACE" report --openmp --json >report || fail "report"
"$ADAPTRACE" info --json >info || fail "info"
check <<'E'
import json
regions, info = json.load(open('report'))['regions'], json.load(open('info'))
calls, = info['calls']['kinds']
print(calls, info['iterations'])
assert sorted(r['count'] for r in regions) == [600, 1200], regions
assert calls['stored'] < calls['seen'] / 2 and calls['seen'] >= 1800, calls
assert abs(info['iterations']['seen'] - 600) <= 6, info['iterations']
E
# Each has its library in the whole program, and nobody records.
[ "$(LD_PRELOAD=$(dirname "$ADAPTRACE")/libadaptrace-mpi.so timeout 60 ./loads_two ./lib1.so ./lib2.so 20)" = 120 ] ||
	fail "preloaded alone"

# All that OpenMP has runs as it does alone. Tasks that a thread executes while it waits are work.
tasks() { # COMPILER
	"$1" -O1 -g -fopenmp -o tasks "$here/../openmp/tasks.c" || fail "tasks.c with $1"
	export OMP_CANCELLATION=true OMP_MAX_ACTIVE_LEVELS=2
	alone=$(timeout 60 ./tasks 10) || fail "tasks of $1 alone"
	for what in regions threads; do
		[ "$(recorded -m 4M --openmp=$what -g none -F 100 timeout 60 ./tasks 10 2>said)" = "$alone" ] ||
			fail "tasks of $1, $what"
		! grep -q 'were lost' said || fail "$1, $what: $(cat said)"
	done
	OMP_NUM_THREADS=1 recorded -m 4M --openmp -g none -F 100 ./tasks 5 10 >/dev/null
	"$ADAPTRACE" report --openmp --json >report || fail "report of tasks"
	check <<'E'
import json
for r in json.load(open('report'))['regions']:
    assert r['count'] == 5 and r['work_ns'] >= 100e6, r
    # 100 ms of tasks are work: no wait has them.
    assert r['work_ns'] + r['barrier_wait_ns'] + r['idle_ns'] <= r['time_ns'] + 100, r
E
}
tasks gcc
command -v clang >/dev/null && echo 'int main(void) { return 0; }' | clang -fopenmp -x c - -o none 2>/dev/null &&
	tasks clang

command -v gfortran >/dev/null || skip "no gfortran: the rest passed"
gfortran -O2 -g -fopenmp -o fortran "$here/../openmp/regions.f90" || fail "Fortran"
[ "$(recorded -m 4M --openmp -F 100 ./fortran)" = 60 ] || fail "Fortran, recorded"
"$ADAPTRACE" report --openmp --json >report || fail "report of Fortran"
check <<'E'
import json
regions = json.load(open('report'))['regions']
assert sorted(r['line'] for r in regions) == [11, 16], regions
assert all(r['count'] == 30 and r['file'].endswith('regions.f90') for r in regions), regions
E
pass
