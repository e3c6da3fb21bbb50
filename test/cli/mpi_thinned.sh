#!/bin/sh
# Where calls cost more than --max-overhead allows, only some of them are timed: numbers, bytes and
# partners stay exact, times have errors, and calls of some moments are stored. Without a limit all
# calls are timed.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

n=300000
for mpi in $mpis; do
	compile $mpi policies
	for limit in 1 0; do
		options="-m 64M --max-overhead $limit --events-wait 2000"
		recorded_job $mpi 1 ./policies.$mpi $n
		"$ADAPTRACE" info --json job.atr >info || fail "info"
		"$ADAPTRACE" report --json --mpi job.atr >report || fail "report --json"
		"$ADAPTRACE" report --mpi job.atr >text || fail "report"
		"$ADAPTRACE" info job.atr >info.text || fail "info"
		[ $limit = 0 ] || grep -q ' ± error ' text || fail "no errors: $(cat text)"
		[ $limit = 0 ] || grep -q 'not timed and not stored' info.text || fail "$(cat info.text)"
		[ $limit = 1 ] || ! grep -q '± error   *mean' text || fail "errors: $(cat text)"
		check $n $limit $mpi <<'E2'
import json, sys
n, limit = int(sys.argv[1]), int(sys.argv[2])
info, report = json.load(open('info')), json.load(open('report'))
kind, = info['calls']['kinds']
sums = {c['call']: c for c in report['calls']}
print(sys.argv[3], limit, kind, info['cost'], sums)
assert {name: c['calls'] for name, c in sums.items()} == {
    'MPI_Init': 1, 'MPI_Finalize': 1, 'MPI_Irecv': n, 'MPI_Issend': n, 'MPI_Wait': 2 * n + n // 20,
    'MPI_Allreduce': n // 20, 'MPI_Ibarrier': n // 20, 'hundred': n // 100, 'ten': n // 10}
assert (sums['MPI_Issend']['sent'], sums['MPI_Issend']['bytes']) == (n, 4 * n)
assert (sums['MPI_Wait']['received'], sums['MPI_Wait']['bytes_in']) == (n, 4 * n)
assert report['matrix'] == [{'from': 0, 'to': 0, 'messages': n, 'bytes': 4 * n}]
nr_calls = sum(c['calls'] for c in sums.values())
rank, = report['ranks']
if limit:
    assert kind['untimed'] > n, kind
    assert kind['stored'] > 0 and kind['from_ns'] == kind['to_ns'], kind
    assert kind['seen'] + kind['untimed'] <= nr_calls
    # Many timed calls make an error small; rare calls are timed always.
    assert 0 <= sums['MPI_Issend']['time_error_ns'] <= sums['MPI_Issend']['time_ns']
    assert 'time_error_ns' in rank
    assert not any('time_error_ns' in sums[name] for name in ('MPI_Init', 'MPI_Finalize'))
    # All of them cost less than if all were timed.
    assert 0 < info['cost']['calls_ns'] < 75 * nr_calls, info['cost']
else:
    assert not kind['untimed'] and kind['seen'] == nr_calls, kind
    assert not any('time_error_ns' in c for c in report['calls'] + report['ranks'])
E2
	done
done
pass
