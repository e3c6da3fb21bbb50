"""What the tests look at: traces as adaptrace itself tells of them, and what targets said."""

import collections
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

ADAPTRACE = os.environ["ADAPTRACE"]
TARGETS = os.environ["TARGETS"]


def output_of(*args):
    return subprocess.run([ADAPTRACE, *args], check=True, stdout=subprocess.PIPE).stdout


def on_terminal(*args, columns=80, rows=24, background=False, taken=False, term="xterm"):
    """What the program writes where it believes to be seen, standard error included.

    taken: a terminal whose lines some program edits itself."""
    pid, terminal = pty.fork()
    if not pid:
        if background and (pid := os.fork()):
            os._exit(os.waitpid(pid, 0)[1] >> 8)
        if background:
            os.setpgid(0, 0)
        if taken:
            settings = termios.tcgetattr(2)
            settings[3] &= ~termios.ICANON
            termios.tcsetattr(2, termios.TCSANOW, settings)
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execve(ADAPTRACE, ["adaptrace", *args], {"PAGER": "cat", **os.environ, "TERM": term, "NO_COLOR": "1"})
    text = b""
    try:
        while part := os.read(terminal, 4096):
            text += part
    except OSError:
        pass
    assert os.waitpid(pid, 0)[1] == 0
    return text.decode()


def screen(text, rows=24, columns=80):
    """The lines that a terminal shows at last of what was written there, up to the last one used."""
    lines, row, column, noted, end = [" " * columns] * rows, 0, 0, (0, 0), rows

    def index():
        nonlocal lines, row
        if row == end - 1:
            lines = lines[1:end] + [" " * columns] + lines[end:]
        else:
            row = min(row + 1, rows - 1)

    for part in re.findall(r"\033\[[0-9;]*[A-Za-z]|\033.|.", text, re.DOTALL):
        numbers = [int(number) for number in re.findall(r"\d+", part)]
        if part == "\r":
            column = 0
        elif part in ("\n", "\033D"):
            index()
        elif part == "\0337":
            noted = row, column
        elif part == "\0338":
            row, column = noted
        elif part == "\033[A":
            row = max(row - 1, 0)
        elif part == "\033[K":
            lines[row] = lines[row][:column].ljust(columns)
        elif part.startswith("\033[") and part.endswith("H"):
            row, column = numbers[0] - 1, numbers[1] - 1
        elif part.startswith("\033[") and part.endswith("r"):
            row = column = 0
            end = numbers[1] if numbers else rows
        else:
            assert part.isprintable(), repr(part)
            if column == columns:
                column = 0
                index()
            lines[row] = lines[row][:column] + part + lines[row][column + 1:]
            column += 1
    assert end == rows, "a part of the terminal does not scroll any more"
    return "\n".join(line.rstrip() for line in lines).rstrip().split("\n")


def info(path="adaptrace.atr"):
    return json.loads(output_of("info", "--json", path))


def report(path="adaptrace.atr", *options):
    return json.loads(output_of("report", "--json", *options, path))


def whole(trace):
    """What diff compares: what the kernel counted, where it counts the sides that were sampled.
    Reports of inherited events have what was not sampled in them where it is much."""
    (event,), told = info(trace)["events"], report(trace)
    known = event["exact"] is not None and not event["name"].endswith((":u", ":k"))
    if not known or told["scaled"] or any("unsampled" in row for row in told["functions"]):
        return told["total_weight"]
    return event["exact"]


def samples(path="adaptrace.atr"):
    """All stored samples, oldest first."""
    return [json.loads(line) for line in output_of("dump", "--json", path).splitlines()]


def weights(samples, key):
    """The sum of weights for each value of a key: a field's name or a function."""
    sums = collections.Counter()
    for sample in samples:
        sums[key(sample) if callable(key) else sample[key]] += sample["weight"]
    return sums


def said(path="said"):
    """Lines "NAME NUMBER..." of a target's output: {NAME: [NUMBER, ...]}, repeated ones joined.
    Others are left out."""
    lines = collections.defaultdict(list)
    with open(path) as file:
        for line in file:
            name, *numbers = line.split()
            try:
                lines[name] += [float(number) for number in numbers]
            except ValueError:
                pass
    return lines


def stood_still():
    """Seconds that this machine may have stood still since the last recording began, as virtual ones
    do: no clock ticks then, and yet time seems to be used. What the host admits to have taken, and
    what the target noticed."""
    def ticks(path):
        with open(path) as file:
            return int(file.readline().split()[8])
    stolen = (ticks("/proc/stat") - ticks("stat")) / os.sysconf("SC_CLK_TCK")
    noticed = sum(said()["stalled"]) if os.path.exists("said") else 0
    assert 0 <= stolen + noticed < 3600
    return stolen + noticed


def allowance(info):
    """The same, the samples of event 0 that were lost on a busy machine, and those that the kernel
    itself knows to have skipped, up to a twentieth, in seconds."""
    event = info["events"][0]
    exact, sampled = event["exact"] or 0, sum(c["weight"] for c in info["commands"])
    skipped = min(max(exact - sampled, 0), exact / 20)
    return stood_still() + (info["samples"]["lost"] * event["final_period"] + skipped) / 1e9


def between(actual, least, most, share, allowed=0.0):
    """Close to one of these or anything between them."""
    return close(actual, min(max(actual, least), most), share, allowed)


def of_storm(info, comm):
    """The least and the most that a command of storm used, in seconds, as far as it is counted as that
    command's. Events of a cgroup count from where it has its name. Of inherited ones all that no sample
    has counted for the name before is there, until the kernel buries the process, before or after it
    takes the memory apart."""
    (used,), (birth,), (life,) = (said()[comm + part] for part in ("", "-birth", "-life"))
    return (used - birth, used - birth) if info["counting"] == "cgroup" else (life - birth, used)


def close(actual, expected, share, allowed=0.0):
    """Equal but for a share of the expected and an absolute allowance."""
    off = actual - expected
    verdict = abs(off) <= share * abs(expected) + allowed
    print(f"{actual:.6g} against {expected:.6g}: {off / expected if expected else 0:+.2%}"
          f" (allowed {share:.0%} + {allowed:.3g}){'' if verdict else '  <<< WRONG'}")
    return verdict
