#!/bin/sh
# A CPU that is switched off or on meanwhile takes its events along, or has none: it is said. None is
# switched here: only what the kernel says of them changes.
. "$(dirname "$0")/scenario"
need_sampling
need_root "mount over what the kernel says"
online=/sys/devices/system/cpu/online
before=$(cat $online) && unshare -m mount --bind $online $online 2>/dev/null || skip "no mounts here"
echo "$before" >online

with() { # ONLINE RECORD-OPTION...
	meanwhile=$1; shift
	echo "$before" >online
	unshare -m sh -c "mount --bind online $online && exec \"\$@\"" sh "$ADAPTRACE" record "$@" \
		sh -c "sleep 0.3; echo $meanwhile >online; sleep 0.6; echo $before >online" 2>errors ||
		fail "record $*: $(cat errors)"
}
told() { grep -q '^adaptrace: a CPU was switched' errors; }
reported() {
	check <<'END'
import recording
assert recording.info()["missed_cpu"]
assert any("a CPU was switched" in warning for warning in recording.report()["warnings"])
END
}

with "$before" -e cpu-clock
told && fail "nothing happened, and $(cat errors)"
with "$before,100" -e cpu-clock --inherit
told || fail "one was switched on: $(cat errors)"
reported
with "$before,100" -e cpu-clock -C 0
told && fail "another CPU is of no interest: $(cat errors)"
[ "$before" = 0 ] && pass
with 0 -e cpu-clock -a
told || fail "one was switched off: $(cat errors)"
reported
# Those of tasks come back with the CPU.
with 0 -e cpu-clock --inherit
told && fail "inherited events are there again, and $(cat errors)"
# What ends on a CPU that nobody looks at has not gone to another cgroup.
taskset -c 1 true 2>/dev/null || pass
last=$before before=0
with "$last" -e cpu-clock taskset -c 1
told && ! grep 'another cgroup' errors || fail "one came on which the target ended: $(cat errors)"
pass
