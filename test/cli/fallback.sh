#!/bin/sh
# Without hardware counters the default is cpu-clock, said in one line; asked for by name they are
# an error with the way out.
. "$(dirname "$0")/scenario"
need_sampling

"$ADAPTRACE" record -q -e cycles:u -o counters.atr true 2>errors && skip "this machine counts cycles"
[ "$(wc -l <errors)" = 1 ] && grep -q "cycles:u.*cpu-clock" errors || fail "$(cat errors)"
"$ADAPTRACE" record "$TARGETS/burn" 0.1 >said 2>errors || fail "$(cat errors)"
[ "$(grep -c 'no hardware counters.*cpu-clock' errors)" = 1 ] || fail "$(cat errors)"
check <<'END'
import recording
event, = recording.info()["events"]
assert event["name"].split(":")[0] == "cpu-clock"
END
pass
