#!/bin/sh
# The text of perf script: its form, and FlameGraph's own script where it is installed.
. "$(dirname "$0")/convert_traces"
check_format perf-script .perf.txt
collapse=$(command -v stackcollapse-perf.pl || ls /usr/share/flamegraph/stackcollapse-perf.pl 2>/dev/null || true)
if [ -n "$collapse" ]; then
	"$ADAPTRACE" convert --folded plain.atr
	"$collapse" --event-filter=cpu-clock plain.perf.txt | sort >collapsed
	sort plain.folded | diff - collapsed || fail "$collapse sees other stacks"
else
	echo "stackcollapse-perf.pl is not installed"
fi
pass
