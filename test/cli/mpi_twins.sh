#!/bin/sh
# Communicators that look the same are two, with the messages of each; the two sides of one between
# groups are one; and types may be larger than an int says.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

for mpi in $mpis; do
	compile $mpi twins
	port=
	timeout 20 mpirun.$mpi -n 2 ./twins.$mpi port >/dev/null 2>&1 && port=port
	echo "$mpi $port"
	options='--events-wait 5000'
	# shellcheck disable=SC2086
	recorded_job $mpi 2 ./twins.$mpi $port
	"$ADAPTRACE" dump --json job.atr >dump || fail dump
	pairs=$(cat job.out)
	check $pairs $port <<'E'
import json, sys
pairs, port = int(sys.argv[1]), len(sys.argv) > 2
calls = sorted((c for c in map(json.loads, open('dump')) if 'call' in c), key=lambda c: c['end_ns'])
def told(rank, *kinds):
    return [p for c in calls if c['rank'] == rank for p in c['parts'] if p['kind'] in kinds]
made = [p['communicator_number'] for p in told(0, 'communicator-created')]
assert len(set(made)) == len(made) == 2 * pairs + port, made
def messages(rank, *kinds):
    return [(p['communicator_number'], p['bytes']) for p in told(rank, *kinds) if p['tag'] == 5]
sent, received = messages(0, 'send', 'send-posted'), messages(1, 'receive')
assert sorted(sent[:2]) == sorted(received[:2]) and len(dict(sent)) == len(sent), (sent, received)
assert [b for _, b in sent][:2 * pairs] == pairs * [4, 8], sent
assert [b for _, b in received][:2 * pairs] == pairs * [8, 4], received
for rank in 0, 1:
    assert [p['bytes'] for p in told(rank, 'collective')] == [1 << 32], told(rank, 'collective')
E
	command -v otf2-print >/dev/null || continue
	rm -rf job-otf2
	"$ADAPTRACE" convert --otf2 -o job-otf2 job.atr 2>said || { grep -q 'built without' said && continue; fail "$(cat said)"; }
	otf2-print -Werror job-otf2/traces.otf2 >log 2>&1 || fail "otf2-print: $(cat log)"
	check $pairs $port <<'E'
import re, sys
pairs, port = int(sys.argv[1]), len(sys.argv) > 2
sent, received = [], []
for line in open('log'):
    m = re.match(r'MPI_(\w+) .*er: \d+ .*Communicator: .*<(\d+)>.* Tag: 5, Length: (\d+)', line)
    if m:
        (received if 'RECV' in m[1] else sent).append((int(m[2]), int(m[3])))
assert sorted(sent) == sorted(received) and len(sent) == 2 * pairs + port, (sent, received)
E
done
pass
