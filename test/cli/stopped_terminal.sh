#!/bin/sh
# Standard error that takes nothing, a terminal after Ctrl-S or a pipe or socket that nobody reads,
# keeps neither samples nor signals from the recorder, which ends all the same.
# Waits: for a terminal that takes nothing.
. "$(dirname "$0")/scenario"
need_sampling
python3 -c 'import os; os.openpty()' 2>/dev/null || skip "no terminal can be made here"

check <<'END'
import fcntl
import os
import pty
import signal
import socket
import struct
import subprocess
import termios
import time

import recording

BURN = os.path.join(recording.TARGETS, "burn")


def start(stderr, *arguments):
    return subprocess.Popen(
        [recording.ADAPTRACE, "record", "--max-overhead", "0", "-e", "cpu-clock:u", *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True,
        env={**os.environ, "TERM": "xterm"})


def read_all(fd):
    os.set_blocking(fd, False)
    text = b""
    try:
        while part := os.read(fd, 65536):
            text += part
    except (BlockingIOError, OSError):
        pass
    return text.decode()


def fill(fd):
    os.set_blocking(fd, False)
    try:
        while os.write(fd, b"." * 4096):
            pass
    except BlockingIOError:
        pass
    os.set_blocking(fd, True)


def stopped_terminal():
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    termios.tcflow(slave, termios.TCOOFF)
    return master, slave


def full_pipe():
    reader, writer = os.pipe()
    fill(writer)
    return reader, writer


def full_socket():
    ends = socket.socketpair()
    fill(ends[1].fileno())
    return ends[0].detach(), ends[1].detach()


def samples():
    return len(recording.samples())


# While the program runs, all of its samples are taken, however many lines wait.
for make in stopped_terminal, full_pipe, full_socket:
    reader, writer = make()
    recorder = start(writer, "-F", "500", BURN, "1.5")
    assert recorder.wait(30) == 0, make
    assert samples() > 450, (make, samples())
    # What was said is shown as soon as that is possible.
    if make == stopped_terminal:
        termios.tcflow(writer, termios.TCOON)
        time.sleep(0.5)
        assert "lost \u2192 adaptrace.atr" in read_all(reader)
    os.close(writer)
    os.close(reader)

# SIGINT and SIGTERM end what would go on for ever.
for end in signal.SIGINT, signal.SIGTERM:
    target = subprocess.Popen([BURN, "60"], stdout=subprocess.DEVNULL)
    reader, writer = stopped_terminal()
    recorder = start(writer, "-p", str(target.pid))
    time.sleep(1)
    recorder.send_signal(end)
    assert recorder.wait(20) == 0
    assert samples() > 0
    target.kill()
    target.wait()
    os.close(writer)
    os.close(reader)

# The terminal's flags, which the target shares, stay as they are.
reader, writer = stopped_terminal()
recorder = start(writer, "sh", "-c", "cat /proc/self/fdinfo/2 >flags")
assert recorder.wait(20) == 0
flags = int(open("flags").read().split("flags:")[1].split()[0], 8)
assert not flags & os.O_NONBLOCK, oct(flags)
END
pass
