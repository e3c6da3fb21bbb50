"""Whether all.atr, shown in JSON, is what truth.json says that eight ranks did."""
import json
from collections import Counter

STEPS, RANKS = 3000, 8


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


truth, info, mpi, ranks, report = map(load, ("truth.json", "info.json", "mpi.json", "ranks.json",
                                             "report.json"))
samples, calls, ends, last = Counter(), Counter(), {}, {}
sends = {}
for line in open("dump.json", encoding="utf-8"):
    entry = json.loads(line)
    rank = entry["tid"] - 100
    if "event" in entry:
        samples[rank] += 1
        assert entry["stack"][-1]["symbol"] == "main", entry
        continue
    calls[rank] += 1
    assert entry["rank"] == rank
    assert entry["end_ns"] >= last.get(rank, 0), "calls of a thread are in their order"
    last[rank] = entry["end_ns"]
    if entry["call"] == "MPI_Finalize":
        ends[rank] = entry["end_ns"]
    for part in entry["parts"]:
        key = (part.get("peer_rank"), rank, part.get("tag"))
        if part["kind"] == "send-posted":
            sends.setdefault((rank, part["peer_rank"], part["tag"]), []).append(
                (entry["time_ns"], part["bytes"]))
        elif part["kind"] == "receive-done":
            sends.setdefault(("to",) + key, []).append((entry["end_ns"], part["bytes"]))

for rank in truth["ranks"]:
    number = rank["rank"]
    assert samples[number] == rank["samples"], number
    assert calls[number] == rank["stored"] == rank["calls"], number
    # Without a correction this would be seconds, and with the hosts' real time milliseconds.
    assert abs(ends[number] - rank["end"]) < 3000, (number, ends[number] - rank["end"])
processes = {p["rank"]: p for p in info["processes"]}
for rank in truth["ranks"]:
    process = processes[rank["rank"]]
    assert abs(process["offset_ns"] + rank["offset"]) < 3000, process
    assert abs(process["offset_ns"] + rank["offset"]) <= process["offset_error_ns"] < 10000, process
    assert abs(process["drift_ns"] + rank["drift"] * (rank["end"] - 10**9)) < 3000, process
messages = 0
for key, sent in sends.items():
    if key[0] == "to":
        continue
    for (time, size), (arrived, arrived_size) in zip(sent, sends[("to",) + key]):
        assert arrived > time and size == arrived_size, key
        messages += 1
assert messages == truth["sends"] == 2 * STEPS * RANKS

assert len(info["processes"]) == RANKS and {p["host"] for p in info["processes"]} == {
    "node0", "node1", "node2", "node3"}
assert info["calls"]["kinds"][0]["stored"] == sum(calls.values())
assert info["samples"]["taken"] == sum(samples.values())
kind, = info["calls"]["kinds"]
assert kind["share"] == 0 and kind["from_ns"] < kind["to_ns"], kind
assert info["calls"]["bytes"] < 8 * sum(calls.values())

by_name = {call["call"]: call for call in mpi["calls"]}
assert by_name["MPI_Isend"]["calls"] == by_name["MPI_Isend"]["sent"] == messages
assert by_name["MPI_Waitall"]["received"] == messages
assert by_name["MPI_Isend"]["time_ns"] // messages in range(690, 711)
assert by_name["MPI_Init"]["calls"] == RANKS and abs(
    by_name["MPI_Init"]["time_ns"] - RANKS * 5000000) < 1000
assert {c["call"] for c in report["calls"]} == set(by_name)
matrix = {(link["from"], link["to"]): link["messages"] for link in mpi["matrix"]}
assert matrix == {(r, (r + d) % RANKS): STEPS for r in range(RANKS) for d in (-1, 1)}
# Samples and calls measure the same, each in its way.
for rank in mpi["ranks"]:
    assert abs(rank["mpi_weight"] - rank["time_ns"]) < 0.02 * rank["time_ns"] + 5000000, rank
assert mpi["contexts"][0]["stack"] == ["MPI_Waitall", "exchange", "step", "main"]

# A function is called the same in all of them.
functions, of_ranks = ({(f["symbol"], f["module"]) for f in r["functions"]} for r in (report, ranks))
assert of_ranks == functions, of_ranks ^ functions
compute = next(f for f in ranks["functions"] if f["symbol"] == "compute")
assert compute["self"]["max"] == max(compute["self"]["by_rank"])
assert compute["self"]["max_rank"] % 2 == 0 and compute["self"]["min_rank"] % 2 == 1
assert sum(f["self"]["mean"] for f in ranks["functions"]) * RANKS == ranks["total_weight"]
