# Trace Event JSON: slices nest, and hold what their functions took.
. test/cli/convert_traces.inc
check_format chrome .trace.json
grep -q '"since then":"cpu-clock: period 194162, memory"' reduced.trace.json || fail "no reductions"
if command -v profiler-cli >/dev/null; then # it imports this format, too
	export HOME="$dir"
	for kind in reduced hostile; do
		profiler_load $kind.trace.json || fail "the profiler: $(cat log)"
		profiler-cli stop --all >/dev/null
	done
fi
exit 0
