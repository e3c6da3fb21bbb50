#!/bin/sh
# Regions, markers and values of programs in C, C++ and Fortran, without MPI; and no trace of them in
# programs that are static, or compiled without.
. "$(dirname "$0")/scenario"
need_sampling

include=$here/../../include
source=$here/../regions/regions.c
build() { # NAME COMPILER...
	built=$1; shift
	"$@" -D_GNU_SOURCE -I"$include" -o "$built" "$source" -pthread 2>said || { cat said; fail "$built"; }
	[ -s said ] && { cat said; fail "warnings of $built"; }
	"./$built" || fail "$built alone"
	recorded -m 1M --mpi -F 100 -g none "./$built"
	"$ADAPTRACE" dump --json adaptrace.atr >dump || fail dump
}
cat >counts.py <<'E'
import collections, json, sys
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
count = collections.Counter(c['call'] for c in calls)
values = sorted(p['value'] for c in calls for p in c['parts'])
E
cat >expected.py <<'E'
from counts import *
assert not any(p['kind'] != 'value' for c in calls for p in c['parts'])
assert values == sorted([n + .5 for n in range(10)] * 2 + [.5]), values
expected = {'outer': 21, 'inner 0': 11, 'inner 1': 10, 'left open': 21, 'number': 21, 'scoped': 1,
            'within': 1, 'inside': 1, 'recursion': 64, 'never ended': 1, 'child': 1, 'to the end': 1,
            'destroyed': 1}
if sys.argv[1] == 'c++':
    expected.update(unwound=1, caught=1)
assert count == expected, count
unfinished = {c['call'] for c in calls if not c['finished']}
assert unfinished == {'never ended', 'to the end'}, unfinished
depth = {c['call']: c['depth'] for c in calls if c['call'] != 'recursion'}
assert depth['outer'] == 0 and depth['inner 0'] == 1 and depth['number'] == 2, depth
assert sorted(c['depth'] for c in calls if c['call'] == 'recursion') == list(range(64))
assert len({c['tid'] for c in calls}) == 3 and len({c['pid'] for c in calls}) == 2
for c in calls:
    inner = [d for d in calls if d['tid'] == c['tid'] and d['depth'] == c['depth'] + 1 and
             c['time_ns'] <= d['time_ns'] and d['end_ns'] <= c['end_ns']]
    assert c['call'] != 'outer' or len(inner) == 2, inner
E
printf '#include <adaptrace.h>\nvoid solve(void)\n{\n\tADAPTRACE_SCOPE("solve");\n}\n' |
	gcc -std=c89 -Wall -Wextra -Wconversion -Werror -I"$include" -fsyntax-only -x c - || fail "C of 1989"
for std in 98 11 20; do
	command -v g++ >/dev/null || break
	echo '#include <adaptrace.h>' |
		g++ -std=c++$std -Wall -Wextra -Wconversion -pedantic -Werror -I"$include" -fsyntax-only -x c++ - ||
		fail "C++ of $std"
done
build c99 gcc -std=c99 -Wall -Wextra -pedantic -O2
check c <expected.py
"$ADAPTRACE" report --mpi >report || fail "report"
grep -q ' never ended' report || fail "no regions: $(cat report)"
grep -q '17 calls were lost .* more than 64 inside each other' report || fail "no losses: $(cat report)"
grep -Eq '^ +21 +4.78571 +0.5 +9.5 +[0-9.]+  number$' report || fail "no values: $(cat report)"
grep -q 'MPI was called from' report && fail "nothing was called from anywhere"
build fixed gcc -std=gnu11 -Wall -Wextra -O0 -fno-pie -no-pie
check c <expected.py
if command -v musl-gcc >/dev/null; then # another C library than the recorder's
	build musl musl-gcc -std=gnu11 -Wall -Wextra -O2
	check c <expected.py
fi
if command -v g++ >/dev/null; then
	build c++ g++ -std=c++11 -Wall -Wextra -O2 -x c++
	check c++ <expected.py
fi
# More names than there is room for are lost, and counted. What is no number is none in JSON.
gcc -std=gnu11 -Wall -Wextra -I"$include" -o names "$here/../regions/names.c" || fail names
recorded -m 1M --mpi -F 100 -g none ./names 3000
"$ADAPTRACE" dump --json adaptrace.atr >dump && "$ADAPTRACE" info --json adaptrace.atr >info || fail dump
check <<'E'
import json
def strictly(word):
    raise ValueError(word)
calls = [c for c in (json.loads(line, parse_constant=strictly) for line in open('dump')) if 'call' in c]
values = [p['value'] for c in calls for p in c['parts']]
assert values == [None, None, None, 1.5], values
told = sum(c['call'].startswith('name ') for c in calls)
assert told == 2046 and sum(c['call'] == 'mark' for c in calls) == 3001, told
lost = [k['lost'] for k in json.load(open('info'))['calls']['kinds']]
assert lost == [3000 - told + 1], lost
E
"$ADAPTRACE" report --mpi >report || fail report
grep -q '^warning: 955 calls were lost on the way' report || fail "no losses: $(cat report)"
# A process with which no memory can be shared is missing, and not one without calls.
if command -v prlimit >/dev/null; then
	mkfifo go
	start_recording -m 1M --mpi -F 100 -g none sh -c 'read line <go; ./fixed' 2>errors
	prlimit --pid "$recorder" --fsize=131072
	echo >go
	wait "$recorder"
	grep -q 'calls of . process.* are missing: .*File too large' errors || fail "$(cat errors)"
fi
# A program may clear its environment before its first call.
cat >bare.c <<'E'
#include <adaptrace.h>
#include <stdlib.h>

int main(void)
{
	clearenv();
	ADAPTRACE_MARK("alone");
	return 0;
}
E
gcc -D_GNU_SOURCE -I"$include" -o bare bare.c || fail bare
recorded -m 1M --mpi -F 100 -g none -o bare.atr ./bare
"$ADAPTRACE" dump --json bare.atr | grep -q '"call":"alone"' || fail "a cleared environment"
# Of a program that executes another one, all calls are its own.
cat >executes.c <<'E'
#include <adaptrace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argc;
	for (int i = 0; i < 50; i++) {
		ADAPTRACE_BEGIN("short");
		usleep(100);
		ADAPTRACE_END("short");
	}
	ADAPTRACE_BEGIN("never ended");
	execvp(argv[1], argv + 1);
	return 1;
}
E
gcc -D_GNU_SOURCE -I"$include" -o executes executes.c || fail executes
recorded -m 1M --mpi -F 100 -g none ./executes sleep 0.3
"$ADAPTRACE" dump --json adaptrace.atr >dump || fail dump
check <<'E'
from counts import *
assert count == {'short': 50, 'never ended': 1}, count
assert {c['comm'] for c in calls} == {'executes'}, {c['comm'] for c in calls}
E
for off in -static -DADAPTRACE_OFF; do
	build off gcc -std=c99 -Wall -Wextra -pedantic $off
	check <<'E'
from counts import *
assert not calls
E
done
if command -v gfortran >/dev/null; then
	gfortran -Wall -J. -o fortran "$include/adaptrace.f90" "$here/../regions/regions.f90" ||
		fail gfortran
	./fortran || fail "fortran alone"
	recorded -m 1M --mpi -F 100 -g none ./fortran
	"$ADAPTRACE" dump --json adaptrace.atr >dump || fail dump
	check <<'E'
from counts import *
assert count == {'outer': 10, 'inner': 10, 'number': 10, 'half': 10, 'done': 1}, count
assert values == sorted([float(i) for i in range(1, 11)] + [i / 2 for i in range(1, 11)]), values
E
fi
pass
