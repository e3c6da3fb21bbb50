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
