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
advised_with() { # KIB
	(
		ulimit -l "$1"
		setpriv --reuid $((100000 + $$)) --regid 65534 --clear-groups --inh-caps=-all \
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
fi

# Nor may the same user record twice at once then, and is told why.
ulimit -l 0
as_user "$ADAPTRACE" record -q -o first.atr sh -c ': >on; while test -e on; do sleep 0.1; done' &
await test -e on
as_user "$ADAPTRACE" record -q -o second.atr true 2>second
status=$?
rm on
wait
cat second
if [ "$(cat /proc/sys/kernel/perf_event_mlock_kb)" = 516 ]; then
	[ "$status" = 125 ] || fail "two at once: $status"
	complaints second | grep -q 'other recordings.*ulimit -l' || fail "nothing was said"
fi
pass
