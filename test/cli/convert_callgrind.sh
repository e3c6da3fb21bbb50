#!/bin/sh
# Callgrind's format, read by callgrind_annotate.
. "$(dirname "$0")/convert_traces"
command -v callgrind_annotate >/dev/null || skip "no callgrind_annotate (valgrind)"
check_format callgrind .callgrind.out
callgrind_annotate --inclusive=yes plain.callgrind.out >inclusive || fail "no inclusive costs"
grep -q 'main' inclusive || fail "callers cost nothing"
pass
