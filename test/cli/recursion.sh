#!/bin/sh
# Recursion deeper than any stack that is copied: the samples are all there, their callers end in
# [truncated] or reach main, and --max-stack limits what is kept.
. "$(dirname "$0")/scenario"
need_sampling

deep() { # DEEPEST ARGUMENTS...
	deepest=$1; shift
	echo "-- $*"
	recorded -m 1M -F 1000 "$@" "$TARGETS/contexts" -r 5000 0.4 >said
	measure "$deepest" <<'END'
import sys
import recording

samples = recording.samples()
used, = recording.said()["used"]
total = sum(s["weight"] for s in samples)
assert recording.close(total / 1e9, used, 0.03, recording.allowance(recording.info()))
depths = [sum(f["symbol"] == "recurse" for f in s["stack"]) for s in samples]
print("deepest", max(depths), "of", len(samples))
assert 20 < max(depths) <= int(sys.argv[1])
for sample in samples:
    reached = any(f["symbol"] in ("main", "_start") for f in sample["stack"])
    inside = any(f["symbol"] == "recurse" for f in sample["stack"])
    cut = sample["stack"][-1]["symbol"] == "[truncated]"
    assert not inside or reached or cut, str(sample)[:1000]
    assert not cut or not sample["complete"], str(sample)[:1000]
# A function that calls itself has its time once in its total.
report = recording.report()
row, = [row for row in report["functions"] if row["symbol"] == "recurse"]
assert row["self"] < row["total"] <= report["total_weight"]
END
}

deep 1024
deep 1024 -g fp
deep 100 --max-stack=100
deep 1024 --inherit
pass
