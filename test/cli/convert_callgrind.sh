# Callgrind's format, read by callgrind_annotate.
. test/cli/convert_traces.inc
command -v callgrind_annotate >/dev/null || skip "no callgrind_annotate (valgrind)"
check_format callgrind .callgrind.out
callgrind_annotate --inclusive=yes plain.callgrind.out >inclusive || fail "no inclusive costs"
grep -q 'main' inclusive || fail "callers cost nothing"
exit 0
