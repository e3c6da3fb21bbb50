#!/bin/sh
# Where two functions call the same deep code by turns, a copied piece of the stack looks the same
# under both: no time of the one is told as the other's. Copies grow, and tell both; of those that may
# not, many stacks are cut.
. "$(dirname "$0")/scenario"
need_sampling

callers() { # OPTIONS...
	recorded -F 2000 "$@" "$TARGETS/callers" 20
	"$ADAPTRACE" dump --json >samples.json || fail "dump"
	check "$*" <<'END'
import json
import sys

samples = [json.loads(line) for line in open("samples.json")]
total = sum(sample["weight"] for sample in samples)
shares = dict.fromkeys(["third", "two_thirds", None], 0.0)
for sample in samples:
    names = {frame["symbol"] for frame in sample["stack"]}
    found = names & {"third", "two_thirds"} or {None}
    shares[found.pop()] += sample["weight"] / total
print(sys.argv[1], len(samples), "samples:", shares)
assert shares["third"] < 1 / 3 + 0.06
assert shares["two_thirds"] < 2 / 3 + 0.06
assert shares[None] < 0.2 or sys.argv[1]
END
}

callers
callers -g dwarf,16384
pass
