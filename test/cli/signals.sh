#!/bin/sh
# Ctrl-C reaches the target as it does without us, other signals are passed on, and the trace is
# written whatever ends the target.
. "$(dirname "$0")/scenario"
need_sampling

check <<'END'
import atexit
import os
import signal
import subprocess
import time
import recording

running = []
HANDLER = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *args: sys.exit(7))
signal.signal(signal.SIGHUP, lambda *args: os.write(1, b"hup\\n"))
signal.signal(signal.SIGINT, lambda *args: os.write(1, b"int\\n"))
print("ready", flush=True)
while True:
    time.sleep(0.1)
"""


def as_from_a_shell():
    """Whatever runs the tests may ignore signals, as nohup and background jobs do."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def start(*command, setup=as_from_a_shell):
    recorder = subprocess.Popen(
        [recording.ADAPTRACE, "record", "-q", "--max-overhead", "0", *command],
        stdout=subprocess.PIPE, text=True, start_new_session=True, restore_signals=True,
        preexec_fn=setup)
    running.append(recorder)
    assert recorder.stdout.readline() == "ready\n"
    return recorder


@atexit.register
def end():
    """Of a failed test: with everything that it started."""
    for recorder in running:
        os.killpg(recorder.pid, signal.SIGKILL)


def ended(recorder, status):
    assert recorder.wait() == status, recorder.returncode
    rest = recorder.stdout.read()
    running.remove(recorder)
    assert recording.info()["exit_status"] == status
    os.unlink("adaptrace.atr")
    return rest


SIMPLE = ["sh", "-c", "echo ready; while :; do :; done"]

# As a terminal does it: the whole group gets it.
recorder = start(*SIMPLE)
os.killpg(recorder.pid, signal.SIGINT)
ended(recorder, 130)

# Passed on: whatever ends who does not expect it. Where there is nobody to pass it on to, it ends the
# recording.
DEADLY = [1, 2, 3, 10, 12, 14, 15, 16, 24, 26, 27, 29, 30, signal.SIGRTMIN, signal.SIGRTMAX]
burning = subprocess.Popen([recording.TARGETS + "/burn", "100"], stdout=subprocess.DEVNULL)
atexit.register(burning.kill)
for number in DEADLY:
    recorder = start(*SIMPLE)
    recorder.send_signal(number)
    ended(recorder, 128 + number)
    recorder = start("-p", str(burning.pid), "--", "sh", "-c", "echo ready; exec sleep 100")
    time.sleep(0.1)
    recorder.send_signal(number)
    assert recorder.wait() == 0, (number, recorder.returncode)
    running.remove(recorder)
    assert recording.info()["attached"]
    os.unlink("adaptrace.atr")

# A target that handles them has its own way, once each.
recorder = start("python3", "-c", HANDLER)
recorder.send_signal(signal.SIGHUP)
assert recorder.stdout.readline() == "hup\n"
os.killpg(recorder.pid, signal.SIGINT)
assert recorder.stdout.readline() == "int\n"
time.sleep(0.2)
recorder.send_signal(signal.SIGTERM)
rest = ended(recorder, 7)
print("then:", repr(rest))

# Who asks for nohup is not hung up on by way of us.
def without_hangup():
    as_from_a_shell()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


recorder = start("python3", "-c", HANDLER, setup=without_hangup)
recorder.send_signal(signal.SIGHUP)
time.sleep(0.2)
recorder.send_signal(signal.SIGTERM)
rest = ended(recorder, 7)
assert not rest, rest

# An alarm that was set for the command, by who then became the recorder.
recorder = start(*SIMPLE, setup=lambda: (as_from_a_shell(), signal.alarm(1)))
ended(recorder, 128 + signal.SIGALRM)

# Stopped and continued, as by Ctrl-Z and fg.
recorder = start("python3", "-c", HANDLER)
os.killpg(recorder.pid, signal.SIGSTOP)
time.sleep(0.1)
os.killpg(recorder.pid, signal.SIGCONT)
recorder.send_signal(signal.SIGTERM)
ended(recorder, 7)
END
pass
