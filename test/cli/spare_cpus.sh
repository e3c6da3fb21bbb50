#!/bin/sh
# The recorder of a rank that its launcher bound to a CPU may use the others, too; the rank may not.
# Whoever binds a recorder without a launcher keeps it where it is.
. "$(dirname "$0")/scenario"
[ "$(nproc)" -gt 1 ] || skip "there is one CPU"
first=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
all=$(python3 -c 'import os; print(len(os.sched_getaffinity(0)))')

cat >look.py <<'END'
import os
print(len(os.sched_getaffinity(0)), len(os.sched_getaffinity(os.getppid())))
END
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 taskset -c "$first" \
	"$ADAPTRACE" record -q -e cpu-clock -o rank.atr python3 look.py >rank || fail "rank: $?"
taskset -c "$first" "$ADAPTRACE" record -q -e cpu-clock -o bound.atr python3 look.py >bound ||
	fail "bound: $?"
read -r rank recorder <rank
[ "$rank" = 1 ] || fail "the rank may use $rank CPUs"
[ "$recorder" -ge "$all" ] || fail "the recorder of a rank may use $recorder CPUs of $all"
[ "$(cat bound)" = "1 1" ] || fail "a recorder that was bound: $(cat bound)"
pass
