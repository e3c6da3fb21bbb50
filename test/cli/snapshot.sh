#!/bin/sh
# A snapshot holds what the recorder had at that moment, all of it, and the recorder goes on.
. "$(dirname "$0")/scenario"
need_sampling

start_recording -m 256K -F 10000 -o x.atr "$TARGETS/contexts" 100000 3 2>errors
if grep -q "no room in /dev/shm" errors; then
	skip "no room in /dev/shm"
fi
for i in 1 2 3 4 5; do
	"$ADAPTRACE" snapshot -o s$i.atr x.atr 2>said || fail "snapshot ended with $?: $(cat said)"
	grep -q "the run so far, .* → s$i.atr" said || fail "$(cat said)"
	sleep 0.4
done
wait $recorder || fail "record ended with $?"
check <<'END'
import recording

END_OF_RING = 500000000 # ns that a sample may wait to be taken in

last = {(s["time_ns"], s["tid"]): s for s in recording.samples("x.atr")}
info = recording.info("x.atr")
assert not info["snapshot"] and info["samples"]["malformed"] == 0, info
before = None
for name in ("s1.atr", "s2.atr", "s3.atr", "s4.atr", "s5.atr"):
    info = recording.info(name)
    samples = recording.samples(name)
    assert info["snapshot"] and not info["recovered"] and info["exit_status"] is None, info
    assert info["memory"]["records"] is None, info["memory"]
    assert info["samples"]["malformed"] == 0, info["samples"]
    assert len(samples) == info["samples"]["stored"] <= info["samples"]["taken"]
    end = info["start_ns"] + info["wall_ns"]
    assert before is None or end > before
    before = end
    # What was kept to the end was there.
    there = {(s["time_ns"], s["tid"]): s for s in samples}
    for key, sample in last.items():
        if key[0] < end - END_OF_RING:
            assert there[key]["stack"] == sample["stack"], (name, key)
assert len(there) > 500, len(there)
END

"$ADAPTRACE" snapshot x.atr 2>errors && fail "a snapshot of nobody"
one_complaint errors "no recorder of yours is at work on 'x.atr'" || fail "$(cat errors)"
[ ! -e snapshot.atr ] || fail "it left a file"
start_recording --delay 60 -o late.atr sleep 60
"$ADAPTRACE" snapshot late.atr 2>errors && fail "a snapshot of nothing"
one_complaint errors "has not begun to sample yet" || fail "$(cat errors)"
start_recording -o killed.atr sleep 60
pkill -KILL -P $recorder
kill -KILL $recorder
wait $recorder 2>/dev/null
"$ADAPTRACE" snapshot killed.atr 2>errors && fail "a snapshot of a dead recorder"
one_complaint errors "no recorder of yours" || fail "$(cat errors)"
"$ADAPTRACE" recover killed.atr 2>errors
pass
