#!/bin/sh
# Attaching to a running process with several threads: they are sampled, and those that start later
# too; Ctrl-C ends the recording and leaves the process as it was.
. "$(dirname "$0")/scenario"
need_sampling

"$TARGETS/grower" 3 >said &
target=$!
background="$background $target"
await grep -q ready said

thread=$(ls /proc/$target/task | grep -vx $target | head -1)
record -p $thread 2>errors && fail "a thread was taken for a process"
grep -q -- "-p $target" errors || fail "said of a thread: $(cat errors)"

python3 -c 'import os, time
pid = os.fork() or os._exit(0)
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
print(pid, flush=True)
time.sleep(60)' >zombie &
background="$background $!"
await test -s zombie
record -p "$(cat zombie)" 2>errors && fail "what has ended was attached to"
one_complaint errors 'has ended' || fail "said of a zombie: $(cat errors)"

# Of one that does nothing there are no samples, and nothing is wrong with the clock.
sleep 60 &
background="$background $!"
record -p $! --duration 0.2 -F 100 -o idle.atr 2>errors || fail "$(cat errors)"
grep -q 'no samples of .*, and no thread ran that long$' errors || fail "of an idle one: $(cat errors)"

# The files of one that runs programs again that ran before: each is one module.
sh -c 'while :; do sh -c :; done' &
shells=$!
background="$background $shells"
record -p $shells --duration 1 --max-overhead 0 -o again.atr 2>errors || fail "$(cat errors)"
kill $shells
check <<'END'
from read_trace import Trace

trace = Trace(open("again.atr", "rb").read())
modules = [(trace.string(m[0]), m[3]) for m in trace.modules if m[1] == 1]
assert any("libc" in path for path, _ in modules), modules
assert len(modules) == len(set(modules)), modules
END

start_recording -F "$(rate 10000)" -p $target -o attached.atr
kill -USR1 $target
await grep -q 'later done' said
kill -INT $recorder
wait $recorder || fail "record -p ended with $?"

kill -0 $target || fail "the target is gone"
grep -q '^State:.*[SR]' /proc/$target/status || fail "$(grep State /proc/$target/status)"
kill -USR1 $target
await sh -c '[ $(grep -c "later done" said) = 2 ]'
kill -USR2 $target
wait $target || fail "the target ended with $?"

measure $target <<'END'
import sys
import recording

pid = int(sys.argv[1])
info = recording.info("attached.atr")
assert info["attached"] and info["pid"] == pid and info["exit_status"] is None
assert info["command"][0].endswith("grower") and info["command"][1:] == ["3"], info["command"]
commands = {command["comm"]: command for command in info["commands"]}
assert recording.close(commands["later"]["weight"] / 1e9, 0.5, 0.05, recording.allowance(info))
assert commands["later"]["tasks"] == 1
assert commands["early"]["tasks"] == 3
early = [thread for thread in info["threads"] if thread["comm"] == "early"]
assert len(early) == 3 and all(thread["stored"] > 50 for thread in early), early
# Stacks of threads that were there before reach their root, too.
samples = [s for s in recording.samples("attached.atr") if s["comm"] == "early"]
rooted = [s for s in samples if any(f["symbol"] == "early" for f in s["stack"])]
assert len(rooted) > 0.9 * len(samples), (len(rooted), len(samples))
END
pass
