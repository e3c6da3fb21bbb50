#!/bin/sh
# On a terminal one quiet line while recording and one at the end; -q: none.
. "$(dirname "$0")/scenario"
need_sampling
python3 -c 'import os; os.openpty()' 2>/dev/null || skip "no terminal can be made here"

check <<'END'
import os
import re

import recording

BURN = os.path.join(recording.TARGETS, "burn")


def burn(*options, **terminal):
    return recording.on_terminal("record", *options, BURN, "1.2", **terminal)


said = burn("-e", "cpu-clock:u", columns=160)
print(repr(said))
shown = said.count("\033[Kadaptrace: ")
assert shown >= 3, shown
assert "adaptrace: looking up names in burn; Ctrl-C skips the rest" in said
lines = [line for line in recording.screen(said, columns=160) if "\u2192 adaptrace.atr" in line]
assert len(lines) == 1 and "lost" in lines[0] and "kept 1 of " in lines[0], lines
# A line that goes over two would scroll.
for line in burn("-e", "cpu-clock:u", columns=30).split("\033[24;1H\033[K")[1:]:
    assert len(line.split("\033")[0]) < 30, line
assert "adaptrace:" not in burn("-q", "-e", "cpu-clock:u")
waits = burn("-e", "cpu-clock:u", "--delay", "100").split("\033[K")[1]
assert waits.startswith("adaptrace: sampling starts in 9"), waits
# What the program writes stays, and lines that it has not finished go on; nothing else is left.
script = f"printf 'Go on? '; {BURN} 1.2; printf '%s\n' yes 1 2 3; {BURN} 0.7; printf end"
expected = r"""Go on[?] used [0-9.]*
stalled [0-9.]*
yes
1
2
3
used [0-9.]*
stalled [0-9.]*
end
adaptrace: .* Hz: .*
adaptrace: [0-9]+ samples? in .* m?s, .* lost . adaptrace.atr .*"""
for rows in 24, 6:
    said = recording.on_terminal("record", "-e", "cpu-clock:u", "sh", "-c", script, columns=160,
                                 rows=rows)
    lines = recording.screen(said, rows, 160)
    # The row of the status line is free in the end.
    wanted = expected.split("\n")[-rows + 1:]
    assert re.fullmatch("\n".join(wanted), "\n".join(lines[-len(wanted):])), lines
# Whoever is in the foreground is not written over.
said = burn("-e", "cpu-clock:u", background=True)
assert "\033" not in said and said.count("adaptrace: ") == 2, said
# Nor is a program that draws on the terminal itself.
said = burn("-e", "cpu-clock:u", taken=True)
assert "\033" not in said and said.count("adaptrace: ") == 2, said
script = f"{BURN} 0.7; stty -icanon; {BURN} 1; echo taken; {BURN} 0.7; echo back; stty icanon"
said = recording.on_terminal("record", "-e", "cpu-clock:u", "sh", "-c", script)
before, meanwhile = said.split("back")[0].split("taken")
assert "adaptrace: " in before and before.rindex("\033[r") > before.rindex("\033[1;23r"), before
assert "\033" not in meanwhile, meanwhile
# Nor anything on one that understands no more than lines.
said = burn("-e", "cpu-clock:u", term="dumb")
assert "\033" not in said and said.count("adaptrace: ") == 2, said
END
# Not on a terminal: the last lines alone, why it was sampled so fast, and what was recorded.
"$ADAPTRACE" record -e cpu-clock:u "$TARGETS/burn" 0.7 >said 2>errors || fail "$(cat errors)"
[ "$(wc -l <errors)" = 2 ] || fail "$(cat errors)"
tail -n 1 errors | grep -Eq ': [0-9]+ samples? in [0-9.]+ m?s, .* adaptrace.atr' || fail "$(cat errors)"
# A rate that was asked for is near that; a period is exactly that, and needs no reason.
"$ADAPTRACE" record --max-overhead 0 -F 99 -e cpu-clock:u "$TARGETS/burn" 0.1 >said 2>errors || fail "$(cat errors)"
grep -q '^adaptrace: 102 Hz: close to the 99 Hz asked for; round periods' errors || fail "$(cat errors)"
"$ADAPTRACE" record --max-overhead 0 -c 1000000 -e cpu-clock:u "$TARGETS/burn" 0.1 >said 2>errors || fail "$(cat errors)"
[ "$(wc -l <errors)" = 1 ] || fail "$(cat errors)"
pass
