#!/bin/sh
# merge keeps the windows of different recordings apart, and joins their histories.
. "$(dirname "$0")/scenario"
need_sampling

for i in 0 1; do
	start_recording -m 1M -F "$(rate 2000)" --history 0.5s@500 -o $i.atr "$TARGETS/burn" 3 >/dev/null 2>errors
	! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
	eval "recorder$i=$recorder"
done
for i in 0 1; do
	"$ADAPTRACE" ctl $i.atr detail 0.3 || fail "detail"
done
sleep 0.5
"$ADAPTRACE" ctl 1.atr detail 0.3 500 || fail "detail"
wait $recorder0 $recorder1
"$ADAPTRACE" merge -o merged.atr 0.atr 1.atr 2>said || fail "merge: $(cat said)"
"$ADAPTRACE" merge -o again.atr merged.atr 2>>said || fail "merge: $(cat said)"
! grep -q "window" said || fail "windows were left out: $(cat said)"
check <<'END'
import json
from recording import info, output_of

def samples_of(name, window):
    lines = (json.loads(line) for line in output_of("dump", "--json", "--window", window, name).splitlines())
    return sorted((s["time_ns"], s["weight"], s["tid"], s["stack"][0].get("symbol")) for s in lines if "weight" in s)

parts = info("0.atr"), info("1.atr")
for name in "merged.atr", "again.atr":
    merged = info(name)
    kept = ("event", "period", "taken", "stored", "weight", "cut")
    short = lambda i: sorted([w[key] for key in kept] for w in i["windows"])
    assert short(merged) == sorted(short(parts[0]) + short(parts[1])), (short(merged), short(parts[0]))
    assert [w["number"] for w in sorted(merged["windows"], key=lambda w: w["from_ns"])] == [1, 2, 3], merged["windows"]
    told = sorted(s for n in "123" for s in samples_of(name, n))
    assert told and told == sorted(samples_of("0.atr", "1") + samples_of("1.atr", "1") + samples_of("1.atr", "2"))
    h, own = merged["history"], [p["history"] for p in parts]
    assert h["from_ns"] == max(o["from_ns"] for o in own) and h["full"], (h, own)
    assert h["taken"] == sum(o["taken"] for o in own) and h["wanted_ns"] == 5 * 10**8, (h, own)
    there = [s for n in "01" for s in samples_of(n + ".atr", "history") if s[0] >= h["from_ns"]]
    assert there and samples_of(name, "history") == sorted(there), (len(there), h)
    event, run = merged["events"][0], [p["events"][0] for p in parts]
    assert event["stored"] <= sum(e["stored"] for e in run) and event["taken"] == sum(e["taken"] for e in run)
END
pass
