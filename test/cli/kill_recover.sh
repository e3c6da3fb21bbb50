#!/bin/sh
# SIGKILL of the recorder: the target lives on, and what had been drained becomes a trace.
. "$(dirname "$0")/scenario"
need_sampling

start_recording -m 1M -o killed.atr --counters page-faults:u "$TARGETS/grower" 2 >said 2>errors
await grep -q ready said
target=$(target_of $recorder) || fail "no target"
background="$background $target"
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
sleep 0.5
echo older >killed.atr
kill -KILL $recorder
wait $recorder 2>/dev/null

kill -USR1 $target
await grep -q 'later done' said
"$ADAPTRACE" recover killed.atr 2>errors || fail "recover ended with $?: $(cat errors)"
[ "$(cat killed.atr.old)" = older ] || fail "the older trace is gone"
[ "$(stat -c %a killed.atr)" = 600 ] || fail "permissions $(stat -c %a killed.atr)"
check $target <<'END'
import sys
import recording

info = recording.info("killed.atr")
samples = recording.samples("killed.atr")
assert info["recovered"] and info["exit_status"] is None, info
assert info["pid"] == int(sys.argv[1])
assert info["command"][1:] == ["2"]
# Up to 0.1 s may have been in the rings.
assert len(samples) == info["samples"]["stored"] > 500, len(samples)
assert sum(c["weight"] for c in info["commands"]) == sum(s["weight"] for s in samples)
named = [s for s in samples if any(f["symbol"] == "burn_step" for f in s["stack"])]
assert len(named) > len(samples) / 4, (len(named), len(samples))
rooted = [s for s in samples if any(f["symbol"] == "early" for f in s["stack"])]
assert len(rooted) > len(samples) / 2, (len(rooted), len(samples))
assert recording.report("killed.atr")["functions"]
# What was counted is there, and what the kernel would have said in the end is not known.
counter, = info["counters"]
assert counter["state"] == "counted" and counter["total"] is None, counter
assert counter["with_samples"] == sum(s["counters"]["page-faults:u"] for s in samples)
END

"$ADAPTRACE" recover killed.atr 2>errors && fail "recovered twice"
one_complaint errors 'nothing to recover' || fail "$(cat errors)"
kill -USR2 $target
await grep -q used said

# The next recording of that name says how to save what the killed one left.
lose_recorder -m 1M -o killed.atr "$TARGETS/burn" 20 >said
"$ADAPTRACE" record -q -m 1M -o killed.atr true 2>errors || fail "$(cat errors)"
way_out=$(sed -n 's/.*never written.* saved by: adaptrace //p' errors)
eval "\"\$ADAPTRACE\" ${way_out:-none}" 2>errors || fail "'$way_out': $(cat errors)"
"$ADAPTRACE" info killed.atr | grep -q 'was recovered' || fail "not what the killed one left"
pass
