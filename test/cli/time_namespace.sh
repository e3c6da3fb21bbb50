#!/bin/sh
# In a time namespace, as containers may have one, clocks are not those of the kernel's records:
# nothing is late, lost or long for that.
. "$(dirname "$0")/scenario"
need_sampling
unshare --time --monotonic 5 --fork true 2>/dev/null || skip "no time namespace can be made here"

for seconds in 1000 -20; do
	head -1 /proc/stat >stat
	unshare --time --monotonic $seconds --boottime $seconds --fork \
		"$ADAPTRACE" record -q --max-overhead 0 -F 1000 "$TARGETS/burn" 0.5 >said ||
		fail "record ended with $?"
	measure <<'END'
import recording
info = recording.info()
print(info["wall_ns"], info["drain_latency_ns"], info["samples"])
assert info["samples"]["lost"] == 0
assert info["wall_ns"] < 20e9 and info["drain_latency_ns"] < 10e9
assert recording.close(info["commands"][-1]["weight"] / 1e9, 0.5, 0.1, recording.allowance(info))
END
done
pass
