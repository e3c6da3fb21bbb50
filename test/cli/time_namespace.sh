#!/bin/sh
# In a time namespace, as containers may have one, clocks are not those of the kernel's records:
# nothing is late, lost or long for that.
. "$(dirname "$0")/scenario"
need_sampling
unshare --time --monotonic 5 --fork true 2>/dev/null || skip "no time namespace can be made here"
# Some of unshare's versions take no offset below 0.
offsets='1000 -20'
unshare --time --monotonic -20 --fork true 2>/dev/null || offsets=1000

for seconds in $offsets; do
	head -1 /proc/stat >stat
	unshare --time --monotonic $seconds --boottime $seconds --fork \
		"$ADAPTRACE" record -q --max-overhead 0 -F 1000 "$TARGETS/burn" 0.5 >said ||
		fail "record ended with $?"
	measure <<'END'
import recording
info = recording.info()
print(info["wall_ns"], info["drain_latency_ns"], info["samples"])
assert info["samples"]["lost"] == 0
assert info["wall_ns"] < 20e9 and info["drain_latency_ns"] < 10e9
assert recording.close(info["commands"][-1]["weight"] / 1e9, 0.5, 0.1, recording.allowance(info))
END
done

# Nor do calls, where the target reads the kernel's clock and has another one than the recorder.
cat >regions.c <<'END'
#include <adaptrace.h>
#include <unistd.h>
int main(void)
{
	ADAPTRACE_BEGIN("region");
	usleep(200000);
	ADAPTRACE_END("region");
	return 0;
}
END
cc -I"$here/../../include" -o regions regions.c || fail "cc"
echo hpet >clocksource
clock=/sys/devices/system/clocksource/clocksource0/current_clocksource
unshare --mount mount --bind clocksource $clock 2>/dev/null || pass
for seconds in $offsets; do
	unshare --mount sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' clocksource $clock \
		"$ADAPTRACE" record -q --mpi -e cpu-clock:u \
		unshare --time --monotonic $seconds --fork ./regions || fail "record ended with $?"
	measure <<'END'
import json, recording, time
dump = map(json.loads, recording.output_of("dump", "--json").splitlines())
call, = [line for line in dump if "call" in line]
ago = time.monotonic_ns() - call["time_ns"]
print(call, ago)
assert 0.2e9 <= call["end_ns"] - call["time_ns"] <= ago < 15e9, call
END
done
pass
