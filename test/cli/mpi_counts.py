"""mpi_counts.py KIND...: whether adaptrace counted, in ./dump and ./report, what others did.

    counter    counts.RANK of test/mpi/counter.py: every type of call, messages and bytes by pair
    types      the same, but no messages; and questions for messages may be lost: so many as it says
    library    prof.RANK.prof of Open MPI's own monitoring: messages and bytes by pair
    netpipe    ./job.err, where NetPIPE says what it sent
    eztrace    ./eztrace, an archive of another run as otf2-print shows it
"""
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

TRIALS = 3 # of NetPIPE for each size
LEAST = 21 # of its sizes; tried before all others, too
HERE = Path(__file__).parent


def recorded():
    """The functions that are recorded."""
    text = (HERE / "../../src/preload/mpi_calls.def").read_text()
    for kind, name, inside in re.findall(r"^(CALL|BOTH|COLLECTIVE)\((\w+), (\w+),", text, re.M):
        names = [name, "I" + inside, name + "_init"] if kind == "COLLECTIVE" else [name]
        for n in names:
            yield "MPI_" + n
            if kind != "CALL":
                yield "MPI_" + n + "_c"


calls = [c for c in map(json.loads, open("dump")) if "call" in c]
told = defaultdict(Counter)
sends = defaultdict(lambda: [0, 0]) # by rank and peer, of MPI_Send alone
sizes = Counter()
for c in calls:
    told[c["rank"]][c["call"]] += 1
    for p in c["parts"]:
        if p["kind"] in ("send", "send-posted"):
            sizes[c["rank"], p["bytes"]] += 1
            if c["call"] == "MPI_Send":
                sends[c["rank"], p["peer_rank"]][0] += 1
                sends[c["rank"], p["peer_rank"]][1] += p["bytes"]
report = json.load(open("report"))
pairs = {(m["from"], m["to"]): [m["messages"], m["bytes"]] for m in report["matrix"]}


def totals():
    """The sums of a report are those of the single calls."""
    sums = sum(told.values(), Counter())
    assert {c["call"]: c["calls"] for c in report["calls"]} == dict(sums), (report["calls"], sums)


def counter(messages):
    seen, files = {}, sorted(Path().glob("counts.*"))
    known = set(recorded())
    missing = 0
    assert len(files) == len(told) > 1, (files, len(told))
    for file in files:
        rank = int(file.suffix[1:])
        lines = [line.split() for line in file.read_text().splitlines()]
        counts = {call: int(nr) for call, *more in lines for nr in more if len(more) == 1}
        seen.update({(rank, int(l[1])): [int(l[2]), int(l[3])] for l in lines if l[0] == ">"})
        expected = Counter({c: n for c, n in counts.items() if c in known})
        missing += sum((expected - told[rank]).values())
        polling = {c for c in known if "Test" in c or "probe" in c}
        assert not told[rank] - expected and set(expected - told[rank]) <= polling, \
            (rank, told[rank] - expected, expected - told[rank])
    lost = json.load(open("info"))["calls"]["kinds"][0]["lost"]
    assert missing == lost, (missing, lost)
    assert not messages or (pairs == seen and not lost), (pairs, seen, lost)
    return sum(sum(t.values()) for t in told.values()), "calls"


def library():
    seen = {}
    for file in Path().glob("prof.*.prof"):
        for line in file.read_text().splitlines():
            if line.startswith("E\t"):
                words = line.split()
                seen[int(words[1]), int(words[2])] = [int(words[5]), int(words[3])]
    assert seen and {pair: s for pair, s in seen.items() if s[0]} == pairs, (pairs, seen)
    return sum(s[0] for s in seen.values()), "messages"


def netpipe():
    lines = re.findall(r"^ *\d+: +(\d+) bytes +(\d+) times", open("job.err").read(), re.M)
    assert len(lines) > 10, lines
    for size, times in lines:
        for rank in (0, 1) if int(size) != LEAST else ():
            nr = sizes[rank, int(size)]
            assert nr == TRIALS * int(times), (rank, size, nr, times)
    return len(lines), "sizes"


def eztrace():
    counts, seen = defaultdict(Counter), defaultdict(lambda: [0, 0])
    for line in open("eztrace"):
        words = line.split()
        if line.startswith("ENTER ") and '"MPI_' in line:
            counts[int(words[1])][line.split('"')[1]] += 1
        elif line.startswith("MPI_SEND "):
            to, length = re.search(r"Receiver: (\d+) .*Length: (\d+)", line).groups()
            seen[int(words[1]), int(to)][0] += 1
            seen[int(words[1]), int(to)][1] += int(length)
    locations = sorted(counts) # in order of ranks
    seen = {(locations.index(at), to): s for (at, to), s in seen.items()}
    for rank, location in enumerate(locations):
        ours = {call: nr for call, nr in told[rank].items()
                if call not in ("MPI_Init", "MPI_Finalize")} # of which it knows nothing
        assert ours == dict(counts[location]), (rank, ours, counts[location])
    assert seen and seen == sends, (seen, dict(sends))
    return sum(s[0] for s in seen.values()), "sends"


kinds = {"counter": lambda: counter(True), "types": lambda: counter(False), "library": library,
         "netpipe": netpipe, "eztrace": eztrace}
totals()
for kind in sys.argv[1:]:
    print("   as", kind, *kinds[kind]())
