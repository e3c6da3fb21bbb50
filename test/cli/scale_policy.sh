#!/bin/sh
# record --events-policy iterations: two ranks lose half of their iterations again and again, as a whole
# and the same ones, over the whole run, and slow ones last. Merged, messages of those that are left have
# their partners. Where there is no loop, calls go by time.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi
need_otf2

one_mpi
compile $mpi iterate
# NAME KIB JOB...: a recorder for each rank, merged as NAME.atr.
merged() {
	name=$1 kib=$2; shift 2
	mpirun.$mpi -n 2 "$ADAPTRACE" record -q -F 100 -g none --mpi --max-overhead 0 -m "${kib}K" \
		--events-wait 10000 --events-policy iterations -o "$name.%r.atr" -- "$@" >$name.out 2>$name.err ||
		fail "recording of $*: $(cat $name.err)"
	"$ADAPTRACE" merge -o $name.atr $name.?.atr 2>err || fail "merge: $(cat err)"
	for trace in $name.0 $name.1 $name; do
		"$ADAPTRACE" info --json $trace.atr >$trace.info || fail "info"
		"$ADAPTRACE" report --iterations --json $trace.atr >$trace.iterations || fail "report --iterations"
	done
	"$ADAPTRACE" report --mpi --json $name.atr >$name.mpi || fail "report --mpi"
	"$ADAPTRACE" dump --json $name.atr >$name.dump || fail "dump"
}
cat >policy.py <<'E'
import json, sys
from collections import defaultdict
name = sys.argv[1]
infos = [json.load(open(f'{name}.{rank}.info')) for rank in (0, 1)]
kinds = [info['calls']['kinds'][0] for info in infos]
floors = [max((r['floor'] for r in info['reductions'] if r['event'] == 'calls'), default=0) for info in infos]
calls = [c for c in map(json.loads, open(name + '.dump')) if 'call' in c]
for kind in kinds:
    assert kind['policy'] == 'iterations' and not kind['lost'] and kind['stored'] < kind['seen'], kind
    assert kind['from_ns'] == kind['to_ns'], kind
truth = [json.loads(line) for line in open(name + '.out') if line.startswith('{')]
assert min(floors) > 0, floors
sums = {c['call']: c for c in json.load(open(name + '.mpi'))['calls']}
for call in {n for t in truth for n in t['calls']} - {'MPI_Barrier'}:
    told = sum(t['calls'].get(call, {'calls': 0})['calls'] for t in truth)
    assert sums[call]['calls'] == told, (call, sums[call], told)
E

merged steps 128 ./iterate.$mpi slow 2500 solver 250
"$ADAPTRACE" convert --chrome -o steps.json steps.atr 2>err || fail "chrome: $(cat err)"
"$ADAPTRACE" convert --otf2 steps.atr -o steps 2>err || fail "convert: $(cat err)"
! grep -q 'wrong ones' err || fail "pairs are sure: $(cat err)"
timeout 20 otf2-print -Werror --silent steps/traces.otf2 >log 2>&1 || fail "otf2-print $(cat log)"
check steps <<'E'
from policy import *
import otf2
from otf2.events import *
assert min(floors) >= 2, floors
found = json.load(open('steps.info'))['iterations']
assert found['seen'] == sum(i['iterations']['seen'] for i in infos), found
assert found['stored'] == sum(i['iterations']['stored'] for i in infos), found

stored, slow = defaultdict(set), 0
for event in json.load(open('steps.json'))['traceEvents']:
    if event.get('cat') == 'iterations' and event['ph'] == 'b' and event['name'] == 'iteration':
        stored[event['pid']].add(tuple(event['args'][of] for of in ('level', 'phase', 'ordinal')))
        slow += event['args']['slow']
assert sum(map(len, stored.values())) == found['stored'], found
# Those of adi; solver is another loop.
first = min(step[:2] for steps in stored.values() for step in steps)
one, other = ({step[2] for step in steps if step[:2] == first} for steps in stored.values())
print(floors, len(one), len(other), len(one ^ other), slow, found)
assert abs(len(one) - 2500 / 2 ** floors[0]) < 200, found
# Ranks with the same floor have the same ones, but for slow ones.
if floors[0] == floors[1]:
    assert len(one ^ other) <= found['slow'] + 4, (len(one ^ other), found)
assert len(one & other) >= 2500 / 2 ** max(floors) * 0.8, (len(one & other), floors)
for tenth in range(10):
    assert any(250 * tenth < n <= 250 * tenth + 250 for n in one & other), tenth
assert slow >= found['slow'] / 2, (slow, found)

# An iteration is there as a whole, or not at all; the first ones, of before the loop was found, may be parts.
def rank_of(location):
    return int(location.group.name.split()[1].rstrip(':'))
inside, per_step, ends = {}, defaultdict(list), defaultdict(list)
with otf2.reader.open('steps/traces.otf2') as trace:
    for location, event in trace.events:
        if isinstance(event, CallingContextEnter):
            region = event.calling_context.region.name
            if region.startswith('iteration'):
                inside[location] = [region == 'iteration', 0]
            elif region.startswith('MPI_') and location in inside:
                inside[location][1] += 1
        elif isinstance(event, CallingContextLeave):
            if event.calling_context.region.name.startswith('iteration'):
                per_step[location].append(inside.pop(location))
        elif isinstance(event, (MpiSend, MpiIsend)):
            ends[rank_of(location), event.receiver, event.msg_tag, True].append((event.time, event.msg_length))
        elif isinstance(event, (MpiRecv, MpiIrecv)):
            ends[event.sender, rank_of(location), event.msg_tag, False].append((event.time, event.msg_length))
assert sum(map(len, per_step.values())) == found['seen'], (per_step.keys(), found)
for steps in per_step.values():
    adi = steps[:2490]
    assert all(n == 37 for is_stored, n in adi if is_stored), sorted({n for s, n in adi if s})
    assert all(n for is_stored, n in steps if is_stored)
    assert sum(n > 0 for is_stored, n in steps if not is_stored) <= 60, sum(n > 0 for s, n in steps if not s)

# Messages of solver have their partners, between its collectives.
nr = 0
for (sender, receiver, tag, sends), sent in ends.items():
    received = ends.get((sender, receiver, tag, not sends), [])
    assert len(sent) == len(received), (sender, receiver, tag, len(sent), len(received))
    for (at, size), (to, size_in) in zip(sent, received):
        assert size == size_in and (at <= to if sends else to <= at), (sender, receiver, tag, at, to, size, size_in)
        nr += sends
print(nr, 'messages')
assert nr > 50, nr
E

merged farm 64 ./iterate.$mpi farm 8000
check farm <<'E'
from policy import *
def level(call):
    return ((call['time_ns'] >> 24) - 1 ^ call['end_ns'] >> 24).bit_length() - 1
print(floors, [k['stored'] for k in kinds], [i.get('iterations') for i in infos])
assert min(floors) >= 1 and calls, floors
assert all(level(c) >= min(floors) for c in calls), min(map(level, calls))
E
# Which ends are missing is not known here.
"$ADAPTRACE" convert --otf2 farm.atr -o farm 2>err || fail "convert: $(cat err)"
grep -q 'may pair wrong ones' err && otf2-print -A farm/traces.otf2 | grep -q UNSURE_PAIRS ||
	fail "nothing said of pairs: $(cat err)"
pass
