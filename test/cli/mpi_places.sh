#!/bin/sh
# Recording does not mind other tools that stand before MPI, calls inside calls, MPI that was opened
# where nobody else sees it, programs without MPI, or what else is preloaded; and disturbs none.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

cat >counts.py <<'E'
import collections, json

def counts(path='dump'):
    return collections.Counter(c['call'] for c in map(json.loads, open(path)) if 'call' in c)
E
for mpi in $mpis; do
	echo "$mpi: another tool, calls inside calls"
	mpicc.$mpi -w -shared -fPIC -o libtool.so "$sources/tool.c" || fail tool
	compile $mpi tooled -L. -ltool -Wl,-rpath,"$work"
	recorded_job $mpi 2 ./tooled.$mpi
	# It is called by the program, and by the operation of the reduction: the latter alone we skip.
	grep -q 'tool: rank 0: [1-9][0-9]* sends, 1 barriers' job.err || fail "the tool: $(cat job.err)"
	"$ADAPTRACE" dump --json job.atr >dump || fail dump
	check <<'E'
from counts import *
assert counts() == dict(MPI_Init=2, MPI_Send=1, MPI_Recv=1, MPI_Barrier=2, MPI_Allreduce=2,
                        MPI_Finalize=2), counts()
E
	echo "$mpi: call paths without the library that records"
	compile $mpi late
	options="-g dwarf -F 1000" recorded_job $mpi 2 ./late.$mpi
	"$ADAPTRACE" report --mpi job.atr >report || fail report
	grep -q ' MPI_Recv < wait_late < main < ' report || fail "no call path: $(cat report)"
	echo "$mpi: processes that were spawned are no ranks of the job, and their world is not its"
	compile $mpi spawn
	if timeout 20 mpirun.$mpi -n 1 ./spawn.$mpi >/dev/null 2>&1; then
		recorded_job $mpi 1 ./spawn.$mpi
		"$ADAPTRACE" dump --json job.atr >dump && "$ADAPTRACE" info --json job.atr >info || fail dump
		"$ADAPTRACE" report --mpi --json job.atr >report || fail report
		check <<'E'
from counts import *
ranks = [p['rank'] for p in json.load(open('info'))['processes']]
assert sorted(r is None or r < 0 for r in ranks) == [False, True, True], ranks
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
mine = collections.Counter(c['call'] for c in calls if c['rank'] == 0)
assert mine == dict(MPI_Init=1, MPI_Comm_spawn=1, MPI_Send=1, MPI_Intercomm_merge=1, MPI_Barrier=1,
                    MPI_Comm_free=1, MPI_Comm_disconnect=1, MPI_Finalize=1), mine
assert counts()['MPI_Init'] == 3 and counts()['MPI_Recv'] == 1
# To whom the message went is not known, and it is in no cell of the matrix, which is said.
report = json.load(open('report'))
assert report['matrix'] == [] and report['messages_elsewhere'] == 1, report
assert not any(p.get('communicator') == 'MPI_COMM_WORLD' for c in calls for p in c['parts'])
E
	fi
	if mpicc.$mpi -o sessions.$mpi "$sources/sessions.c" 2>/dev/null &&
		timeout 20 mpirun.$mpi -n 2 ./sessions.$mpi >/dev/null 2>&1; then
		echo "$mpi: sessions"
		recorded_job $mpi 2 ./sessions.$mpi
		"$ADAPTRACE" dump --json job.atr >dump && "$ADAPTRACE" info --json job.atr >info || fail dump
		"$ADAPTRACE" report --mpi --json job.atr >report || fail report
		check <<'E'
from counts import *
assert [p['rank'] for p in json.load(open('info'))['processes']] == [0, 1]
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
for rank in 0, 1:
    told = collections.Counter((p['kind'], p.get('peer_rank')) for c in calls if c['rank'] == rank
                               for p in c['parts'])
    assert told == {('communicator-created', None): 1, ('send', 1 - rank): 1, ('collective', None): 1,
                    ('receive', 1 - rank): 1, ('communicator-freed', None): 1}, told
matrix = {(m['from'], m['to']): m['messages'] for m in json.load(open('report'))['matrix']}
assert matrix == {(0, 1): 1, (1, 0): 1}, matrix
E
		if timeout 20 mpirun.$mpi -n 2 ./sessions.$mpi world >/dev/null 2>&1; then
			echo "$mpi: a session that outlives the world"
			recorded_job $mpi 2 ./sessions.$mpi world
			"$ADAPTRACE" report --mpi --json job.atr >report || fail report
			check <<'E'
import json
matrix = {(m['from'], m['to']): m['messages'] for m in json.load(open('report'))['matrix']}
assert matrix == {(0, 1): 2, (1, 0): 2}, matrix
E
		fi
	fi
	echo "$mpi: opened locally"
	compile $mpi plugin -shared -fPIC
	gcc -w -o loader "$sources/loader.c" -ldl || fail loader
	recorded_job $mpi 1 ./loader ./plugin.$mpi
	"$ADAPTRACE" dump --json job.atr >dump || fail dump
	check <<'E'
from counts import *
assert counts() == dict(MPI_Init=1, MPI_Sendrecv_replace=1, MPI_Allreduce=1, MPI_Finalize=1), counts()
E
	library=$(ldd plugin.$mpi | awk '/libmpi/ { print $3; exit }')
	recorded_job $mpi 1 ./loader "-$library"
done

echo "without MPI"
record --mpi sh -c 'echo "$LD_PRELOAD"; true | cat; exit 3' >out
[ $? = 3 ] || fail "the status of a shell"
grep -q '/libadaptrace-mpi.so$' out || fail "preloaded: $(cat out)"
gcc -shared -fPIC -x c -o libother.so - <<'E' || fail other
int other(void) { return 1; }
E
LD_PRELOAD=$work/libother.so record --mpi sh -c 'echo "$LD_PRELOAD"; grep -c libother /proc/self/maps' >out ||
	fail "with another library"
grep -q "libadaptrace-mpi.so:$work/libother.so$" out || fail "preloaded: $(cat out)"
tail -1 out | grep -qx 0 && fail "the other library was not loaded"
"$ADAPTRACE" record -q -o none.atr --mpi true 2>said || fail "true"
grep -q 'recorded no call.*a network of its own' said || fail "said: $(cat said)"
if unshare -rn true 2>/dev/null; then
	echo "some in another network, some without memory"
	gcc -w -I"$here/../../include" -x c -o mark - <<'E' || fail mark
#include <adaptrace.h>
int main(void)
{
	ADAPTRACE_MARK("here");
	return 0;
}
E
	"$ADAPTRACE" record -q -o some.atr --mpi \
		sh -c './mark; unshare -rn ./mark; (ulimit -v 10000; ./mark)' 2>said || fail "$(cat said)"
	one_complaint said 'the calls of 2 processes are missing' || fail "said: $(cat said)"
	[ "$("$ADAPTRACE" dump some.atr | grep -c here)" = 1 ] || fail "marks"
fi
"$ADAPTRACE" record --mpi -p $$ 2>said && fail "attached with --mpi"
one_complaint said '--mpi' || fail "said: $(cat said)"
pass
