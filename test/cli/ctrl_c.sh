#!/bin/sh
# Ctrl-C on a terminal is for the whole foreground: the recorder does not pass it on once more.
. "$(dirname "$0")/scenario"
need_sampling
python3 -c 'import os; os.openpty()' 2>/dev/null || skip "no terminal can be made here"

check <<'END'
import os
import pty
import signal
import time

import recording

COUNTER = """
import os, signal, sys
counted, count = os.pipe()
os.set_blocking(count, False)
signal.signal(signal.SIGINT, lambda *args: None)
signal.signal(signal.SIGTERM, lambda *args: sys.exit(os.read(counted, 99).count(signal.SIGINT)))
signal.set_wakeup_fd(count)
print("ready", flush=True)
while True:
    signal.pause()
"""
pid, terminal = pty.fork()
if not pid:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever runs the tests may ignore it
    os.execv(recording.ADAPTRACE, ["adaptrace", "record", "-q", "--max-overhead", "0", "python3",
                                   "-c", COUNTER])
said = b""
while b"ready" not in said:
    said += os.read(terminal, 4096)
for _ in range(5):
    os.write(terminal, b"\x03")
    time.sleep(0.1)
os.kill(pid, signal.SIGTERM)
status = os.waitpid(pid, 0)[1]
print("Ctrl-C five times:", status >> 8)
assert os.WIFEXITED(status) and 1 <= status >> 8 <= 5
END
pass
