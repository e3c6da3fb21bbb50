#!/bin/sh
# Events are switched while a recording runs, and its memory is limited.
. "$(dirname "$0")/scenario"
need_sampling

ctl() { "$ADAPTRACE" ctl "$@" || fail "ctl $* ended with $?"; }
refused() { # WORDS COMMAND...
	words=$1
	shift
	"$ADAPTRACE" ctl $recorder "$@" 2>errors
	status=$?
	[ $status = 1 ] || fail "ctl $* ended with $status"
	one_complaint errors "$words" || fail "ctl $*: $(cat errors)"
}

start_recording -F 500 --max-overhead 0 -e cpu-clock -o x.atr "$TARGETS/faults" 2 100000 2>errors
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
target=$(target_of $recorder)
for wrong in event "event leap page-faults" "event only" "memory" "memory much"; do
	"$ADAPTRACE" ctl $recorder $wrong 2>errors
	status=$?
	[ $status = 2 ] || fail "ctl $wrong ended with $status"
done
ctl $recorder detail 30
"$ADAPTRACE" ctl $recorder event only page-faults 2>errors ||
	{ grep -q "are inherited here" errors && skip "no cgroup of its own"; fail "$(cat errors)"; }
sleep 0.4
ctl $recorder status --json >status
"$ADAPTRACE" top --once --json --interval 0.2 $recorder | grep -q '"event": *"page-faults"' ||
	fail "top shows an event that is off"
refused "no event would be left" event drop page-faults
refused "'cpu-clock' is not sampled" event drop cpu-clock
refused "is not sampled" detail 1
refused "unknown event" event add nonsense
refused "can be named to record alone" event add uprobe:/bin/true:main
ctl $recorder pause --recording
ctl $recorder event add cpu-clock,context-switches
ctl $recorder resume
sleep 0.4
ctl $recorder memory 2M
refused "needs 1024K at least" memory 512K
refused "began with less memory" memory 1G
ctl $recorder status --json >later
ctl $recorder stop
kill $target
wait $recorder 2>/dev/null
check <<'END'
import json
import recording

before, later = json.load(open("status")), json.load(open("later"))
assert [e["name"] for e in before["events"]] == ["cpu-clock", "page-faults"], before
assert [e["sampled"] for e in before["events"]] == [False, True], before
assert [e["sampled"] for e in later["events"]] == [True, True, True], later
assert later["memory"]["budget"] == 2 << 20 and later["memory"]["used"] <= 2 << 20, later
info = recording.info("x.atr")
assert info["memory"]["budget"] == 2 << 20, info["memory"]
names = [e["name"] for e in info["events"]]
assert names == ["cpu-clock", "page-faults", "context-switches"], names
gaps = {name: [(g["from_ns"], g["to_ns"]) for g in info["gaps"] if g["event"] == name] for name in names}
assert [len(gaps[name]) for name in names] == [1, 2, 1], gaps
seen = {name: 0 for name in names}
for sample in recording.samples("x.atr"):
    seen[sample["event"]] += 1
    assert not any(a + 1000000 < sample["time_ns"] < b for a, b in gaps[sample["event"]]), (sample, gaps)
assert min(seen.values()) > 0, seen
for event in info["events"]:
    assert event["taken"] >= event["stored"] == seen[event["name"]], event
    assert 0 < event["sampled_ns"] < info["wall_ns"], event
# The kernel counted what was sampled, and nothing in gaps.
faults = info["events"][1]
assert not faults["exact"] or faults["stored"] * faults["final_period"] <= faults["exact"] * 1.1, faults
# A window is not mistaken for an event that was added after it.
window, = info["windows"]
detail = [json.loads(line) for line in recording.output_of("dump", "--json", "--window", "1", "x.atr").splitlines()]
detail = [line for line in detail if line.get("type") != "header"]
assert len(detail) == window["stored"] > 0, (len(detail), window)
assert {sample["event"] for sample in detail} == {"cpu-clock"}, detail[0]
clock = info["events"][0]
assert abs(clock["stored"] * clock["final_period"] - clock["exact"]) < .25 * clock["exact"], clock
assert sum(b - a for a, b in gaps["cpu-clock"]) > info["wall_ns"] - info["sampled_ns"] > 0
END
"$ADAPTRACE" report x.atr | grep -q 'in which it was sampled' || fail "$("$ADAPTRACE" report x.atr | head -9)"
"$ADAPTRACE" merge -o job.atr x.atr 2>errors && "$ADAPTRACE" info job.atr | grep -q 'event: only page-faults' ||
	fail "not in a merged trace: $(cat errors)"

# An event that was inherited is switched only if it was opened beforehand.
start_recording -F 500 --inherit -e cpu-clock --spare page-faults -o y.atr "$TARGETS/faults" 2 100000 2>errors
target=$(target_of $recorder)
refused "are inherited here" event add context-switches
ctl $recorder event only page-faults
sleep 0.4
ctl $recorder event only cpu-clock
sleep 0.2
ctl $recorder stop
kill $target
wait $recorder 2>/dev/null
check <<'END'
import recording

info = recording.info("y.atr")
assert [e["name"] for e in info["events"]] == ["cpu-clock", "page-faults"], info["events"]
assert all(e["stored"] for e in info["events"]), info["events"]
assert len(info["gaps"]) == 3, info["gaps"]
END

# One that was not is opened for each thread, of those born later, too.
anyway() { # OPTIONS...: with page-faults opened beforehand for comparison
	rm -f z.atr
	start_recording -F 500 -e cpu-clock --spare page-faults -o z.atr "$@" 2>errors
	launched=$(target_of $recorder)
	"$ADAPTRACE" ctl z.atr event only page-faults,minor-faults --anyway 2>said || fail "$(cat said)"
	one_complaint said "stood still" || fail "$(cat said)"
	"$ADAPTRACE" ctl z.atr event only cpu-clock 2>said && sleep 0.1
	"$ADAPTRACE" ctl z.atr event only page-faults,minor-faults 2>said || fail "$(cat said)"
	! grep -q . said || fail "$(cat said)"
	sleep 0.4
	ctl z.atr stop
	await test -e z.atr
	check "$@" <<'END'
import sys
import recording

info = recording.info("z.atr")
clock, faults, minor = info["events"]
print(sys.argv[1:], faults, minor)
assert minor["name"] == "minor-faults" and minor["exact"] > 100, minor
assert abs(minor["exact"] - faults["exact"]) <= .01 * faults["exact"] + 20, (minor, faults)
tids = {name: {s["tid"] for s in recording.samples("z.atr") if s["event"] == name} for name in ("page-faults", "minor-faults")}
assert tids["minor-faults"] == tids["page-faults"] and len(tids["minor-faults"]) > 1, tids
END
}
anyway --inherit "$TARGETS/faults" 2 100000
kill $launched
wait $recorder 2>/dev/null
"$TARGETS/faults" 3 100000 &
target=$!
background="$background $target"
sleep 0.2
anyway -p $target
wait $recorder
(
	ulimit -n 80
	exec "$ADAPTRACE" record -q --inherit -e cpu-clock -o few.atr "$TARGETS/faults" 40 100000 2>errors
) &
recorder=$!
background="$background $recorder"
await sh -c "'$ADAPTRACE' ctl few.atr status | grep -q ' [1-9][0-9]* samples taken\|^[1-9][0-9]* samples'"
launched=$(target_of $recorder)
refused "take [0-9]* open files" event add page-faults --anyway
! grep -q '^State:.T' "/proc/$launched/status" || fail "it was left stopped"
kill $launched
wait $recorder 2>/dev/null
kill $target

# Files for one more event, and not for two: none is opened of two.
start_recording -q --inherit -e cpu-clock -o few.atr "$TARGETS/faults" 20 100000 2>errors
launched=$(target_of $recorder)
background="$background $launched"
await sh -c "[ \$(ls /proc/$launched/task | wc -l) = 21 ]"
each=$((21 * $(ls -d /sys/devices/system/cpu/cpu[0-9]* | wc -l)))
prlimit --pid $recorder --nofile=$(($(ls /proc/$recorder/fd | wc -l) + 20 + each * 3 / 2))
refused "take [0-9]* open files" event add page-faults,minor-faults --anyway
[ "$("$ADAPTRACE" ctl $recorder status --json | grep -o '"sampled"' | wc -l)" = 1 ] || fail "one of two was opened"
ctl $recorder event add page-faults --anyway
kill $launched
wait $recorder 2>/dev/null
pass
