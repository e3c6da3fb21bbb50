#!/bin/sh
# Hundreds of windows and resets in a small buffer: copies are right meanwhile, and so is what is left of a
# recorder that is killed.
. "$(dirname "$0")/scenario"
need_sampling

start_recording -m 256K -F "$(rate 4000)" -o adaptrace.atr "$TARGETS/burn" 60 2>errors
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
target=$(target_of $recorder)
background="$background $target"
check $recorder <<'END'
import control_socket, os, random, subprocess, sys, time
from recording import info

client = control_socket.client_of(sys.argv[1])

def ask(**request):
    return control_socket.ask(client, **request)

def look(path):
    i = info(path)
    event, = i["events"]
    assert event["taken"] == event["stored"] + i["samples"]["reduced"], event
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
    if i % 30 == 29:
        subprocess.run([os.environ["ADAPTRACE"], "snapshot", "-o", "copy.atr", "adaptrace.atr"], check=True,
                       stderr=subprocess.DEVNULL)
        seen += len(look("copy.atr"))
        os.unlink("copy.atr")
assert opened > 100 and seen, (opened, seen)
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
assert i["events"][0]["taken"] == i["events"][0]["stored"] + i["samples"]["reduced"]
END
"$ADAPTRACE" dump --window "$(python3 -c 'import recording; print(max(w["number"] for w in recording.info()["windows"]))')" >out ||
	fail "dump of a window of a killed recorder"
pass
