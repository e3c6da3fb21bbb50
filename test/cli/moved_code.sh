#!/bin/sh
# A program that moved its code to other memory is the same program; what it put in the place of its
# code, and is something else, has no name.
. "$(dirname "$0")/scenario"
need_sampling

for what in '' other; do
	for way in '' --inherit; do
		echo "-- $what $way"
		recorded $way -m 1M -F 1000 "$TARGETS/moved" 0.3 $what
		check $what <<'END'
import sys
import recording

burning = []
for sample in recording.samples():
    symbols = [frame["symbol"] for frame in sample["stack"]]
    if "burn_until" in symbols:
        burning.append(sample["stack"][symbols.index("burn_until") + 1])
assert len(burning) > 100, len(burning)
named = [frame for frame in burning if frame["symbol"] == "moved_work"]
unnamed = [frame for frame in burning if frame["module"] == "[anon]"]
wanted = unnamed if sys.argv[1:] else named
assert len(wanted) == len(burning), (len(named), len(unnamed), len(burning))
END
	done
done
pass
