#!/bin/sh
# Recorders of one machine wake at the same instants, as those of the ranks of a job should, however
# often each of them has to. Their timers are set to multiples of fractions of 100 ms.
. "$(dirname "$0")/scenario"
command -v strace >/dev/null || skip "strace is not installed"
strace -o probe true 2>/dev/null || skip "strace may not trace here"

for name in busy asleep; do
	case $name in busy) set -- "$TARGETS/burn" 0.7 ;; *) set -- sleep 0.7 ;; esac
	strace -e trace=timerfd_settime -o "$name.calls" \
		"$ADAPTRACE" record -q -e cpu-clock -F 1000 -o "$name.atr" -- "$@" >/dev/null &
done
wait
check <<'END'
import re

def instants(name):
    with open(name + ".calls") as file:
        found = re.findall(r"TFD_TIMER_ABSTIME, .*?it_value=\{tv_sec=(\d+), tv_nsec=(\d+)\}", file.read())
    return {int(sec) * 10**9 + int(ns) for sec, ns in found}

busy, asleep = instants("busy"), instants("asleep")
print(len(busy), len(asleep), len(busy & asleep))
assert busy & asleep, (sorted(busy), sorted(asleep))
near = [(a, b) for a in busy for b in asleep if 0 < abs(a - b) < 1000000]
assert not near, near
END
pass
