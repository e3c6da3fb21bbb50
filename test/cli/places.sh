#!/bin/sh
# Events of a place: every call of a function, return from it, write to a variable is one sample,
# with the callers; what cannot be is said.
. "$(dirname "$0")/scenario"
need_sampling

program=$TARGETS/fixed_work
"$ADAPTRACE" record -q -e uprobe:"$program":wrok "$program" work 1 2>errors && fail "wrok"
one_complaint errors "no such function in the file; did you mean 'work'" || fail "$(cat errors)"
"$ADAPTRACE" record -q -e uprobe:/nonexistent:f true 2>errors && fail "/nonexistent"
one_complaint errors "No such file" || fail "$(cat errors)"
"$ADAPTRACE" record -q -e mem:0x1003/4 true 2>errors && fail "odd address"
one_complaint errors "multiple of the length" || fail "$(cat errors)"
as_user "$ADAPTRACE" record -q -e uprobe:"$program":work -o /dev/null "$program" work 1 2>errors &&
	fail "an ordinary user's probe"
one_complaint errors "probes in .* take root or CAP_PERFMON" || fail "$(cat errors)"
"$ADAPTRACE" doctor | grep -q '^works    uprobes' || skip "no uprobes may be opened here"

# As many as there are, whoever is asked: 30 rounds are 30 calls of work, 19 of descend.
for probe in uprobe:"$program":work uretprobe:"$program":work \
	"uprobe:$program:0x$(nm "$program" | awk '/ work$/ { print $1 }')"; do
	recorded -e "$probe" -m 1M "$program" work 30
	check "$probe" <<'END'
import sys
import recording
event, = recording.info()["events"]
samples = recording.samples()
assert event["name"] == sys.argv[1], event
assert event["taken"] == event["stored"] == len(samples) == 30, event
callers = {s["stack"][0 if "uret" in sys.argv[1] else 1]["symbol"] for s in samples}
assert callers == {"descend"}, callers
assert all(s["stack"][-1]["symbol"] == "_start" for s in samples)
END
done
recorded -e uprobe:"$program":work+0:u -e uprobe:"$program":descend:period=19 -m 1M "$program" work 30
check <<'END'
import recording
within, descend = recording.info()["events"]
assert within["taken"] == 30 and 27 <= descend["taken"] <= 30, (within, descend)
assert recording.report()["functions"], "no functions"
END

# A variable and an instruction, where addresses are not random: 20 writes a round, and those of the
# kernel that clear it.
setarch -R true 2>/dev/null || pass
# Some virtual machines open breakpoints that never occur.
cat >breakpoint.c <<'END'
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long watched;

int main(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr),
	                               .bp_type = HW_BREAKPOINT_W, .bp_addr = (unsigned long)&watched,
	                               .bp_len = sizeof(watched), .exclude_kernel = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	long count = 0;

	watched = 1;
	return read(fd, &count, sizeof(count)) != sizeof(count) || count != 1;
}
END
cc -o breakpoint breakpoint.c || fail "breakpoint.c"
./breakpoint || skip "breakpoints do not work here"
at() { printf '0x%x' $((0x555555554000 + 0x$(nm "$program" | awk -v name="$1" '$3 == name { print $1 }'))); }
for event in "mem:$(at sink)/8:w:u 600" "mem:$(at work):x 30" "mem:$(at work):x:u 30"; do
	set -- $event
	record -e "$1" -m 1M -o mem.atr setarch -R "$program" work 30 2>errors || {
		grep -q 'breakpoint' errors && skip "no breakpoint registers here"
		fail "$1: $(cat errors)"
	}
	check "$@" <<'END'
import sys
import recording
event, = recording.info("mem.atr")["events"]
assert event["taken"] == int(sys.argv[2]), event
assert all(s["stack"][0]["symbol"] in ("work", "descend", "main") for s in recording.samples("mem.atr"))
END
done
pass
