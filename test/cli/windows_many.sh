#!/bin/sh
# Hundreds of windows and resets in a small buffer, with a history of samples and calls, other events and less
# memory: copies are right meanwhile, and so is what is left of a recorder that is killed.
. "$(dirname "$0")/scenario"
need_sampling

cat >calls.c <<'END'
#include <adaptrace.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	time_t end = time(NULL) + atoi(argv[argc - 1]);

	for (int i = 0; time(NULL) < end; i++) {
		ADAPTRACE_BEGIN("outer");
		for (int j = 0; j < 1 + i % 7; j++) {
			ADAPTRACE_BEGIN("inner");
			for (volatile int k = 0; k < 20000; k++)
				continue;
			ADAPTRACE_END("inner");
		}
		free(malloc(1 << 20));
		ADAPTRACE_END("outer");
	}
	return 0;
}
END
gcc -O1 -I"$here/../../include" -o calls calls.c || fail "calls.c"
start_recording -m 256K -F "$(rate 4000)" --mpi --events-share 20 --history 0.2s -o adaptrace.atr ./calls 60 2>errors
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
target=$(target_of $recorder)
background="$background $target"
check $recorder <<'END'
import control_socket, json, os, random, subprocess, sys, time
from recording import info, output_of

client = control_socket.client_of(sys.argv[1])

def ask(**request):
    return control_socket.ask(client, **request)

def look(path):
    i = info(path)
    assert sum(e["taken"] - e["stored"] for e in i["events"]) == i["samples"]["reduced"], i["events"]
    for kind in i["calls"]["kinds"]:
        assert kind["seen"] == kind["stored"] + kind["dropped"], kind
    history, calls = i["history"], i["history"]["calls"]
    lines = [json.loads(line) for line in output_of("dump", "--json", "--window", "history", path).splitlines()]
    assert calls["stored"] == sum("call" in line for line in lines) <= calls["taken"], (calls, len(lines))
    assert history["stored"] == sum("weight" in line for line in lines) <= history["taken"], history
    names = {line["call"] for line in lines if "call" in line}
    assert names <= {"outer", "inner"}, names
    numbers = [w["number"] for w in i["windows"]]
    assert len(numbers) == len(set(numbers)) <= 8, numbers
    for w in i["windows"]:
        assert w["stored"] <= w["taken"] and (w["weight"] > 0) == (w["stored"] > 0), w
    return numbers

random.seed(5)
opened = seen = 0
for i in range(300):
    answer = ask(ctl="detail", seconds=random.choice((0.001, 0.02, 0.05)))
    assert answer["ok"] or "two windows" in answer["error"], answer
    opened += answer["ok"]
    time.sleep(random.choice((0, 0.01, 0.03)))
    if i % 25 == 24:
        assert ask(ctl="reset")["ok"]
    if i % 7 == 6:
        # Where events are inherited these cannot be added, and are refused.
        ask(**random.choice((dict(ctl="event", change="add", text="page-faults"),
                             dict(ctl="event", change="only", text="cpu-clock"),
                             dict(ctl="memory", bytes=128 << 10), dict(ctl="memory", bytes=256 << 10),
                             dict(ctl="calls", text="off"), dict(ctl="calls", text="on"))))
    if i % 30 == 29:
        subprocess.run([os.environ["ADAPTRACE"], "snapshot", "-o", "copy.atr", "adaptrace.atr"], check=True,
                       stderr=subprocess.DEVNULL)
        seen += len(look("copy.atr"))
        os.unlink("copy.atr")
assert opened > 100 and seen, (opened, seen)
ask(ctl="event", change="only", text="cpu-clock")
for _ in range(2):
    ask(ctl="detail", seconds=60)
time.sleep(0.2)
END
kill -KILL $recorder
wait $recorder 2>/dev/null
"$ADAPTRACE" recover adaptrace.atr 2>errors || fail "recover: $(cat errors)"
check <<'END'
from recording import info
i = info()
assert any(w["stored"] for w in i["windows"]), i["windows"]
assert sum(e["taken"] - e["stored"] for e in i["events"]) == i["samples"]["reduced"]
assert i["history"]["calls"], i["history"]
END
"$ADAPTRACE" dump --window "$(python3 -c 'import recording; print(max(w["number"] for w in recording.info()["windows"]))')" >out ||
	fail "dump of a window of a killed recorder"
pass
