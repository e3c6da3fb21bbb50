#!/bin/sh
# Callgrind's format, read by callgrind_annotate.
. "$(dirname "$0")/convert_traces"
command -v callgrind_annotate >/dev/null || skip "no callgrind_annotate (valgrind)"
check_format callgrind .callgrind.out
callgrind_annotate --inclusive=yes plain.callgrind.out >inclusive || fail "no inclusive costs"
grep -q 'main' inclusive || fail "callers cost nothing"
# Functions that call themselves and each other, and that are called and begin stacks.
"$build/unit/make_trace" again again.atr
"$ADAPTRACE" convert --callgrind again.atr
for kind in plain reduced again; do
	"$ADAPTRACE" report --json $kind.atr >report.json
	python3 "$here/convert_check.py" inclusive $kind.callgrind.out report.json
done
pass
