#!/bin/sh
# Several events in one recording: each has its own name, unit, period and table.
. "$(dirname "$0")/scenario"
need_sampling

for way in '' --inherit; do
	recorded $way -e cpu-clock:u -e page-faults:u -e minor-faults:u -m 256K \
		"$TARGETS/chain" fork 30 2000 >said
	check <<'END'
import recording
info = recording.info()
samples = recording.samples()
events = {event["name"].split(":")[0]: event for event in info["events"]}
assert set(events) == {"cpu-clock", "page-faults", "minor-faults"}
assert events["cpu-clock"]["unit"] == "ns"
assert events["page-faults"]["unit"] != "ns"
weights = recording.weights(samples, lambda s: s["event"].split(":")[0])
print(weights)
for name, event in events.items():
    stored = sum(s["event"].split(":")[0] == name for s in samples)
    assert event["stored"] == stored
# Every page fault counts while nothing was reduced; a fork has dozens.
assert weights["page-faults"] > 30 * 10
if not any(r["event"].startswith("page-faults") for r in info["reductions"]):
    assert events["page-faults"]["taken"] == events["page-faults"]["stored"]
END
	"$ADAPTRACE" report >out || fail "report"
	grep -q 'cpu-clock' out && grep -q 'page-faults' out || fail "$(head -20 out)"
done

# Frequencies are rounded to three digits, and not to powers of ten.
"$ADAPTRACE" record --max-overhead 0 -e cpu-clock:u:period=1000001 -o rate.atr true 2>said
grep -q ', 1000 Hz now' said || fail "$(cat said)"

# A command alone is counted, not what its process did to execute it.
recorded -e page-faults true
check <<'END'
import recording
info = recording.info()
event, = info["events"]
assert not info["samples"]["lost"] and event["taken"] == event["exact"] > 0, event
END
# From its first instruction on.
recorded --inherit -e page-faults:u true
for trace in adaptrace.atr.old adaptrace.atr; do
	check $trace <<'END'
import sys
import recording
samples = recording.samples(sys.argv[1])
modules = [[str(f["module"]) for f in s["stack"]] for s in samples]
assert not any("adaptrace" in module for stack in modules for module in stack)
user = [s for s, stack in zip(samples, modules) if not stack[0].startswith("[")]
print(len(user), user[0])
assert modules[samples.index(user[0])][0].startswith("ld") and len(user) > 20
END
done

# The kernel counts a clock on both sides, whichever is sampled: that is not missing from the other.
mostly_kernel='dd if=/dev/zero of=/dev/null bs=1 count=300000'
for way in '' --inherit; do
	recorded $way -e cpu-clock:u:freq=1000 $mostly_kernel 2>said
	"$ADAPTRACE" report >out || fail "report"
	grep -q ' \[unsampled\]\|are scaled by\|skipped the rest' out && fail "$(cat out)"
	record $way -e cpu-clock:k "$TARGETS/burn" 0.2 >said 2>&1 || continue
	"$ADAPTRACE" report >out || fail "report"
	grep -q 'unsampled\|are scaled by\|skipped the rest' out && fail "$(cat out)"
done

# -c for counters, -F for clocks.
recorded -e page-faults:u -c 7 "$TARGETS/chain" fork 30 1000 >said
check <<'END'
import recording
event, = recording.info()["events"]
assert event["initial_period"] == 7, event
END
# A period that was asked for is what a sample weighs, on every CPU.
for period in '-e cpu-clock:u -c 999999' '-e cpu-clock:u:period=999999'; do
	recorded $period "$TARGETS/quarters" 2 0.3 >said
	check <<'END'
import recording
weights = {s["weight"] for s in recording.samples()}
assert weights == {999999}, weights
END
done
recorded -e cpu-clock:u -F 2000 "$TARGETS/burn" 0.1 >said
# Events are asked for by their names with or without modifiers.
for name in cpu-clock cpu-clock:u; do
	"$ADAPTRACE" report -e $name >said || fail "report -e $name"
	"$ADAPTRACE" convert --folded -e $name -o - >said || fail "convert -e $name"
done
"$ADAPTRACE" report -e cpu 2>said && fail "report -e cpu"
check <<'END'
import recording
event, = recording.info()["events"]
assert 450000 < event["initial_period"] <= 500000, event
END
pass
