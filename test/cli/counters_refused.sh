#!/bin/sh
# Counters that cannot be: one line that says what and the way out. A kernel that reads none with
# inherited events records without them, and says so.
. "$(dirname "$0")/scenario"
need_sampling

refused() { # COUNTERS WHAT-IS-SAID
	echo "-- $1"
	"$ADAPTRACE" record -q -e cpu-clock:u --counters "$1" true 2>err
	[ $? = 125 ] || fail "status is not 125"
	cat err
	one_complaint err "$2" || fail "not one line about it"
	[ ! -e adaptrace.atr ] || fail "something was recorded"
}

refused '' "needs a name"
refused no-such-event "unknown event"
refused page-faults,no-such-event "unknown event"
refused page-faults,minor-faults,major-faults,cpu-migrations,task-clock,page-faults:u,minor-faults:u,major-faults:u,task-clock:u \
	"at most 8"
refused page-faults,task-clock,page-faults "twice"
refused cpu-clock:u "sampled already"
"$ADAPTRACE" list -h >/dev/null 2>&1
if ! "$ADAPTRACE" record -q -e cycles true 2>/dev/null; then
	rm -f adaptrace.atr
	refused cycles "cannot open event 'cycles"
fi
rm -f adaptrace.atr

# As Linux before 6.12: no PERF_SAMPLE_READ (1 << 4) in inherited events.
command -v cc >/dev/null || skip "no compiler for the rest"
cat >old.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

long syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	const struct perf_event_attr *attr = (const void *)a;

	if (number == SYS_perf_event_open && attr->inherit && attr->sample_type & PERF_SAMPLE_READ) {
		errno = EINVAL;
		return -1;
	}
	return next(number, a, b, c, d, e, f);
}
END
cc -shared -fPIC -o old.so old.c -ldl || fail "cannot build"
LD_PRELOAD=$PWD/old.so "$ADAPTRACE" record -q --inherit -e cpu-clock:u --counters page-faults:u \
	"$TARGETS/faults" 1 3 2>err >said || fail "recording failed: $(cat err)"
one_complaint err "Linux 6.12" || fail "not said: $(cat err)"
check <<'END'
import recording
assert recording.info()["counters"] == []
samples = recording.samples()
assert samples and all(s["counters"] == {} for s in samples)
END
pass
