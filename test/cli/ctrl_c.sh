#!/bin/sh
# Ctrl-C on a terminal is for the whole foreground: the recorder does not pass it on once more. So is
# Ctrl-Z, and the recorder gives the terminal back before it stops.
. "$(dirname "$0")/scenario"
need_sampling
python3 -c 'import os; os.openpty()' 2>/dev/null || skip "no terminal can be made here"

check <<'END'
import fcntl
import os
import pty
import signal
import struct
import termios
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


def shell():
    """Continues a job that stopped, once, and tells when it did."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        for number in signal.SIGTTOU, signal.SIGTSTP, signal.SIGINT:
            signal.signal(number, signal.SIG_DFL)
        os.execve(recording.ADAPTRACE,
                  ["adaptrace", "record", "-e", "cpu-clock:u", "sh", "-c",
                   f"echo ready; {recording.TARGETS}/burn 1.5; exec sleep 100"],
                  {**os.environ, "TERM": "xterm"})
    _, status = os.waitpid(pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTSTP, status
    os.write(1, b"stopped\n")
    os.killpg(pid, signal.SIGCONT)
    return os.waitpid(pid, os.WUNTRACED)[1]


pid, terminal = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    status = shell()
    os._exit(0 if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 130 else 1)
said = b""


def await_text(text):
    global said
    said = b""
    while text not in said:
        said += os.read(terminal, 4096)


await_text(b"\033[1;23r")
os.write(terminal, b"\x1a")
await_text(b"stopped")
assert b"\033[1;23r" not in said and b"\033[r" in said, said
await_text(b"\033[1;23r")
os.write(terminal, b"\x03")
await_text(b"adaptrace.atr")
assert b"\033[1;23r" not in said.split(b"\033[r")[1], said
status = os.waitpid(pid, 0)[1]
assert status == 0, status
END
pass
