"""convert_calls.py chrome|firefox|speedscope FILE | all|states|one ANCHOR: whether calls are what a job of 4 ranks and
300 steps made. convert_calls.py callers DUMP REPORT: whether a report and a dump of it agree on how
many calls were sampled."""
import bisect
import gzip
import json
import sys
from collections import Counter, defaultdict

RANKS, STEPS = 4, 300


def chrome(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    open_calls, names = defaultdict(list), Counter()
    for event in events:
        if event["ph"] == "b":
            open_calls[event["id2"]["local"]].append(event)  # with its process, not among all
            names[event["name"]] += 1
        elif event["ph"] == "e":
            call = open_calls[event["id2"]["local"]].pop()
            assert call["name"] == event["name"] and call["ts"] <= event["ts"], event
    assert not any(open_calls.values())
    begun = sorted((e["tid"], round(e["ts"] * 1000), e["name"]) for e in events if e["ph"] == "b")
    calls = [c for c in map(json.loads, open("dump.json", encoding="utf-8")) if "call" in c]
    start = min(c["time_ns"] for c in calls) - min(time for _, time, _ in begun)
    assert begun == sorted((c["tid"], c["time_ns"] - start, c["call"]) for c in calls
                           if c["call"] not in ("half way", "energy")), begun[:3]
    assert names["MPI_Waitall"] == names["time step"] == RANKS * STEPS, names
    assert sum(e["ph"] == "C" and e["name"] == "energy" for e in events) == RANKS * STEPS
    assert sum(e["ph"] == "i" and e["name"] == "half way" for e in events) == RANKS


def firefox(path):
    with gzip.open(path) as file:
        profile = json.load(file)
    strings, names, points = profile["shared"]["stringArray"], Counter(), Counter()
    schemas = {s["name"]: {f["key"] for f in s["fields"]} for s in profile["meta"]["markerSchema"]}
    shown = sent = 0
    for thread in profile["threads"]:
        table = thread["markers"]
        assert all(len(column) == table["length"] for name, column in table.items()
                   if name != "length")
        last = 0
        for data, start, end, name, phase, category in zip(
                *(table[c] for c in ("data", "startTime", "endTime", "name", "phase",
                                     "category"))):
            assert set(data) - {"type"} <= schemas[data["type"]], data
            assert category < len(profile["meta"]["categories"])
            if data["type"] != "Call":
                continue
            # Perfetto passes over what is no number, and then takes the ends of others.
            assert end >= start >= last and (phase == 1 or end == start), (start, end, phase)
            last = start
            (points if phase == 0 else names)[strings[name]] += 1
            shown += strings[name] == "energy" and bool(float(data["what"]))
            sent += "send-posted" in data["what"] and "bytes with" in data["what"]
    assert names["MPI_Waitall"] == names["time step"] == RANKS * STEPS, names
    assert points == {"energy": RANKS * STEPS, "half way": RANKS}, points
    assert shown and sent == 2 * RANKS * STEPS, (shown, sent)


def speedscope(path):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    frames, names = [f["name"] for f in profile["shared"]["frames"]], Counter()
    evented = [p for p in profile["profiles"] if p["type"] == "evented"]
    assert len(evented) == RANKS and all(p["name"].endswith(": calls") for p in evented)
    for p in evented:
        stack, last = [], p["startValue"]
        for event in p["events"]:
            assert event["at"] >= last
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
                names[frames[event["frame"]]] += 1
            else:
                assert stack.pop() == event["frame"]
        assert not stack and last == p["endValue"]
    assert names["MPI_Waitall"] == names["time step"] == RANKS * STEPS, names
    assert not names["half way"] and not names["energy"], names


def with_callers(dump):
    """For each thread its calls of MPI and those in which a sample was taken."""
    samples, calls = defaultdict(list), defaultdict(list)
    with open(dump, encoding="utf-8") as file:
        for line in map(json.loads, file):
            if "call" not in line:
                if any((f["symbol"] or "").startswith("MPI_") for f in line["stack"]):
                    samples[line["pid"]].append(line["time_ns"])
            elif line["call"].startswith("MPI_"):
                calls[line["pid"]].append((line["time_ns"], line["end_ns"]))
    for pid, own in calls.items():
        times = sorted(samples[pid]) + [float("inf")]
        known = [c for c in own if times[bisect.bisect_left(times, c[0])] < c[1]]
        yield pid, own, known


def callers(dump, report):
    with open(report, encoding="utf-8") as file:
        told = json.load(file)["callers"]
    calls = known = time = 0
    for _, own, sampled in with_callers(dump):
        calls += len(own)
        known += len(sampled)
        time += sum(end - start for start, end in sampled)
    assert 10 < known < calls, (known, calls)
    assert (told["calls"], told["known"], told["known_time_ns"]) == (calls, known, time), told


def depth(context):
    return 1 + (depth(context.parent) if context.parent is not None else 0)


class Location:
    """The calls of a location that are open, and its requests."""

    def __init__(self):
        self.stack, self.requests, self.last, self.collective = [], {}, 0, False

    def enter(self, what, context):
        if self.stack and context is not None:
            parent = context.parent
            while parent is not None and parent is not self.stack[-1]:
                parent = parent.parent
            assert parent is not None, "a call is not below the one around it"
        self.stack.append(what)

    def sample(self, context):
        while self.stack and context is not self.stack[-1]:
            context = context.parent
            assert context is not None, "a sample is not below the call that it is in"


def archive(kind, anchor):
    import otf2
    from otf2.enums import GroupType, Paradigm
    with otf2.reader.open(anchor) as trace:
        d = trace.definitions
        world = [g for g in d.groups if g.group_type == GroupType.COMM_LOCATIONS]
        assert len(world) == 1 and len(world[0].members) == RANKS
        ranks = {location: i for i, location in enumerate(world[0].members)}
        for location, rank in ranks.items():
            assert location._ref == rank # which some readers rely on
            assert location.group.name.startswith("rank %d" % rank), location.group.name
        assert [c for c in d.comms if c.name == "MPI_COMM_WORLD"]
        locations, kinds, messages = defaultdict(Location), Counter(), defaultdict(list)
        for location, event in trace.events:
            at, name = locations[location], type(event).__name__
            assert event.time >= at.last, "times go back"
            at.last = event.time
            kinds[name] += 1
            if name == "CallingContextEnter":
                assert event.unwind_distance <= depth(event.calling_context) + 1
                at.enter(event.calling_context, event.calling_context)
            elif name == "Enter":
                at.enter(event.region, None)
            elif name == "CallingContextLeave":
                assert at.stack.pop() is event.calling_context
            elif name == "Leave":
                assert at.stack.pop() is event.region
            elif name == "CallingContextSample":
                at.sample(event.calling_context)
            elif name in ("MpiIsend", "MpiIrecvRequest"):
                assert event.request_id not in at.requests
                at.requests[event.request_id] = name
                if name == "MpiIsend":
                    messages[ranks[location], event.receiver, event.msg_tag].append(
                        (event.time, event.msg_length))
            elif name == "MpiIrecv":
                assert at.requests.pop(event.request_id) == "MpiIrecvRequest"
                messages["to", event.sender, ranks[location], event.msg_tag].append(
                    (event.time, event.msg_length))
            elif name == "MpiIsendComplete":
                assert at.requests.pop(event.request_id) == "MpiIsend"
            elif name in ("MpiCollectiveBegin", "MpiCollectiveEnd"):
                assert at.collective == (name == "MpiCollectiveEnd")
                at.collective = not at.collective
        for at in locations.values():
            assert not at.stack and not at.requests and not at.collective
        of = 1 if kind == "one" else RANKS
        assert kinds["MpiIsend"] == kinds["MpiIrecv"] == 2 * STEPS * of, kinds
        assert kinds["MpiCollectiveEnd"] == kinds["Metric"] == STEPS * of, kinds
        assert bool(kinds["CallingContextSample"]) == (kind != "states"), kinds
        entered = kinds["Enter"] + kinds["CallingContextEnter"]
        assert entered == (7 * STEPS + 2) * of, (entered, kinds)
        if kind != "one":
            for key, sent in list(messages.items()):
                if key[0] == "to":
                    continue
                got = messages[("to",) + key]
                assert len(got) == len(sent), key
                for (time, size), (arrived, length) in zip(sent, got):
                    assert arrived > time and size == length
        told = Counter()
        for p in d.location_properties:
            told[p.name] += p.value if p.name.startswith("MPI calls") else 0
        roots = [c for c in d.calling_contexts if c.region.name == "[callers not sampled]"]
        if kind == "all":
            counts = [(len(own), len(known)) for _, own, known in with_callers("dump.json")]
            assert told["MPI calls"] == sum(c[0] for c in counts), told
            assert told["MPI calls with callers"] == sum(c[1] for c in counts), (told, counts)
            assert roots
        for location, rank in ranks.items():
            node = location.group.system_tree_parent.name
            assert kind == "one" or node == "node%d" % (rank // 2), (rank, node)
        mpi = [r for r in d.regions if r.paradigm == Paradigm.MPI]
        own = {r.name: (r.source_file, r.begin_line_number) for r in d.regions}
        assert own["time step"] == ("job.c", 10) and own["half way"] == ("job.c", 11), own
        assert {r.name for r in mpi} >= {"MPI_Init", "MPI_Waitall", "MPI_Allreduce"}


if sys.argv[1] in ("chrome", "firefox", "speedscope"):
    {"chrome": chrome, "firefox": firefox, "speedscope": speedscope}[sys.argv[1]](sys.argv[2])
elif sys.argv[1] == "callers":
    callers(*sys.argv[2:])
else:
    archive(*sys.argv[1:])
