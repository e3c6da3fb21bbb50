#!/bin/sh
# With little locked memory the rings shrink, it is said, and the recording goes on.
. "$(dirname "$0")/scenario"
need_sampling

mkdir open && chmod 777 open && cd open || exit 1
head -1 /proc/stat >stat
( ulimit -l 0; as_user "$ADAPTRACE" record -q "$TARGETS/quarters" 2 0.2 >said 2>errors ) ||
	fail "no locked memory: $(cat errors)"
cat errors
# Without this much at least, per_event_mlock_kb has run out, or the user is privileged.
if [ "$(cat /proc/sys/kernel/perf_event_mlock_kb)" -le 516 ]; then
	complaints errors | grep -q 'locked memory.*ulimit -l' || fail "nothing was said"
fi
as_user "$ADAPTRACE" info --json >info.json || fail "info"
measure <<'END'
import json
import recording
info = json.load(open("info.json"))
used, = recording.said()["used"]
assert recording.close(sum(c["weight"] for c in info["commands"]) / 1e9, used, 0.1,
                       recording.allowance(info))
END

# What is advised is enough, and no more than that. Of a user who has no other rings.
advised_with() { # KIB [COMMAND...]
	(
		ulimit -l "$1"
		shift
		"$@" setpriv --reuid $((100000 + $$)) --regid 65534 --clear-groups --inh-caps=-all \
			"$ADAPTRACE" record -q -o advised.atr true 2>errors
	)
	sed -n 's/.*locked memory allow.*ulimit -l //p' errors
}
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_mlock_kb)" = 516 ]; then
	advised=$(advised_with 0)
	[ "$advised" -gt 0 ] || fail "nothing was advised: $(cat errors)"
	less=$((advised - 8))
	if (ulimit -l "$advised") 2>/dev/null; then
		[ -z "$(advised_with "$advised")" ] || fail "$advised KiB are not enough"
	else
		less=$(ulimit -l)
	fi
	[ -n "$(advised_with "$less")" ] || fail "$less KiB are enough, and $advised were advised"
	# Not for large rings on CPUs that a rank of a job is not bound to.
	if [ "$(nproc)" -gt 1 ]; then
		cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
		bound=$(advised_with 0 env PMI_RANK=0 taskset -c "$cpu")
		[ "$bound" -lt $((advised * 2 / 3)) ] || fail "$bound, not bound $advised"
	fi
fi

# Nor may the same user record as often as he likes then, and is told why.
record_while_on() {
	( ulimit -l 0; as_user "$ADAPTRACE" record -q -o "$1.atr" sh -c ": >$1.on
		while test -e $1.on; do sleep 0.1; done" 2>"$1" ) &
	await test -e "$1.on"
}
record_while_on first
if [ "${advised:-0}" -gt 0 ] && (ulimit -l "$advised") 2>/dev/null; then
	( ulimit -l "$advised"; as_user "$ADAPTRACE" record -q -o held.atr true 2>held )
	complaints held | grep -q 'other recordings.*smaller.*ulimit -l' || held=$(cat held)
fi
record_while_on second
( ulimit -l 0; as_user "$ADAPTRACE" record -q -o third.atr true 2>third )
status=$?
rm first.on second.on
wait
cat second third
[ -z "${held:-}" ] || fail "rings of what first left: '$held'"
if [ "$(cat /proc/sys/kernel/perf_event_mlock_kb)" = 516 ] && [ "$(nproc --all)" -gt 1 ]; then
	[ "$status" = 125 ] || fail "three at once: $status"
	complaints third | grep -q 'other recordings.*ulimit -l' || fail "nothing was said"
fi
pass
