#!/bin/sh
# Inherited events cannot be opened once more to copy more of deep stacks. So they copy from the start
# what an ordinary user's rings have room for; not where the user said how much.
. "$(dirname "$0")/scenario"
need_sampling

mkdir open && chmod 777 open && cd open || exit 1
cut_share() { # LEAST MOST OPTIONS...: of the stacks that do not reach their root
	least=$1 most=$2
	shift 2
	as_user "$ADAPTRACE" record -q --inherit --max-overhead 0 "$@" \
		"$TARGETS/deep" 1.5 2>errors || fail "record $*: $(cat errors)"
	as_user "$ADAPTRACE" dump --json >samples.json || fail "dump"
	check "$least" "$most" <<'END'
import json
import sys

least, most = map(float, sys.argv[1:])
samples = [json.loads(line) for line in open("samples.json")]
share = sum(not sample["complete"] for sample in samples) / len(samples)
print(len(samples), "samples, cut:", share)
assert len(samples) > 400
assert least <= share <= most
END
}

cut_share 0.02 0.2 -F 1000 -g dwarf,16K
# Rings of 512 KiB, which this permits on a few CPUs, have room for 1 kHz.
locked=$(ulimit -l)
if [ "$locked" = unlimited ] || [ "$locked" -ge 8192 ] && [ "$(nproc --all)" -le 16 ]; then
	cut_share 0 0.004 -F 1000
fi
# The smallest rings that are usual are for fewer samples.
if [ "$(cat /proc/sys/kernel/perf_event_mlock_kb)" -ge 516 ]; then
	ulimit -l 0
	cut_share 0 0.004 -F 400
fi
pass
