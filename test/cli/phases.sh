#!/bin/sh
# A phase with very many call paths, as of a compiler, and a long one in a single place: the tree
# gives its room back to samples.
. "$(dirname "$0")/scenario"
need_sampling

recorded -m 64K -F 20000 sh -c '"$TARGETS/contexts" 100000 0.15; "$TARGETS/burn" 12' >said
measure <<'END'
import recording

info = recording.info()
memory = info["memory"]
print(memory, info["samples"])
assert len(info["reductions"]) >= 3, info["reductions"]
assert info["samples"]["folded_contexts"], "the tree was never full"
# The tree had more than half of the budget; the samples have most of it by now.
assert memory["contexts"] < 0.5 * memory["budget"], memory
# And the first phase is still there with its weight.
commands = {command["comm"]: command for command in info["commands"]}
chance = 3 * info["events"][0]["final_period"] * commands["contexts"]["stored"] ** 0.5 / 1e9
assert recording.close(commands["contexts"]["weight"] / 1e9, 0.3, 0.05, chance + recording.allowance(info))
# What comes after it has its stacks whole again.
samples = recording.samples()
late = samples[len(samples) * 3 // 4:]
rooted = [s for s in late if any(f["symbol"] == "main" for f in s["stack"])]
print(len(rooted), "of the last", len(late), "reach main")
assert len(rooted) > 0.9 * len(late)
END
pass
