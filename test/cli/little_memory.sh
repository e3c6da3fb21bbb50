#!/bin/sh
# Where memory is refused to a reader, wherever that is, it says so and fails: there is no JSON that
# is not whole and yet passes for it. A recorder names the limit.
. "$(dirname "$0")/scenario"
need_sampling

# A limit of the cgroup, as containers and jobs have: the kernel would kill a recorder beyond it.
cat >limited <<'END'
set -e
at=$(sed -n 's/^\S* \S* \S* \S* \(\S*\) .* - cgroup2 .*/\1/p' /proc/self/mountinfo | head -1)
[ "$at" ] && mount -t tmpfs none "$at" || exit 77
own=$at$(sed -n 's/^0:://p' /proc/self/cgroup)
mkdir -p "$own" && echo max >"$own/memory.max" && echo 41943040 >"$at/memory.max"
exec "$@"
END
if [ "$(id -u)" = 0 ] && unshare -m sh limited true 2>/dev/null; then
	unshare -m sh limited "$ADAPTRACE" record -q -e cpu-clock:u true 2>said || fail "$(cat said)"
	one_complaint said 'limit of 40 MiB .* take 116: .*try -m 12M$' || fail "said: $(cat said)"
	unshare -m sh limited "$ADAPTRACE" record -q -e cpu-clock:u -m 12M true 2>said
	[ ! -s said ] || fail "said of enough: $(cat said)"
	unshare -m sh limited "$ADAPTRACE" doctor >said
	grep -q '^limited  memory: .*40 MiB' said || fail "doctor: $(cat said)"
fi

recorded -m 256K -o x.atr python3 -c '
def down(n): return sum(range(100)) if n == 0 else down(n - 1)
for i in range(3000): down(i % 90)'

limited() { # KIB ARGUMENTS...
	(ulimit -v "$1" && shift && exec "$ADAPTRACE" "$@" x.atr >out 2>said)
}
starts() { # KIB: below, the dynamic loader gives up, or crashes
	(ulimit -v "$1" && exec "$ADAPTRACE" --version >out 2>said)
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
		starts $((enough - 32 * step)) || break
		limited $((enough - 32 * step)) $what
		status=$?
		case $status in
		0) cmp out whole || fail "$what, $((32 * step)) KiB too little: not whole" ;;
		1) one_complaint said 'Cannot allocate memory' || fail "$what said: $(cat said)"
		   refused=$((refused + 1)) ;;
		2) one_complaint said 'read the options' && [ ! -s out ] || fail "$what: $(cat said)" ;;
		*) fail "$what, $((32 * step)) KiB too little: $status, $(cat said)" ;;
		esac
	done
	[ $refused -gt 10 ] || fail "$what was refused memory $refused times"
done
(ulimit -d 20000; "$ADAPTRACE" record -q -e cpu-clock:u -o y.atr -m 256K true 2>said)
[ $? = 125 ] && grep -q "Cannot allocate memory.* ulimit -d unlimited" said || fail "$(cat said)"
pass
