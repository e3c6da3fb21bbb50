#!/bin/sh
# Four ranks record their calls with --scale-trace, each for itself, and store the same iterations but
# for slow ones. Merged and converted, messages have the partners that they had, though most are not
# there.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi
need_otf2

one_mpi
compile $mpi iterate
hosts=
# NAME KIND STEPS...: ranks.NAME.atr
merged() {
	name=$1; shift
	mpirun.$mpi -n 4 $hosts "$ADAPTRACE" record -q -F 100 -g none --mpi --max-overhead 0 -m 16M \
		--events-wait 10000 --scale-trace -o "$name.%r.atr" -- ./iterate.$mpi $* >$name.out 2>$name.err ||
		fail "recording of $*: $(cat $name.err)"
	"$ADAPTRACE" merge -o ranks.$name.atr $name.?.atr 2>err || fail "merge: $(cat err)"
	"$ADAPTRACE" convert --otf2 ranks.$name.atr -o $name 2>err || fail "convert: $(cat err)"
	timeout 20 otf2-print -Werror --silent $name/traces.otf2 >log 2>&1 || fail "otf2-print $(cat log)"
	"$ADAPTRACE" report --mpi --json ranks.$name.atr >$name.mpi
	"$ADAPTRACE" report --iterations --json ranks.$name.atr >$name.iterations
	"$ADAPTRACE" info --json ranks.$name.atr >$name.info
	otf2-print -A $name/traces.otf2 2>/dev/null | awk '/UNPAIRED/ {getline; print $NF}' >$name.unpaired
}
cat >pairs.py <<'E'
import json, otf2, sys
from collections import defaultdict
from otf2.events import *
kind = sys.argv[1]
def rank_of(location):
    return int(location.group.name.split()[1].rstrip(':'))
ends = {True: defaultdict(list), False: defaultdict(list)}
last, depth, step, empty = {}, defaultdict(int), defaultdict(int), 0
with otf2.reader.open(kind + '/traces.otf2') as trace:
    for location, event in trace.events:
        assert event.time >= last.get(location, 0), event
        last[location] = event.time
        if isinstance(event, (CallingContextEnter, CallingContextLeave)):
            name = event.calling_context.region.name
            if name.startswith('iteration'):
                enters = isinstance(event, CallingContextEnter)
                depth[location] += 1 if enters else -1
                step[location] += enters
                empty += enters and 'not stored' in name
                assert depth[location] in (0, 1), event
        elif isinstance(event, (MpiSend, MpiIsend)):
            ends[True][rank_of(location), event.receiver, event.msg_tag].append((event.time, event.msg_length))
        elif isinstance(event, (MpiRecv, MpiIrecv)):
            ends[False][event.sender, rank_of(location), event.msg_tag].append((event.time, event.msg_length))
nr = nr_ends = 0
for channel, sends in ends[True].items():
    receives = ends[False][channel]
    nr_ends += len(sends) + len(receives)
    assert len(sends) == len(receives), (channel, len(sends), len(receives))
    for (sent, size), (received, size_in) in zip(sends, receives):
        assert sent <= received and size == size_in, (channel, sent, received, size, size_in)
        nr += 1
found = json.load(open(kind + '.info'))['iterations']
print(kind, nr, 'messages;', empty, 'of', sum(step.values()), 'iterations are empty')
unpaired = int(open(kind + '.unpaired').read() or 0)
print(unpaired, 'ends have no pair')
assert nr > 100 and empty > sum(step.values()) / 2, (nr, empty)
assert kind == 'steps' or nr_ends > unpaired, (nr_ends, unpaired)
assert found['seen'] == sum(step.values()) and found['seen'] - found['stored'] == empty, found
assert not found['left_out'], found
truth = [json.loads(line) for line in open(kind + '.out') if line.startswith('{')]
sums = {c['call']: c for c in json.load(open(kind + '.mpi'))['calls']}
for name in {n for t in truth for n in t['calls']} - {'MPI_Barrier'}:
    told = sum(t['calls'].get(name, {'calls': 0})['calls'] for t in truth)
    assert sums[name]['calls'] == told, (name, sums[name], told)
phases = [p for p in json.load(open(kind + '.iterations'))['phases'] if p['unit']]
assert sorted({p['rank'] for p in phases}) == [0, 1, 2, 3], phases
E

merged steps adi 150 wavefront 150
python3 pairs.py steps || fail "adi and wavefront"
# The same iterations are stored everywhere, but for slow ones.
"$ADAPTRACE" convert --chrome -o steps.json ranks.steps.atr 2>err || fail "chrome: $(cat err)"
check <<'E'
import collections, json
stored, slow = collections.defaultdict(set), set()
for event in json.load(open('steps.json'))['traceEvents']:
    if event.get('cat') == 'iterations' and event['ph'] == 'b' and event['name'] == 'iteration':
        step = event['args']['phase'], event['args']['ordinal']
        stored[event['pid']].add(step)
        if event['args']['slow']:
            slow.add(step)
first = {phase for phase, _ in set().union(*stored.values())}
# That of adi begins with a collective; those of wavefront with none, and may be counted differently.
everywhere = [{o for p, o in steps if p == min(first)} - {o for _, o in slow} for steps in stored.values()]
print(len(stored), [len(e) for e in everywhere])
assert len(stored) == 4 and len(everywhere[0]) > 8, everywhere
assert all(len(e ^ everywhere[0]) <= 2 for e in everywhere), everywhere
E
# The inner loops of solver have any number of iterations. Sizes of messages tell wrong partners. Where
# that is allowed, odd ranks are on another host, whose clock shows another time: what is paired tells
# by how much.
cat >hosts.sh <<'E'
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
[ $((rank % 2)) = 0 ] || exec unshare -u -T --monotonic 5000 sh -c 'hostname other && exec "$@"' sh "$@"
exec "$@"
E
unshare -u -T --monotonic 5000 hostname other 2>/dev/null && hosts="sh $PWD/hosts.sh"
merged solver solver 150
python3 pairs.py solver || fail "solver"
[ -z "$hosts" ] || check clocks <<'E'
import json
for process in json.load(open('solver.info'))['processes']:
    if process['rank'] % 2:
        wrong = abs(process['offset_ns'] + 5000 * 10**9)
        print(process['host'], wrong, process['offset_error_ns'])
        assert process['host'] == 'other' and wrong <= process['offset_error_ns'], process
        assert process['offset_error_ns'] < 1000000, process
E
hosts=
merged cg cg 150
python3 pairs.py cg || fail "cg"
pass
