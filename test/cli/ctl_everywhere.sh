#!/bin/sh
# Every command in every way of sampling: it does what it says, or it is refused in one clear line.
. "$(dirname "$0")/scenario"
need_sampling

cat >marks.c <<'END'
#include <adaptrace.h>
#include <time.h>
static volatile unsigned long x;
int main(void)
{
	for (time_t end = time(NULL) + 60; time(NULL) < end;) {
		ADAPTRACE_SCOPE("step");
		for (unsigned i = 0; i < 1000000; i++)
			x += i;
	}
	return 0;
}
END
${CC:-cc} -O1 -I"$here/../../include" -o marks marks.c || fail "cannot compile marks.c"
chmod 777 .
cat >table.py <<'END'
import json, os, re, subprocess, sys, time
import recording

mode, recorder, target = sys.argv[1], sys.argv[2], int(sys.argv[3])
adaptrace = os.environ["ADAPTRACE"]
as_user = sys.argv[4:]

def ctl(*words):
    run = subprocess.run([*as_user, adaptrace, "ctl", recorder, *words], capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr

def status():
    code, out, err = ctl("status", "--json")
    assert code == 0, err
    return json.loads(out)

def state():
    return status()["state"]

def taken():
    return status()["samples"]["taken"]

def ticks():
    """The CPU time of the target."""
    return sum(map(int, open(f"/proc/{target}/stat").read().rsplit(")", 1)[1].split()[11:13]))

def rises(number, tries, pause):
    before = number()
    for _ in range(tries):
        if number() > before:
            return True
        time.sleep(pause)
    return False

def runs(tries=200):
    return rises(ticks, tries, 0.01)

def grows(tries=100):
    return rises(taken, tries, 0.02)

def stays():
    time.sleep(0.4) # what was sampled before is read, and the image has its number
    return not grows(5)

wide = mode.startswith("wide") or mode == "group"
inherits = mode in ("inherit", "attached", "user")
alone = "are recorded, and no program" if mode == "wide" else None

# What is asked, why it is refused (None: it is done), and what must be true then.
table = [
    (["mark", "a mark"], None, lambda: True),
    (["resume"], "nothing is paused", lambda: state() == "recording"),
    (["pause"], alone, lambda: alone or state() == "paused" and not runs(20)),
    (["resume"], "nothing is paused" if alone else None, lambda: state() == "recording" and runs() and grows()),
    (["pause", "--recording"], None, lambda: state() == "recording-paused" and runs() and stays()),
    (["reset"], "is paused", lambda: state() == "recording-paused"),
    (["detail", "1"], "is paused", lambda: True),
    (["resume", "--for", "0.1"], None, lambda: time.sleep(0.5) or state() == "recording-paused"),
    (["resume"], None, lambda: state() == "recording" and grows()),
    (["detail", "0.2"], None, lambda: len(status()["windows"]) == 1),
    (["overhead", "30"], None, grows),
    (["memory", "10M"], None, lambda: status()["memory"]["budget"] == 10 << 20),
    (["memory", "1G"], "began with less memory", lambda: status()["memory"]["budget"] == 10 << 20),
    (["event", "add", "page-faults"], "events are inherited here.*--anyway" if inherits else None,
     lambda: len(status()["events"]) == (1 if inherits else 2)),
    (["event", "add", "page-faults", "--anyway"], None, lambda: [e["sampled"] for e in status()["events"]] == [True, True]),
    (["event", "drop", "page-faults"], None, lambda: [e["sampled"] for e in status()["events"]] == [True, False] and grows()),
    (["event", "add", "nonsense"], "unknown event", lambda: True),
    (["calls", "off"], None if mode == "mpi" else "calls are not recorded", lambda: True),
    (["calls", "on"], None if mode == "mpi" else "calls are not recorded", lambda: True),
    (["snapshot", f"snapshot.{mode}.atr"], None,
     lambda: recording.info(f"snapshot.{mode}.atr")["samples"]["stored"] > 0),
    (["reset", "--save", f"saved.{mode}.atr"], None, lambda: recording.info(f"saved.{mode}.atr") and grows()),
    (["stop"], None, lambda: True),
]
for words, refusal, holds in table:
    code, out, err = ctl(*words)
    said = [line for line in err.splitlines() if not re.search("not permitted to sample the kernel|stood still|^snapshot|saved|stored", line)]
    if refusal:
        assert code == 1 and len(said) == 1 and re.match(f"adaptrace: the recorder refuses .*{refusal}", said[0]), (mode, words, code, err)
    else:
        assert code == 0, (mode, words, code, err)
    assert holds(), (mode, words, status())
END
everything() { # MODE [AS-USER...]: of $recorder and $target
	mode=$1
	PYTHONPATH=$here python3 table.py "$1" $recorder $target $(shift; echo "$@") || fail "$mode: $(cat errors)"
	await test -e $mode.atr
	kill $target
	wait $recorder 2>/dev/null
	check $mode <<'END'
import sys
import recording

info = recording.info(sys.argv[1] + ".atr")
done = [a["action"] for a in info["actions"] if a["result"] == "done"]
assert done[0] == "mark" and done[-1] == "stop", done
assert all(e["taken"] >= e["stored"] for e in info["events"]), info["events"]
END
}
record_burn() { # MODE OPTIONS...
	mode=$1
	shift
	start_recording -F 300 -e cpu-clock -o $mode.atr "$@" 2>errors
}
find_target() {
	await sh -c "[ \$(pgrep -P $recorder | wc -l) -gt 0 ]"
	tries=0
	until target=$(target_of $recorder); do
		[ $((tries += 1)) -le 200 ] || fail "no target"
		sleep 0.05
	done
}

record_burn plain "$TARGETS/burn" 60
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
find_target
"$ADAPTRACE" ctl $recorder event add page-faults 2>errors && "$ADAPTRACE" ctl $recorder event drop page-faults
kill $target
wait $recorder 2>/dev/null
grep -q inherited errors || {
	record_burn plain "$TARGETS/burn" 60
	find_target
	everything plain
}
record_burn inherit --inherit "$TARGETS/burn" 60
find_target
everything inherit
record_burn mpi --mpi ./marks
find_target
everything mpi
"$TARGETS/burn" 60 >/dev/null &
target=$!
background="$background $target"
record_burn attached -p $target
everything attached
if "$ADAPTRACE" record -q -a -o wide.atr true 2>/dev/null; then
	"$TARGETS/burn" 60 >/dev/null &
	target=$!
	background="$background $target"
	record_burn wide -a
	everything wide
	record_burn wide-command -a "$TARGETS/burn" 60
	find_target
	everything wide-command
fi
[ "$(id -u)" != 0 ] || ! as_user "$ADAPTRACE" record -q -o user.atr true 2>/dev/null || {
	rm -f user.atr
	user='setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all'
	$user "$ADAPTRACE" record -q --max-overhead 0 -F 300 -e cpu-clock -o user.atr "$TARGETS/burn" 60 2>errors &
	recorder=$!
	background="$background $recorder"
	await sh -c "'$ADAPTRACE' ctl $recorder status | grep -q 'samples taken'"
	find_target
	everything user $user
}
pass
