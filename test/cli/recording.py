"""What the tests look at: traces as adaptrace itself tells of them, and what targets said."""

import collections
import json
import os
import subprocess

ADAPTRACE = os.environ["ADAPTRACE"]
TARGETS = os.environ["TARGETS"]


def output_of(*args):
    return subprocess.run([ADAPTRACE, *args], check=True, stdout=subprocess.PIPE).stdout


def info(path="adaptrace.atr"):
    return json.loads(output_of("info", "--json", path))


def report(path="adaptrace.atr", *options):
    return json.loads(output_of("report", "--json", *options, path))


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
    """Lines "NAME NUMBER..." of a target's output: {NAME: [NUMBER, ...]}, repeated ones joined."""
    lines = collections.defaultdict(list)
    with open(path) as file:
        for line in file:
            name, *numbers = line.split()
            lines[name] += [float(number) for number in numbers]
    return lines


def stolen():
    """Seconds that the host took from this machine since the last recording began: while it
    does, clocks do not tick, and what was running seems to have run all the same."""
    def ticks(path):
        with open(path) as file:
            return int(file.readline().split()[8])
    return (ticks("/proc/stat") - ticks("stat")) / os.sysconf("SC_CLK_TCK")


def close(actual, expected, share, allowed=0.0):
    """Equal but for a share of the expected and an absolute allowance."""
    off = actual - expected
    verdict = abs(off) <= share * abs(expected) + allowed
    print(f"{actual:.6g} against {expected:.6g}: {off / expected if expected else 0:+.2%}"
          f" (allowed {share:.0%} + {allowed:.3g}){'' if verdict else '  <<< WRONG'}")
    return verdict
