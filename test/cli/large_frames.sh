#!/bin/sh
# A function with more variables on the stack than any sample copies is shown with its callers, and
# so is what it calls.
. "$(dirname "$0")/scenario"
need_sampling
need_root "read the memory of processes"

recorded -F 2000 "$TARGETS/large" 1.5
check <<'END'
import collections
import recording

found = collections.Counter()
for sample in recording.samples():
    names = [frame["symbol"] for frame in sample["stack"]]
    for leaf in ("work", "sweep"):
        if leaf in names:
            found[leaf] += 1
            rest = names[names.index("work") + 1:names.index("work") + 3] if "work" in names else []
            found[leaf, "complete"] += sample["complete"] and rest == ["solve", "main"]
            found["wrong"] += sample["complete"] and rest != ["solve", "main"]
print(found)
assert found["work"] > 200 and found["sweep"] > 100
# What was sampled before its callers were seen twice has none.
assert found["work", "complete"] > 0.8 * found["work"]
assert found["sweep", "complete"] > 0.8 * found["sweep"]
assert not found["wrong"]
END
pass
