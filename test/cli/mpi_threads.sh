#!/bin/sh
# 64 threads write events at once, and call MPI where it permits that: every call is there once, in
# its thread, and every message begins and ends once, in the step that it belongs to, whatever
# handles the threads share: Open MPI's UCX gives one that looks like any other to all sends that
# are complete at once.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

# MPI THREADS
try_threads() {
	recorded_job $1 1 ./threads.$1 $2 51
	"$ADAPTRACE" dump --json job.atr >dump || fail dump
	check $2 "$(cat job.out)" <<'E'
import collections, json, sys
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
nr, multiple = int(sys.argv[1]), 'multiple 1' in sys.argv[2]
print(sys.argv[1:], len(calls))
by_thread = collections.defaultdict(list)
for c in sorted(calls, key=lambda c: c['end_ns']):
    by_thread[c['tid']].append(c)
workers = [mine for mine in by_thread.values() if any(c['call'] == 'step' for c in mine)]
assert len(workers) == nr, len(workers)

NAMES = [['MPI_Irecv', 'MPI_Issend', 'MPI_Wait', 'MPI_Wait'],
         ['MPI_Issend', 'MPI_Irecv', 'MPI_Waitall'],
         ['MPI_Irecv'] * 2 + ['MPI_Isend'] * 2 + ['MPI_Wait'] * 4]
kinds = collections.Counter()
requests = set()

# Its tags. A send is told when it is posted: complete, or to be done once.
def check_step(kind, mine):
    assert [c['call'] for c in mine] == NAMES[kind], (kind, mine)
    assert all(c['depth'] == 1 for c in mine), mine
    parts = [p for c in mine for p in c['parts']]
    count = collections.Counter(p['kind'] for p in parts)
    kinds.update(count)
    messages = 2 if kind == 2 else 1
    assert count['receive-posted'] == count['receive-done'] == messages, parts
    assert count['send'] + count['send-posted'] == messages, parts
    assert sum(count.values()) == 3 * messages + count['send-done'], parts
    assert kind != 1 or count['send-posted'], ('complete before it was received', parts)
    under_way = {}
    for p in parts:
        what, _, state = p['kind'].partition('-')
        if state == 'posted':
            assert p['request'] not in requests, parts
            requests.add(p['request'])
            under_way[p['request']] = what
        elif state == 'done':
            assert under_way.pop(p['request'], None) == what, parts
    assert not under_way, parts
    return {p['tag'] for p in parts if p['kind'] in ('send', 'send-posted', 'receive-done')}

tags = set()
for mine in workers:
    steps, step, own = 0, [], set()
    for c in mine:
        if c['call'] != 'step':
            step.append(c)
            continue
        assert c['depth'] == 0, c
        if multiple:
            own |= check_step(steps % 3, step)
        steps, step = steps + 1, []
    assert steps == 51 and not step, (steps, step)
    assert not multiple or len(own) == 1 and not own & tags, (own, tags)
    tags |= own
print(dict(kinds))
E
}

# MPI THREADS STEPS: each thread finds its own iterations, three steps each, and drops some.
try_scaled() {
	options='--scale-trace --events-wait 10000'
	recorded_job $1 1 ./threads.$1 $2 $3
	options=
	"$ADAPTRACE" info --json job.atr >info.json || fail "info"
	"$ADAPTRACE" report --mpi --json job.atr >mpi.json || fail "report --mpi"
	"$ADAPTRACE" report --iterations --json job.atr >iterations.json || fail "report --iterations"
	check $2 $3 "$(cat job.out)" <<'E'
import json, sys
threads, steps, multiple = int(sys.argv[1]), int(sys.argv[2]), 'multiple 1' in sys.argv[3]
kind, = json.load(open('info.json'))['calls']['kinds']
phases = json.load(open('iterations.json'))['phases']
calls = sum(c['calls'] for c in json.load(open('mpi.json'))['calls'])
print(kind, calls, [p['iterations'] for p in phases])
assert kind['seen'] == calls and not kind['lost'], (kind, calls)
assert not multiple or kind['stored'] < kind['seen'] / 2, kind
found = [p['iterations'] for p in phases if p['period_calls'] == 18]
assert not multiple or len(found) == threads and min(found) >= steps / 3 - 4, found
E
}

for mpi in $mpis; do
	compile $mpi threads -pthread
	try_threads $mpi 64
done
try_scaled $mpi 8 150
# UCX would rather have other networks than those within a single machine.
export OMPI_MCA_pml=ucx OMPI_MCA_opal_common_ucx_tls=any OMPI_MCA_opal_common_ucx_devices=any
case $mpis in
*openmpi*) mpirun.openmpi -n 1 ./threads.openmpi 2 3 >/dev/null 2>&1 && try_threads openmpi 32 ;;
esac
pass
