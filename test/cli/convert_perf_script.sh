#!/bin/sh
# The text of perf script: its form, and FlameGraph's own script where it is installed.
. "$(dirname "$0")/convert_traces"
check_format perf-script .perf.txt
# One event, for readers that believe that the first is the only one.
for event in cpu-clock page-faults; do
	"$ADAPTRACE" convert --perf-script -e $event -o one plain.atr
	grep -Eo '[a-z-]+: $' one | sort -u | grep -qx "$event: " || fail "no $event"
	[ "$(grep -c "$event: \$" one)" = "$(grep -c "$event: \$" plain.perf.txt)" ] || fail "not all of $event"
	[ "$(grep -c ': $' one)" = "$(grep -c "$event: \$" one)" ] || fail "not $event alone"
	rm one
done
collapse=$(command -v stackcollapse-perf.pl || ls /usr/share/flamegraph/stackcollapse-perf.pl 2>/dev/null || true)
if [ -n "$collapse" ]; then
	"$ADAPTRACE" convert --folded plain.atr
	"$collapse" --event-filter=cpu-clock plain.perf.txt | sort >collapsed
	sort plain.folded | diff - collapsed || fail "$collapse sees other stacks"
else
	echo "stackcollapse-perf.pl is not installed"
fi
pass
