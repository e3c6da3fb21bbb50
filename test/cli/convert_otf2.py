"""convert_otf2.py ANCHOR SUMS INFO: whether an archive is what OTF2 wants, and its locations what
the trace says of its threads."""
import json
import sys

import otf2
from otf2.enums import Base, LocationGroupType, LocationType


def depth(context):
    return 1 + (depth(context.parent) if context.parent is not None else 0)


def main(anchor, sums, info):
    info = json.load(open(info, encoding="utf-8"))
    known = {t["tid"]: t for t in info["threads"]}
    threads = {t["tid"]: t for t in json.load(open(sums, encoding="utf-8"))["threads"]}
    with otf2.reader.open(anchor) as trace:
        d = trace.definitions
        clock = d.clock_properties
        seen, first, last = {}, {}, {}
        for location, event in trace.events:
            assert type(event).__name__ == "CallingContextSample"
            assert event.time >= last.get(location, 0), "times go back"
            assert clock.global_offset <= event.time <= clock.global_offset + clock.trace_length
            assert event.unwind_distance == depth(event.calling_context) + 1
            seen[location] = seen.get(location, 0) + 1
            first.setdefault(location, event.time)
            last[location] = event.time
        assert clock.timer_resolution == 10**9
        assert clock.global_offset == min(info["start_ns"], *first.values())
        assert clock.realtime_timestamp - clock.global_offset == 1700000000000000000 - info["start_ns"]
        assert len(d.locations) == len(threads)
        for location in d.locations:
            tid = int(location.name.rsplit(" ", 1)[1])
            assert location.type == LocationType.CPU_THREAD
            assert location.group.location_group_type == LocationGroupType.PROCESS
            assert location.number_of_events == seen.get(location, 0) == threads[tid]["samples"]
            assert first.get(location, 0) == threads[tid]["first"], (tid, first.get(location))
            assert last.get(location, 0) == threads[tid]["last"]
        told = {(p.location, p.name): p.value for p in d.location_properties}
        for location in d.locations:
            tid = int(location.name.rsplit(" ", 1)[1])
            properties = {"TID": tid, "start": known[tid]["start_ns"], "end": known[tid]["end_ns"],
                          "exact total": known[tid]["exact"]}
            for name, value in properties.items():
                assert told.get((location, name)) == value, (tid, name, value)
        pids = {p.location_group: p.value for p in d.location_group_properties if p.name == "PID"}
        for location in d.locations:
            tid = int(location.name.rsplit(" ", 1)[1])
            assert pids[location.group] == threads[tid]["pid"], (tid, location.group)
            assert location.group.name, location.group
        groups = {location.group for location in d.locations}
        assert len(groups) == len({t["pid"] for t in threads.values()})
        assert all(g.system_tree_parent.parent is not None for g in groups), "host and node"
        machine = {p.name: p.value for p in d.system_tree_node_properties}
        assert machine == {"kernel": "Linux 6.1.0", "cpu model": "Example CPU"}, machine
        generators = [(g.name, g.period) for g in d.interrupt_generators]
        assert len(generators) == len(set(generators)) == 4, generators  # 2 events on 2 CPUs
        for g in d.interrupt_generators:
            assert (g.base, g.exponent) == (Base.DECIMAL, -9 if g.name == "cpu-clock" else 0)
        print("%s: %d locations" % (anchor, len(d.locations)))


main(*sys.argv[1:])
