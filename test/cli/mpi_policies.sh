#!/bin/sh
# What is left of many calls when the buffer is full is what the policy says: nothing, and from when
# on; or all calls of the higher levels, and none of the lower.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

cat >policies.py <<'E'
import collections, json, sys
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
info = json.load(open('info'))
kind, = info['calls']['kinds']
count = collections.Counter(c['call'] for c in calls)
parts = collections.Counter(p['kind'] for c in calls for p in c['parts'])
n = int(sys.argv[1])
E
for mpi in $mpis; do
	compile $mpi policies
	for policy in all class depth duration time; do
		# With `all`, more than a ring holds: the program hears that no more is wanted.
		n=20000 kib=128
		[ $policy = all ] && n=100000
		# A moment must fit, however fast the machine is.
		[ $policy = time ] && n=100000 kib=512
		options="-m ${kib}K --events-wait 2000 --events-policy $policy --events-share 40%"
		recorded_job $mpi 1 ./policies.$mpi $n
		grep -q ' calls seen were kept: .*; a larger -m' job.err || fail "$policy: $(cat job.err)"
		"$ADAPTRACE" dump --json job.atr >dump && "$ADAPTRACE" info --json job.atr >info ||
			fail "$policy"
		"$ADAPTRACE" report --json --mpi job.atr >report || fail "report --json"
		# Sums of calls of which some are missing say so, by rank as well as by call.
		"$ADAPTRACE" report --mpi job.atr >text || fail "report"
		[ "$(grep -c 'calls seen are stored; adaptrace info' text)" = 2 ] || fail "$(head -20 text)"
		grep -q '^(sums are of all calls; ' text || fail "$(head -20 text)"
		check $n $policy $mpi $kib <<'E'
from policies import *
policy, mpi, kib = sys.argv[2:]
print(mpi, policy, kind, dict(count))
assert kind['policy'] == policy and kind['share'] == int(0.4 * 1024 * int(kib))
assert not kind['lost'] and kind['stored'] == len(calls) and kind['seen'] == kind['stored'] + kind['dropped']
assert info['calls']['bytes'] <= 1024 * int(kib)
assert kind['from_ns'] == kind['to_ns']
# When the rank was up is known, whatever is stored.
process, = info['processes']
assert process['rank'] == 0 and process['finalized'], process
assert info['start_ns'] < process['start_ns'] < process['end_ns'], process
went = [r for r in info['reductions'] if r['cause'] == 'share' and r['event'] == 'calls']
assert went and 0 < went[0]['time_ns'] - info['start_ns'] < info['wall_ns']
# Members of a report are there, whatever there is to tell.
report = json.load(open('report'))
assert {'contexts', 'callers', 'calls', 'matrix'} <= report.keys(), report.keys()
assert bool(report['callers']['calls']) == any(name.startswith('MPI_') for name in count)
# Sums have all calls, whatever is stored.
sums = {c['call']: c for c in report['calls']}
assert {name: c['calls'] for name, c in sums.items()} == {
    'MPI_Init': 1, 'MPI_Finalize': 1, 'MPI_Irecv': n, 'MPI_Issend': n, 'MPI_Wait': 2 * n + n // 20,
    'MPI_Allreduce': n // 20, 'MPI_Ibarrier': n // 20, 'hundred': n // 100, 'ten': n // 10}, sums
assert (sums['MPI_Issend']['sent'], sums['MPI_Issend']['bytes']) == (n, 4 * n), sums
assert (sums['MPI_Wait']['received'], sums['MPI_Wait']['bytes_in']) == (n, 4 * n), sums
assert sums['MPI_Allreduce']['bytes'] == 4 * (n // 20), sums
assert report['matrix'] == [{'from': 0, 'to': 0, 'messages': n, 'bytes': 4 * n}], report['matrix']
assert sum(c['calls'] for c in sums.values()) - n // 100 - n // 10 == report['ranks'][0]['calls']
assert sums['hundred']['time_ns'] >= sums['ten']['time_ns'] > sums['MPI_Issend']['time_ns'], sums
assert all(c['longest_ns'] <= c['time_ns'] <= info['wall_ns'] for c in sums.values()), sums
if policy == 'all':
    assert not calls and kind['seen'] < 4 * n
elif policy == 'class':
    # Point to point went; a collective belongs to the call that began it.
    assert count == {'MPI_Init': 1, 'MPI_Finalize': 1, 'MPI_Allreduce': n // 20,
                     'MPI_Ibarrier': n // 20, 'hundred': n // 100, 'ten': n // 10}, count
    assert parts == {'collective': n // 10}, parts
elif policy == 'depth':
    assert count == {'MPI_Init': 1, 'MPI_Finalize': 1, 'hundred': n // 100, 'ten': n // 10}, count
    assert kind['seen'] >= 4 * n
elif policy == 'time':
    # Of every other moment all are there, throughout the run.
    floor = max(r['floor'] for r in info['reductions'] if r['event'] == 'calls')

    def level(call):
        first, last = call['time_ns'] >> 24, call['end_ns'] >> 24
        return (first - 1 ^ last).bit_length() - 1

    assert calls and all(level(c) >= floor for c in calls)
    ends = sorted(c['end_ns'] for c in calls)
    # At either end, one in 2^floor moments is there.
    assert ends[-1] - ends[0] > process['end_ns'] - process['start_ns'] - 2 * (1 << 24 + floor), (floor, process)
    # Requests are right after moments that were left out.
    posted = {p['request'] for c in calls for p in c['parts'] if p['kind'] == 'receive-posted'}
    done = {p['request'] for c in calls for p in c['parts'] if p['kind'] == 'receive-done'}
    assert len(posted & done) > len(done) * .9 > 0, (len(posted), len(done), len(posted & done))
else:
    floor = max(r['floor'] for r in info['reductions'] if r['event'] == 'calls')
    assert all(c['end_ns'] - c['time_ns'] >= 2 ** floor - 8 for c in calls)
    assert count['hundred'] == n // 100 and count['MPI_Init'] == 1
    assert kind['seen'] >= 4 * n
    # No half of a message: each is of one call.
    assert set(parts) <= {'send', 'receive', 'collective'}, parts
E
	done
done
pass
