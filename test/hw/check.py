"""check.py FOLDER: looks at what the emulated machine recorded on its counters."""

import collections
import json
import re
import sys

import recording

FOLDER = sys.argv[1]
PERIOD = 809017
COUNTERS, SIGNED = FOLDER + "/counters/out/", FOLDER + "/signed/out/"


def taken_is_count_by_period(name, event, periods_off=3):
    """All the kernel counted, divided by the period, within 2 %."""
    event, = [e for e in recording.info(COUNTERS + name)["events"] if e["name"] == event]
    assert recording.close(event["taken"], event["exact"] / event["base_period"], 0.02, 1)


def shares(samples):
    """How much of what a function and its callees took, of all that the three took."""
    weights = collections.Counter()
    for sample in samples:
        for frame in sample["stack"]:
            if frame["symbol"] in ("one", "three", "six"):
                weights[frame["symbol"]] += sample["weight"]
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def shares_are_right(samples):
    found = shares(samples)
    for name, share in (("one", 0.1), ("three", 0.3), ("six", 0.6)):
        assert recording.close(found[name], share, 0, 0.025), name
    return found


def cycles():
    taken_is_count_by_period("cycles.atr", "cycles")
    shares_are_right(recording.samples(COUNTERS + "cycles.atr"))


def same_report_there():
    """What a trace says does not depend on where it is read."""
    with open(COUNTERS + "cycles.report") as file:
        assert json.load(file) == recording.report(COUNTERS + "cycles.atr")


def as_perf_says():
    """perf record of the same program with the same period, in the same guest."""
    with open(COUNTERS + "perf.script") as file:
        lines = [line.split() for line in file if line.strip()]
    theirs = collections.Counter(line[-1] for line in lines if line[0] == "shares")
    samples = recording.samples(COUNTERS + "cycles.atr")
    ours = collections.Counter(s["stack"][0]["symbol"] for s in samples if s["comm"] == "shares")
    print(theirs, ours)
    assert recording.close(sum(ours.values()), sum(theirs.values()), 0.02, 2)
