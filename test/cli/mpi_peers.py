"""mpi_peers.py RANKS: whether every view and format of job.atr names the peers that log.RANK does."""
import gzip
import json
import re
import sys
from collections import Counter

RANKS = int(sys.argv[1])


def told():
    messages, roots = Counter(), Counter()
    for rank in range(RANKS):
        for line in open(f"log.{rank}"):
            kind, *rest = line.split()
            if kind == "s":
                messages[rank, int(rest[0]), int(rest[1])] += 1
            else:
                roots[rank, rest[0], int(rest[1])] += 1
    return messages, roots


def same(what, found, wanted):
    wrong = {k: (found[k], wanted[k]) for k in found | wanted if found[k] != wanted[k]}
    assert found and not wrong, (what, "found, wanted:", wrong)


def dump(messages, roots):
    calls = [c for c in map(json.loads, open("dump.json")) if "call" in c]
    parts = [(c["rank"], c["call"], p) for c in calls for p in c["parts"]]
    same("dump", Counter((r, p["peer_rank"], p["bytes"]) for r, _, p in parts
                         if p["kind"] in ("send", "send-posted")), messages)
    same("dump", Counter((p["peer_rank"], r, p["bytes"]) for r, _, p in parts
                         if p["kind"] in ("receive", "receive-done")), messages)
    same("dump", Counter((r, c, -1 if p["peer_rank"] is None else p["peer_rank"])
                         for r, c, p in parts
                         if p["kind"] == "collective" and c != "MPI_Barrier"), roots)


def matrix(messages, _):
    report = json.load(open("mpi.json"))
    wanted, sizes = Counter(), Counter()
    for (sender, to, size), n in messages.items():
        wanted[sender, to] += n
        sizes[sender, to] += n * size
    same("matrix", Counter({(m["from"], m["to"]): m["messages"] for m in report["matrix"]}), wanted)
    same("matrix", Counter({(m["from"], m["to"]): m["bytes"] for m in report["matrix"]}), sizes)
    assert not report["messages_elsewhere"]


def from_texts(what, texts, messages, roots):
    """texts: rank, name of the call, what it did, piece by piece."""
    sent, received, led = Counter(), Counter(), Counter()
    for rank, call, text in texts:
        size = int((re.search(r"(\d+) bytes?", text) or [0, 0])[1])
        peer = re.search(r" with (?:root )?rank (\d+)", text)
        if text.startswith(("send ", "send-posted ")):
            sent[rank, int(peer[1]), size] += 1
        elif text.startswith(("receive ", "receive-done ")):
            received[int(peer[1]), rank, size] += 1
        elif text.startswith("collective ") and call != "MPI_Barrier":
            led[rank, call, int(peer[1]) if peer else rank if " as root in " in text else -1] += 1
    same(what, sent, messages)
    if received:  # of several in one call the first is shown
        assert not received - messages, (what, received - messages)
    same(what, led, roots)


def dump_text(messages, roots):
    texts = []
    for line in open("dump.txt"):
        head, *parts = re.sub(r"(\d+ ns)( \(unfinished\))?", r"\1", line.rstrip()).split("  ")[2:]
        if head.startswith("rank ") and parts:
            texts += [(int(head[5:]), parts[0].split()[0], part) for part in parts[1:]]
    from_texts("dump text", texts, messages, roots)


def chrome(messages, roots):
    events = json.load(open("job.trace.json"))["traceEvents"]
    ranks = {e["pid"]: int(re.match(r"rank (\d+)", e["args"]["name"])[1]) for e in events
             if e.get("name") == "process_name" and e["args"]["name"].startswith("rank ")}
    from_texts("chrome", [(ranks[e["pid"]], e["name"], f"{kind} {text}") for e in events
                          if e["ph"] == "b" for kind, text in e.get("args", {}).items()],
               messages, roots)


def firefox(messages, roots):
    profile = json.load(gzip.open("job.firefox.json.gz"))
    strings, texts = profile["shared"]["stringArray"], []
    for thread in profile["threads"]:
        rank = re.match(r"rank (\d+)", thread["processName"])
        for name, data in zip(thread["markers"]["name"], thread["markers"]["data"]):
            if data["type"] == "Call" and rank:
                texts += [(int(rank[1]), strings[name], t) for t in data["what"].split("; ")]
    from_texts("firefox", texts, messages, roots)


def otf2(messages, roots):
    """As otf2-print reads it, which finds members of groups; locations of ranks have their numbers."""
    sent, received, led = Counter(), Counter(), Counter()
    for line in open("otf2.txt"):
        end = re.match(r"MPI_I?(SEND|RECV) +(\d+) .*er: \d+ \(.*? <(\d+)>\).* Length: (\d+)", line)
        if end:
            rank, peer, size = map(int, end.groups()[1:])
            if end[1] == "SEND":
                sent[rank, peer, size] += 1
            else:
                received[peer, rank, size] += 1
        root = re.match(r"MPI_COLLECTIVE_END +(\d+) .*Operation: (BCAST|REDUCE), .*Root: "
                        r"(SELF|THIS_GROUP|\d+ \(.*? <(\d+)>\))", line)
        if root:
            rank = int(root[1])
            led[rank, "MPI_" + root[2].capitalize(),
                rank if root[3] == "SELF" else int(root[4] or -1)] += 1
    same("OTF2", sent, messages)
    same("OTF2", received, messages)
    same("OTF2", led, roots)


truth = told()
for view in (matrix, dump, dump_text, chrome, firefox, *([otf2] if "otf2" in sys.argv else [])):
    view(*truth)
