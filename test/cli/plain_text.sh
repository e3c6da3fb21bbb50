#!/bin/sh
# Where the locale is not of UTF-8 no command writes anything but ASCII as text; files for other
# tools are the same as ever.
. "$(dirname "$0")/scenario"
need_sampling

ascii() { ! LC_ALL=C grep -q '[^ -~	]' "$1" || fail "$2: $(LC_ALL=C grep -m1 '[^ -~	]' "$1")"; }
# LOCALE COMMAND...
plain() {
	locale=$1; shift
	# shellcheck disable=SC2068
	LC_ALL=$locale "$ADAPTRACE" $@ >text 2>&1 || fail "$*: $(cat text)"
	ascii text "$*"
}

LC_ALL=C "$ADAPTRACE" record -g dwarf -o x.atr "$TARGETS/threads" 2 0.5 >/dev/null 2>said || fail "record"
ascii said "record"
grep -q ' -> x.atr' said || fail "no end line: $(cat said)"
cp x.atr y.atr
for locale in C POSIX; do
	for view in --tree --per-thread --callers=hash_block "--annotate hash_block" "--sort line"; do
		plain $locale report $view x.atr
	done
	for command in "report x.atr" "info x.atr" "dump x.atr" "diff x.atr y.atr" list doctor; do
		plain $locale $command
	done
done
LC_ALL=C "$ADAPTRACE" report x.atr | grep -q '% +-' || fail "no error bars"
LC_ALL=C.UTF-8 "$ADAPTRACE" report x.atr | grep -q '% ±' || fail "no UTF-8"
# A text that is cut, a writer that cannot write.
LC_ALL=C "$ADAPTRACE" dump x.atr | head -1 >/dev/null
if [ -e /dev/full ]; then
	LC_ALL=C "$ADAPTRACE" report x.atr >/dev/full 2>said && fail "a full device"
	one_complaint said 'No space left' || fail "said: $(cat said)"
fi
for format in flamegraph chrome folded; do
	for locale in C C.UTF-8; do
		LC_ALL=$locale "$ADAPTRACE" convert -q -f --$format -o $locale.out x.atr || fail $format
	done
	cmp C.out C.UTF-8.out || fail "$format differs"
done
LC_ALL=C "$ADAPTRACE" report --json x.atr >c.json && LC_ALL=C.UTF-8 "$ADAPTRACE" report --json x.atr >u.json
cmp c.json u.json || fail "JSON differs"
pass
