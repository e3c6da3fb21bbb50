#!/bin/sh
# scale_kill.sh [MOMENTS]: with --scale-trace a rank, or the recorder, is killed in the middle of an
# iteration. Of a killed rank each call that returned is told, stored or not; what a killed recorder
# had taken in, as a snapshot just before has it, is recovered, and its iterations can be looked at.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

one_mpi
moments=${1:-1}
compile $mpi iterate
# Starts a job and waits until both ranks are in their loop; their process numbers are in $ranks.
start() {
	: >out
	"$ADAPTRACE" record -q -F 50 -g none --mpi --max-overhead 0 -m 16M --events-wait 1000 \
		--scale-trace -o killed.atr -- mpirun.$mpi -n 2 "$PWD/iterate.$mpi" adi 20 adi 1000000 \
		>out 2>err &
	recorder=$!
	tries=0
	while [ "$(grep -c steps out)" -lt 2 ]; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || fail "no ranks: $(cat err)"
		sleep 0.05
	done
	ranks=$(pgrep -f "^$PWD/iterate.$mpi adi")
	sleep "0.$(awk "BEGIN {srand($1); printf \"%03d\", int(600 * rand())}")"
}
cat >complete.py <<'E'
import json, subprocess, sys
def output(*arguments):
    return subprocess.check_output([sys.argv[1], *arguments])
def counts(trace):
    kind, = json.loads(output('info', '--json', trace))['calls']['kinds']
    told = json.loads(output('report', '--mpi', '--json', trace))['calls']
    phases = json.loads(output('report', '--iterations', '--json', trace))['phases']
    output('report', trace), output('dump', trace)
    return kind, phases, sum(call['calls'] for call in told)
kind, phases, sums = counts('killed.atr')
print(sys.argv[2], sums, 'calls,', kind['seen'], 'seen,', kind['stored'], 'stored,',
      sum(p['iterations'] for p in phases), 'iterations')
assert kind['lost'] == 0 and sums > 100, (kind, sums)
# A call may be killed between its sums and its record. A killed recorder has taken in the calls of
# each thread up to another moment than its sums, and not those of iterations that had not ended.
if sys.argv[2] == 'rank':
    assert 0 <= sums - kind['seen'] <= 2, (kind, sums)
else:
    before, phases_before, sums_before = counts('before.atr')
    assert 100 < sums_before <= sums and before['seen'] <= kind['seen'], (before, kind, sums_before, sums)
    assert before['stored'] <= kind['stored'] or kind['dropped'] > before['dropped'], (before, kind)
    assert sum(p['iterations'] for p in phases_before) <= sum(p['iterations'] for p in phases), (phases_before, phases)
E
for moment in $(seq "$moments"); do
	start "$moment"
	kill -KILL "${ranks%%[!0-9]*}"
	wait $recorder && fail "a job of which a rank was killed ended well"
	python3 complete.py "$ADAPTRACE" rank || fail "after a rank was killed"
	rm killed.atr

	start "$moment"
	"$ADAPTRACE" ctl killed.atr snapshot before.atr 2>err || fail "snapshot: $(cat err)"
	kill -KILL $recorder
	wait $recorder
	# shellcheck disable=SC2086
	kill -KILL $ranks
	"$ADAPTRACE" recover killed.atr 2>err || fail "recover: $(cat err)"
	python3 complete.py "$ADAPTRACE" recorder || fail "after the recorder was killed"
	rm killed.atr before.atr
done
pass
