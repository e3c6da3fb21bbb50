#!/bin/sh
# A hundred thousand call paths in a small budget: enough samples stay for a profile, and paths that
# found no room are shown as [truncated], not dropped and not merged in silence.
. "$(dirname "$0")/scenario"
need_sampling

rate=$(rate 20000)
seconds=$(lasting 6000 "$rate")
recorded -m 128K -F "$rate" "$TARGETS/contexts" 100000 "$seconds" >said
measure <<'END'
import recording

info = recording.info()
memory = info["memory"]
print(memory, info["samples"])
assert memory["used"] <= memory["budget"] and info["samples"]["stored"] >= 1000
assert info["samples"]["folded_contexts"] > 0
assert any("[truncated]" in warning for warning in recording.report()["warnings"])
samples = recording.samples()
truncated = [s for s in samples if any(f["symbol"] == "[truncated]" for f in s["stack"])]
assert len(truncated) > len(samples) / 10, (len(truncated), len(samples))
# Their time is in the totals, in spite of it.
used, = recording.said()["used"]
total = sum(s["weight"] for s in samples)
assert recording.close(total / 1e9, used, 0.03, recording.allowance(info))
END
"$ADAPTRACE" report | grep -q '\[truncated\]' || fail "the report does not show it"
"$ADAPTRACE" report --tree | grep -q '\[truncated\]' || fail "the tree does not show it"

# Nor when it is the buffer of a merged trace that has no room.
recorded -m 16M -F "$rate" -o roomy.atr "$TARGETS/contexts" 100000 "$seconds" >said
"$ADAPTRACE" report roomy.atr | grep -q '\[truncated\]' && fail "no room in 16 MiB"
"$ADAPTRACE" merge -m 64K -o narrow.atr roomy.atr
"$ADAPTRACE" report narrow.atr | grep -q 'warning: .*found no room and end in \[truncated\]' ||
	fail "merging cut call paths in silence"
pass
