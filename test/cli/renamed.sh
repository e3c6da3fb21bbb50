#!/bin/sh
# Samples of a thread that changes its name belong to the name that it had then, in whatever shows
# them.
. "$(dirname "$0")/scenario"
need_sampling

recorded -e cpu-clock:u -F 500 -o x.atr python3 -c '
import ctypes, time
libc = ctypes.CDLL(None)
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
for name, seconds in (b"first", 0.2), (b"second", 0.4), (b"first", 0.2), (b"third", 0.2):
    libc.prctl(15, name, 0, 0, 0)
    work(seconds)'
check <<'END'
import json
import subprocess
from collections import Counter

import recording


def shown(*arguments):
    return subprocess.run([recording.ADAPTRACE, *arguments, "x.atr"], stdout=subprocess.PIPE,
                          check=True).stdout.decode()


dumped = Counter()
order = []
for line in shown("dump", "--json").splitlines():
    sample = json.loads(line)
    dumped[sample["comm"]] += sample["weight"]
    if not order or order[-1] != sample["comm"]:
        order.append(sample["comm"])
print(dumped, order)
assert order[-4:] == ["first", "second", "first", "third"], order
total = sum(dumped.values())
for name, share in ("first", 0.4), ("second", 0.4), ("third", 0.2):
    assert abs(dumped[name] / total - share) < 0.1, (name, dumped)
folded = Counter()
for line in shown("convert", "--folded", "-q", "-o", "-").splitlines():
    path, weight = line.rsplit(" ", 1)
    if "[" not in path.split(";")[1]:
        folded[path.split(";")[0]] += int(weight)
for name in "first", "second", "third":
    assert abs(folded[name] - dumped[name]) < 0.02 * total, (name, folded, dumped)
info = json.loads(shown("info", "--json"))
threads = Counter(thread["comm"] for thread in info["threads"] if thread["stored"])
assert threads["first"] == threads["second"] == threads["third"] == 1, threads
END
for format in chrome speedscope firefox pprof; do
	"$ADAPTRACE" convert -q --$format -o x.$format x.atr || fail $format
done
pass
