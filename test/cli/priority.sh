#!/bin/sh
# The recorder has a better nice value than its target: -10, or one better than a target's that is
# better than that already.
. "$(dirname "$0")/scenario"
own=$(nice)
nice_of_recorder() { # NICE
	nice -n $(($1 - own)) "$ADAPTRACE" record -q -e cpu-clock -F 100 -o nice.atr \
		sh -c 'cut -d" " -f19 "/proc/$PPID/stat"' || fail "record ended with $?"
}
[ "$(nice -n $((-20 - own)) nice 2>/dev/null)" = -20 ] || skip "nice values may not be improved here"
for pair in 0:-10 5:-10 -12:-13 -20:-20; do
	found=$(nice_of_recorder "${pair%:*}")
	[ "$found" = "${pair#*:}" ] || fail "nice ${pair%:*}: the recorder has $found, not ${pair#*:}"
done
pass
