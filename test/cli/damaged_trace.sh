#!/bin/sh
# A trace with a damaged byte anywhere is refused, or read as it was: never a crash, never a wrong
# table in silence.
. "$(dirname "$0")/scenario"
need_sampling

recorded -m 64K -g none -o good.atr "$TARGETS/burn" 0.05 >said
check <<'END'
import random
import subprocess
import recording

commands = ["report", "--json"], ["dump"]


def run(path):
    return [subprocess.run([recording.ADAPTRACE, *command, path], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=60) for command in commands]


good = open("good.atr", "rb").read()
expected = [result.stdout.replace(b"good.atr", b"bad.atr") for result in run("good.atr")]
random.seed(2)
places = [*range(0, 64, 3), *(random.randrange(len(good)) for _ in range(60))]
refused = 0
for place in places:
    bad = bytearray(good)
    bad[place] ^= 1 << random.randrange(8)
    with open("bad.atr", "wb") as file:
        file.write(bad)
    for result, same in zip(run("bad.atr"), expected):
        if result.returncode == 0:
            assert result.stdout == same, place
        else:
            assert result.returncode == 1 and len(result.stderr.splitlines()) == 1, \
                (place, result)
            refused += 1
print(refused, "of", 2 * len(places), "refused")
assert refused > len(places)
END
pass
