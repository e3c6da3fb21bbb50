#!/bin/sh
# Files of MPI in OTF2: a handle for each opening, known to all ranks that opened it together, and
# every transfer with what was asked for and what was moved, from its begin to its end, whichever call
# that is.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi
need_otf2

for mpi in $mpis; do
	compile $mpi files
	mkdir -p data
	options='--events-wait 5000'
	recorded_job $mpi 2 ./files.$mpi data
	"$ADAPTRACE" convert -f --otf2 job.atr -o archive 2>said || {
		grep -q 'built without' said && skip "built without libotf2"
		fail "convert: $(cat said)"
	}
	timeout 20 otf2-print -Werror --silent archive/traces.otf2 >log 2>&1 || fail "$(cat log)"
	timeout 20 otf2-print archive/traces.otf2 | grep INVALID && fail "references to nothing"
	check $mpi <<'E'
import collections
import otf2
from otf2.enums import *

with otf2.reader.open('archive/traces.otf2') as trace:
    d = trace.definitions
    assert [p.identification for p in d.io_paradigms] == ['MPI-IO']
    assert sorted(f.name for f in d.io_files) == ['data/own.0', 'data/own.1', 'data/shared']
    names = collections.Counter(h.file.name for h in d.io_handles)
    assert names == {'data/shared': 2, 'data/own.0': 1, 'data/own.1': 1}, names
    for handle in d.io_handles:
        world = handle.file.name == 'data/shared'
        assert handle.comm.name == ('MPI_COMM_WORLD' if world else 'MPI_COMM_SELF')
    ranks = {l: i for i, l in enumerate(next(
        g for g in d.groups if g.group_type == GroupType.COMM_LOCATIONS).members)}
    did, opened, issued, active = collections.defaultdict(list), set(), set(), {}
    for location, event in trace.events:
        kind, rank = type(event).__name__, ranks.get(location)
        if kind == 'IoCreateHandle':
            assert (rank, event.handle) not in opened
            opened.add((rank, event.handle))
            did[rank].append(('open', event.mode, event.creation_flags, event.status_flags))
        elif kind == 'IoOperationBegin':
            assert (rank, event.handle) in opened and (rank, event.matching_id) not in active
            active[rank, event.matching_id] = event
        elif kind == 'IoOperationIssued':
            begin = active[rank, event.matching_id]
            assert begin.handle is event.handle and begin.time <= event.time
            assert begin.operation_flags & IoOperationFlag.NON_BLOCKING
            issued.add((rank, event.matching_id))
        elif kind == 'IoOperationTest':
            assert (rank, event.matching_id) in active
        elif kind == 'IoOperationComplete':
            begin = active.pop((rank, event.matching_id))
            assert begin.handle is event.handle and begin.time <= event.time
            assert ((rank, event.matching_id) in issued) == bool(
                begin.operation_flags & IoOperationFlag.NON_BLOCKING)
            did[rank].append((begin.mode, begin.operation_flags, begin.bytes_request,
                              event.bytes_result))
        elif kind == 'IoDestroyHandle':
            opened.remove((rank, event.handle))
            did[rank].append('close')
    assert not opened and not active
    mode, read, write = IoAccessMode, IoOperationMode.READ, IoOperationMode.WRITE
    none, later = IoOperationFlag.NONE, IoOperationFlag.NON_BLOCKING
    together = IoOperationFlag.COLLECTIVE
    for rank in 0, 1:
        assert did[rank] == [
            ('open', mode.WRITE_ONLY, IoCreationFlag.CREATE, IoStatusFlag.NONE),
            (write, together, 40, 40), 'close',
            ('open', mode.READ_ONLY, IoCreationFlag.NONE, IoStatusFlag.NONE),
            (read, none, 40, 8), (read, later, 20, 20), (read, later | together, 16, 16), 'close',
            ('open', mode.READ_WRITE, IoCreationFlag.CREATE, IoStatusFlag.DELETE_ON_CLOSE),
            (write, none, 4 + 4 * rank, 4 + 4 * rank), (write, later, 120, 120),
            (write, later, 80, 80), 'close'], (rank, did[rank])
E
done
pass
