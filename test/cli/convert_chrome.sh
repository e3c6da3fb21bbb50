#!/bin/sh
# Trace Event JSON: slices nest, and hold what their functions took.
. "$(dirname "$0")/convert_traces"
check_format chrome .trace.json
grep -q '"since then":"cpu-clock: period 194162, memory"' reduced.trace.json || fail "no reductions"
if command -v profiler-cli >/dev/null; then # it imports this format, too
	export HOME="$work"
	for kind in reduced hostile; do
		load_profile $kind.trace.json || { echo "the profiler does not start"; pass; }
		profiler-cli stop --all >/dev/null
	done
fi
pass
