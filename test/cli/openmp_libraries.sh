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
# Each has its library in the whole program, and nobody records.
[ "$(LD_PRELOAD=$(dirname "$ADAPTRACE")/libadaptrace-mpi.so timeout 60 ./loads_two ./lib1.so ./lib2.so 20)" = 120 ] ||
	fail "preloaded alone"

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
