#!/bin/sh
# Windows of ctl detail: more samples for a while, kept apart, while the run goes on as before.
. "$(dirname "$0")/scenario"
need_sampling

ctl() { "$ADAPTRACE" ctl adaptrace.atr "$@" || fail "ctl $* ended with $?"; }
refused() { # WORDS ARGUMENTS...
	words=$1
	shift
	"$ADAPTRACE" ctl adaptrace.atr "$@" >said 2>errors
	[ $? = 1 ] || fail "ctl $* was not refused"
	one_complaint errors "$words" || fail "ctl $*: $(cat errors)"
}
status_is() { # PYTHON
	"$ADAPTRACE" ctl adaptrace.atr status --json | python3 -c "import json, sys
s = json.load(sys.stdin)
sys.exit(not ($1))"
}

# A limit of the overhead that no recording keeps to lets the run's rate fall.
start_recording -m 256K -F "$(rate 4000)" -o adaptrace.atr "$TARGETS/burn" 90 2>errors
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
for wrong in "" "soon" "1 fast" "1 2 3" "0"; do
	"$ADAPTRACE" ctl adaptrace.atr detail $wrong 2>errors
	status=$?
	[ $status = 2 ] || fail "ctl detail $wrong ended with $status"
done
ctl overhead 0.1
await status_is "s['events'][0]['floor'] >= 6"
ctl overhead 0
# A lease is for those who look on, lasts as long as they ask for it, and gives way to windows.
export recorder
leased() { # SECONDS: asks for a lease
	SECONDS_LEASED=$1 check <<'END'
import control_socket, os

client = control_socket.client_of(os.environ["recorder"])
answer = control_socket.ask(client, ctl="lease", seconds=float(os.environ["SECONDS_LEASED"]), hz=1000)
assert answer["ok"], answer
END
}
leased 8
status_is "s['lease'] and s['windows'] == [] and s['lease']['period'] >= 4000000" || fail "$(ctl status --json)"
await status_is "s['lease']['taken'] > 20"
"$ADAPTRACE" snapshot -o leased.atr adaptrace.atr 2>errors || fail "snapshot: $(cat errors)"
"$ADAPTRACE" info --json leased.atr | grep -q '"windows":\[\]' || fail "a lease is in the snapshot"
leased 0.2
await status_is "s['lease'] is None"
leased 10
ctl detail 4
status_is "s['lease']" || fail "no lease beside a window: $(ctl status --json)"
ctl detail 3 1000
status_is "s['lease'] is None" || fail "a lease beside two windows: $(ctl status --json)"
status_is "[w['open'] for w in s['windows']] == [True, True]" || fail "$(ctl status --json)"
refused "two windows are open" detail 1
"$ADAPTRACE" snapshot -o early.atr adaptrace.atr 2>errors || fail "snapshot: $(cat errors)"
await status_is "not any(w['open'] for w in s['windows'])"
ctl pause --recording
refused "paused" detail 1
ctl resume
ctl stop
await test -s adaptrace.atr
check <<'END'
import json
from recording import info, output_of

i = info()
event, = i["events"]
fine, coarse = sorted(i["windows"], key=lambda w: w["number"])
assert [fine["number"], coarse["number"]] == [1, 2]
for w in fine, coarse:
    assert w["event"] == event["name"] and not w["cut"], w
    assert w["taken"] >= w["stored"] > 0, w
    lines = output_of("dump", "--json", "--window", str(w["number"])).splitlines()
    samples = [json.loads(line) for line in lines]
    samples = [s for s in samples if s.get("type") != "header"]
    assert len(samples) == w["stored"], (len(samples), w)
    assert sum(s["weight"] for s in samples) == w["weight"], w
    assert all(w["from_ns"] <= s["time_ns"] < w["to_ns"] for s in samples), w
    shown = json.loads(output_of("report", "--json", "--window", str(w["number"])))
    assert (shown["samples"], shown["sampled_weight"]) == (w["stored"], w["weight"]), shown
# As often as at the start, or at 1 kHz; and both more often than the run.
assert fine["period"] == event["initial_period"], (fine, event)
assert fine["period"] < coarse["period"] < event["final_period"], (fine, coarse)
assert 3.9e9 < fine["to_ns"] - fine["from_ns"] < 8e9, fine
assert i["samples"]["taken"] == event["taken"] == event["stored"] + i["samples"]["reduced"]
# Windows take nothing away from the run and give it nothing; what a busy machine does to its ticks is little.
weight = json.loads(output_of("report", "--json"))["sampled_weight"] / event["exact"]
assert 0.97 < weight < 1.015, weight
detail = [a for a in i["actions"] if a["action"] == "detail"]
assert [(a["text"], a["result"]) for a in detail] == [("4 s", "done"), ("3 s at 1000 Hz", "done"),
                                                      ("1 s", "refused"), ("1 s", "refused")], detail
text = output_of("info").decode()
assert "(--window)" in text and "window 1 until" in text and "window 2 until" in text, text
early = info("early.atr")["windows"]
assert [w["number"] for w in sorted(early, key=lambda w: w["number"])] == [1, 2], early
END
for format in folded flamegraph speedscope firefox chrome pprof callgrind perf-script; do
	"$ADAPTRACE" convert --$format --window 1 -f -o "out.$format" 2>errors || fail "$format: $(cat errors)"
	[ -s "out.$format" ] || fail "$format is empty"
done
"$ADAPTRACE" report --window 3 2>errors && fail "a window that is not there"
one_complaint errors "there is no window 3" || fail "$(cat errors)"
for wrong in 0 -1 x 1x; do
	"$ADAPTRACE" report --window $wrong 2>errors
	[ $? = 2 ] || fail "--window $wrong"
done
pass
