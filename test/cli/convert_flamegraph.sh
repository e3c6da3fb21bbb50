#!/bin/sh
# The flame graph: well-formed, the numbers, and in a browser where there is one.
. "$(dirname "$0")/convert_traces"
check_format flamegraph .svg
if command -v xmllint >/dev/null; then
	for kind in plain hostile; do xmllint --noout $kind.svg || fail "not well-formed"; done
fi
grep -q '<script' hostile.svg && [ "$(grep -c '<script' hostile.svg)" = 1 ] || fail "one script"
# What is not drawn is counted, where it is to be seen.
"$build/unit/make_trace" big big.atr 100000
"$build/unit/make_trace" big none.atr 0
for kind in big none; do "$ADAPTRACE" convert -q --flamegraph $kind.atr; done
grep -q 'id="what".*>[1-9][0-9]* call paths are too narrow to be drawn' big.svg || fail "all is drawn"
if [ -z "$browser" ]; then
	echo "no chromium: its script was not run"
	pass
fi
share() { python3 -c 'import json, sys
f = json.load(open(sys.argv[1]))["events"][0]["functions"]
print("%.2f" % (100 * f[sys.argv[2]]["total"] / sum(x["self"] for x in f.values())))' "$@"; }
# Searched: its share, counted once; zoomed: its callers span the picture, others are gone.
in_browser "file://$work/plain.svg#search=^helper$" >searched
grep -q "matched: $(share plain.json helper) %" searched || fail "$(grep -o 'matched[^<]*' searched)"
in_browser "file://$work/plain.svg#zoom=2" >zoomed
grep -q 'class="f gone"' zoomed || fail "nothing is gone"
grep -q 'class="f below"' zoomed || fail "no caller is left"
[ "$(grep -o 'width="1200"' zoomed | wc -l)" -ge 2 ] || fail "the box does not span the picture"
in_browser "file://$work/plain.svg#search=(" >searched
grep -q 'not a regular expression' searched || fail "an expression that is none"
in_browser "file://$work/big.svg#search=function_number_19" >searched
grep -q 'matched: at least [1-9][0-9.]* %' searched || fail "what is not drawn cannot match"
# It opens with what everything began with, at its lower end, and its head is still there.
cat >low.html <<'END'
<iframe src=plain.svg height=100 onload="setTimeout(() =>
title = contentDocument.getElementById('bar').getAttribute('transform'), 1000)"></iframe>
END
in_browser "file://$work/low.html" >low
grep -q 'title="translate(0 [1-9]' low || fail "it opens with its upper end: $(cat low)"
in_browser "file://$work/none.svg#search=main&zoom=0" >searched
grep -q 'matched: 0.00 %' searched || fail "a share of nothing"
grep -q 'NaN' searched && fail "a picture of nothing is none"
in_browser "file://$work/hostile.svg#search=semi" >searched
grep -aq 'matched: ' searched || fail "the script does not survive the names"
grep -aq '<title>owned' searched && fail "a name was executed"
pass
