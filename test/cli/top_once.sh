#!/bin/sh
# The functions of the last second and of the whole run, of a recording that goes on.
. "$(dirname "$0")/scenario"
need_sampling

start_recording -F 1000 -o adaptrace.atr "$TARGETS/shares" 100000 >/dev/null 2>errors
if grep -q "no room in /dev/shm" errors; then
	skip "no room in /dev/shm"
fi
target=$(target_of $recorder) || fail "no target"
sleep 1
"$ADAPTRACE" top --once >text 2>said || fail "top ended with $?: $(cat said)"
grep -q '^ *last 1 s  ± error  whole run  symbol  *module' text || fail "$(cat text)"
grep -q '% ± *[0-9.]*%  *[0-9.]*%  six  *shares' text || fail "$(cat text)"
for whom in $recorder $target; do
	"$ADAPTRACE" top --once --json --interval 2 $whom >json || fail "top $whom ended with $?"
	check <<'END'
import json

shown = json.load(open("json"))
assert shown["state"] == "recording" and shown["trace"].endswith("/adaptrace.atr"), shown["trace"]
assert shown["interval_ns"] == 2000000000, shown["interval_ns"]
assert shown["event"] == "cpu-clock" or shown["event"].startswith("cpu-clock"), shown["event"]
for part in (shown, shown["run"]):
    rows = {row["symbol"]: row for row in part["functions"]}
    assert part["samples"] > 10 and part["total_weight"] > 0, part["samples"]
    six = rows["six"]
    share, error = six["self"] / part["total_weight"], six["error"] / part["total_weight"]
    assert abs(share - 0.6) < 0.2 + 2 * error and error > 0, (share, error)
assert shown["run"]["samples"] >= shown["samples"]
END
done
# The image is another process's memory, and may hold anything.
python3 "$here/damage_image.py" adaptrace.atr "$TARGETS/shares" 100000 || fail "cannot damage the image"
"$ADAPTRACE" top --once >json 2>errors
[ $? = 1 ] && one_complaint errors "adaptrace.atr" || fail "of a damaged image: $(cat errors)"
python3 "$here/damage_image.py" adaptrace.atr "$TARGETS/shares" 100000 || fail "cannot mend the image"
"$ADAPTRACE" top --once >text 2>said || fail "after all: $(cat said)"
kill $recorder
wait $recorder
# Of a file the last second is shown.
"$ADAPTRACE" top --once --json adaptrace.atr >json || fail "top of a file ended with $?"
grep -q '"state":"ended"' json || fail "$(cat json)"

for whom in none.atr 999999999; do
	"$ADAPTRACE" top --once $whom 2>errors && fail "top of $whom"
	one_complaint errors "no recorder of yours" || fail "$(cat errors)"
done
"$ADAPTRACE" top --once --interval 0 2>errors
[ $? = 2 ] || fail "an interval of 0"
one_complaint errors "takes seconds" || fail "$(cat errors)"
pass
