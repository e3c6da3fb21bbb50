#!/bin/sh
# A recording begins anew; marks stay, and what there was before can be saved.
. "$(dirname "$0")/scenario"
need_sampling

ctl() { "$ADAPTRACE" ctl "$@" || fail "ctl $* ended with $?"; }
for way in "" --inherit; do
	start_recording -F 500 $way -o x.atr "$TARGETS/burn" 60 2>errors
	! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
	target=$(target_of $recorder)
	ctl x.atr mark "before the reset"
	sleep 0.5
	ctl x.atr reset --save half.atr 2>/dev/null
	ctl x.atr pause --recording
	"$ADAPTRACE" ctl x.atr reset 2>errors && fail "a paused recording was reset"
	one_complaint errors "is paused" || fail "$(cat errors)"
	ctl x.atr resume
	sleep 0.5
	ctl x.atr stop
	kill $target
	wait $recorder
	check <<'END'
import recording

half, info = recording.info("half.atr"), recording.info("x.atr")
assert [a["action"] for a in half["actions"]] == ["mark"], half["actions"]
done = [(a["action"], a["result"]) for a in info["actions"]]
assert done == [("mark", "done"), ("reset", "done"), ("pause", "done"), ("reset", "refused"),
                ("resume", "done"), ("stop", "done")], done
begin = info["actions"][1]["time_ns"]
times = [sample["time_ns"] for sample in recording.samples("x.atr")]
assert times and min(times) >= begin - 1000000, (min(times), begin)
assert all(sample["time_ns"] <= begin for sample in recording.samples("half.atr"))
event = info["events"][0]
weight = event["stored"] * event["final_period"]
assert abs(weight - event["exact"]) < .2 * event["exact"], event
END
done
pass
