#!/bin/sh
# Where memory is refused to a reader, wherever that is, it says so and fails: there is no JSON that
# is not whole and yet passes for it. A recorder names the limit.
. "$(dirname "$0")/scenario"
need_sampling

recorded -m 256K -o x.atr python3 -c '
def down(n): return sum(range(100)) if n == 0 else down(n - 1)
for i in range(3000): down(i % 90)'

limited() { # KIB ARGUMENTS...
	(ulimit -v "$1" && shift && exec "$ADAPTRACE" "$@" x.atr >out 2>said)
}
for what in "dump --json" "report --json --tree" "info --json"; do
	"$ADAPTRACE" $what x.atr >whole || fail "$what"
	too_little=2000 enough=1000000
	limited $enough $what || skip "no limits here: $(cat said)"
	while [ $((enough - too_little)) -gt 64 ]; do
		middle=$(((enough + too_little) / 2))
		limited $middle $what && enough=$middle || too_little=$middle
	done
	refused=0
	for step in $(seq 0 60); do
		limited $((enough - 32 * step)) $what
		status=$?
		case $status in
		0) cmp out whole || fail "$what, $((32 * step)) KiB too little: not whole" ;;
		1) one_complaint said 'Cannot allocate memory' || fail "$what said: $(cat said)"
		   refused=$((refused + 1)) ;;
		2 | 127) [ ! -s out ] || fail "$what began before it had its libraries" ;;
		*) fail "$what, $((32 * step)) KiB too little: $status, $(cat said)" ;;
		esac
	done
	[ $refused -gt 10 ] || fail "$what was refused memory $refused times"
done
(ulimit -d 20000; "$ADAPTRACE" record -q -e cpu-clock:u -o y.atr -m 256K true 2>said)
[ $? = 125 ] && grep -q "Cannot allocate memory.* ulimit -d unlimited" said || fail "$(cat said)"
pass
