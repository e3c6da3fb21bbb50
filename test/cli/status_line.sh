#!/bin/sh
# On a terminal one quiet line while recording and one at the end; -q: none.
. "$(dirname "$0")/scenario"
need_sampling
python3 -c 'import os; os.openpty()' 2>/dev/null || skip "no terminal can be made here"

check <<'END'
import os

import recording


def burn(*options, **terminal):
    return recording.on_terminal("record", *options, os.path.join(recording.TARGETS, "burn"),
                                 "1.2", **terminal)


said = burn("-e", "cpu-clock:u")
print(repr(said))
shown = said.count("\033[Kadaptrace: ")
assert shown >= 2, shown
lines = [line for line in said.replace("\r\n", "\n").split("\n") if "\u2192 adaptrace.atr" in line]
assert len(lines) == 1 and "lost" in lines[0] and "kept 1 of 1" in lines[0], lines
# A line that goes over two is not erased.
for line in burn("-e", "cpu-clock:u", columns=30).split("\033[K")[1:]:
    assert "\u2192" in line or len(line.split("\r")[0]) < 30, line
assert "adaptrace:" not in burn("-q", "-e", "cpu-clock:u")
waits = burn("-e", "cpu-clock:u", "--delay", "100").split("\033[K")[1]
assert waits.startswith("adaptrace: sampling starts in 9"), waits
# Whoever is in the foreground is not written over.
said = burn("-e", "cpu-clock:u", background=True)
assert "\033[K" not in said and said.count("adaptrace: ") == 1, said
# Nor is a program that draws on the terminal itself.
said = burn("-e", "cpu-clock:u", taken=True)
assert "\033[K" not in said and said.count("adaptrace: ") == 1, said
END
# Not on a terminal: the last line alone.
"$ADAPTRACE" record -e cpu-clock:u "$TARGETS/burn" 0.7 >said 2>errors || fail "$(cat errors)"
[ "$(wc -l <errors)" = 1 ] || fail "$(cat errors)"
grep -q 'adaptrace.atr' errors || fail "$(cat errors)"
pass
