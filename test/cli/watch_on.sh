#!/bin/sh
# Conditions: a recording is watched, from its start or later, and what comes true is acted on.
. "$(dirname "$0")/scenario"
need_sampling
include=$here/../../include

wrong() { # STATUS WORDS ARGUMENTS...
	expected=$1 words=$2
	shift 2
	"$ADAPTRACE" "$@" 2>errors
	status=$?
	[ $status = $expected ] && one_complaint errors "$words" || fail "$* ended with $status: $(cat errors)"
}
wrong 2 "a number is missing, at 'x: mark'" watch x.atr --on 'cpu > x: mark'
wrong 125 "an action is missing.*, at 'jump'" record --on 'cpu > 1: jump' true
wrong 2 "nothing to do" watch x.atr
wrong 1 "no recorder of yours" watch x.atr --on 'cpu > 1: mark'

# The program's exit status stays, and what is said of a condition has its value.
"$ADAPTRACE" record -m 4M -F 1000 -o on.atr --on 'share(s?x) > 30%: snapshot, mark=six, run=env >environment; cat /proc/self/status >status' \
	--on 'rss > 0.000001% of limit and cpu < 1k: mark, run=touch small' --on 'share(nobody) > 1%: mark' \
	--on 'share(six) > 30% for 0.53s: run=touch long' \
	sh -c 'timeout 60 "$TARGETS/shares" 100000 & until [ -s status ] && [ -e small ] && [ -e long ]; do sleep 0.1; done; kill $!; exit 7' 2>errors
status=$?
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
[ $status = 7 ] || fail "record ended with $status: $(cat errors)"
grep -q 'condition met ([0-9]*\.[0-9] %): share(s?x)' errors || fail "nothing is said: $(cat errors)"
[ -s on-1.atr ] || fail "no snapshot: $(cat errors)"
check <<'END'
import bisect, os, recording

def held(info, until):
    """How long the share of a second was more than 30 % before, in ns."""
    samples = recording.samples("on.atr")
    times = [s["time_ns"] for s in samples]
    six = [0]
    for s in samples:
        six.append(six[-1] + (next(f["symbol"] for f in s["stack"] if not f["inlined"]) == "six"))
    longest = since = 0
    for to in range(info["start_ns"] + 10**9, until, 10**6):
        i, j = bisect.bisect_left(times, to - 10**9), bisect.bisect_left(times, to)
        since = since or to if six[j] - six[i] > 0.3 * (j - i) else 0
        longest = max(longest, to - since if since else 0)
    return longest

for name in ("on-1.atr", "on.atr"):
    info = recording.info(name)
    fired = {c["text"].split()[0]: c for c in info["conditions"]}
    if name == "on.atr":
        longest = held(info, fired.pop("share(six)")["time_ns"])
        assert longest > 0.53 * 10**9 - 2 * 10**7, longest
    share = fired["share(s?x)"]
    assert 0.3 < share["value"] < 0.9 and share["file"] == os.path.realpath("on-1.atr"), share
    assert info["start_ns"] < share["time_ns"], share
    assert "share(nobody)" not in fired, fired
info = recording.info("on.atr")
assert len(info["conditions"]) == 3 and fired["rss"]["file"] is None, info["conditions"]
marks = [a["text"] for a in info["actions"] if a["action"] == "mark"]
assert "six" in marks and len(marks) == 2, info["actions"]
environment = open("environment").read()
assert "ADAPTRACE_FILE=" + os.path.realpath("on-1.atr") in environment, environment
assert "\nADAPTRACE_PID=" in environment and "\nADAPTRACE_VALUE=0." in environment, environment
status = dict(line.split(":\t") for line in open("status") if ":\t" in line)
assert status["NoNewPrivs"] == "1\n" and int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0, status
END
"$ADAPTRACE" info on.atr | grep -q 'share(s?x) .* ([0-9]*\.[0-9] %) → .*on-1.atr' || fail "info: $("$ADAPTRACE" info on.atr)"
"$ADAPTRACE" report on.atr | grep -q 'a condition was met 3 times' || fail "report: $("$ADAPTRACE" report on.atr | head -3)"
"$ADAPTRACE" convert -q --chrome -f -o on.json on.atr && grep -q '"share(s?x) ' on.json || fail "no marker"
"$ADAPTRACE" merge -o merged.atr on.atr 2>errors && "$ADAPTRACE" info --json merged.atr | grep -q '"share(s?x) > 30%' ||
	fail "merge: $(cat errors)"

# What is not recorded can never come true.
start_recording -o plain.atr "$TARGETS/burn" 60
for never in 'time(step) > 1: mark' 'value(x) > 1: mark' 'mpi > 50%: mark'; do
	"$ADAPTRACE" watch $recorder --on "$never" 2>said && fail "$never"
	one_complaint said "are not recorded; record them with --mpi" || fail "$(cat said)"
done
kill $recorder

# A slow step among many fast ones, in a recording that is attached to later, and its stop.
cat >steps.c <<'END'
#include <adaptrace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 0; i < 100000; i++) {
		ADAPTRACE_BEGIN("step");
		usleep(i % 1000 == 999 || access("slow", F_OK) == 0 ? 100000 : 1000);
		ADAPTRACE_END("step");
		ADAPTRACE_VALUE("number", i);
		unlink("slow");
	}
	return argc + (argv == 0);
}
END
gcc -O1 -I"$include" -o steps steps.c || fail "steps.c"
start_recording --mpi -m 4M -o steps.atr ./steps 2>errors
"$ADAPTRACE" watch $recorder --on 'rate(cycles:nobody) > 1: mark' 2>said && fail "an unknown event"
one_complaint said "event 'cycles:nobody'" || fail "$(cat said)"
"$ADAPTRACE" watch $recorder --on 'time(step) > 20*median: snapshot' --on 'value(number) > 10: mark=ten' 2>said &
watch=$!
background="$background $watch"
sleep 1
touch slow
await sh -c "[ -e steps-1.atr ]"
kill $recorder
wait $recorder
wait $watch || fail "watch ended with $?: $(cat said)"
check <<'END'
import recording

fired = {c["text"].split()[0]: c for c in recording.info("steps.atr")["conditions"]}
assert 0.015 < fired["time(step)"]["value"] < 10, fired
assert fired["value(number)"]["value"] > 10, fired
assert [c["text"] for c in recording.info("steps-1.atr")["conditions"]], "not in the snapshot"
END
pass
