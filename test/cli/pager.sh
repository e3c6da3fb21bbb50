#!/bin/sh
# What is longer than a terminal goes to a pager, and to nothing else; --width is for what is none.
. "$(dirname "$0")/scenario"
need_sampling
python3 -c 'import os; os.openpty()' 2>/dev/null || skip "no terminal can be made here"

"$ADAPTRACE" record -q -e cpu-clock:u "$TARGETS/burn" 0.3 >said 2>&1 || fail "$(cat said)"
cp adaptrace.atr adaptrace.atr.old
check <<'END_CHECK'
import os

import recording

MARK = "sed s/^/P:/"


def shown(command, *options, rows=6, **variables):
    for name in ("ADAPTRACE_PAGER", "PAGER", "LESS"):
        os.environ.pop(name, None)
    os.environ.update(variables)
    said = recording.on_terminal(command, *options, rows=rows, columns=300)
    return [line for line in said.replace("\r", "").split("\n") if line]


for command in "report", "diff":
    lines = shown(command, PAGER=MARK)
    assert len(lines) > 4 and all(line.startswith("P:") for line in lines), lines
    # What fits is printed as it is, and so is everything where that is wished.
    plain = [line[2:] for line in lines if line != "P:"]
    assert shown(command, rows=60, PAGER=MARK) == plain
    assert shown(command, "--no-pager", PAGER=MARK) == plain
    assert shown(command, PAGER="cat") == plain
    assert shown(command, PAGER="") == plain
    assert shown(command, PAGER=MARK, ADAPTRACE_PAGER="cat") == plain
    assert shown(command, PAGER="cat", ADAPTRACE_PAGER=MARK) == lines
    # The last row is the prompt's.
    assert shown(command, rows=len(lines) + 1, PAGER=MARK) == plain
    assert shown(command, rows=len(lines), PAGER=MARK) == lines
    # Who leaves early wants no more; who cannot be started is told of, and nothing is lost.
    assert shown(command, PAGER="head -n 1") == plain[:1]
    said = shown(command, PAGER="/nonexistent/pager")
    assert [line for line in said if "cannot start the pager" not in line] == plain, said
    assert len(said) == len(plain) + 1, said
assert not any(line.startswith("P:") for line in shown("report", "--json", PAGER=MARK))
END_CHECK
PAGER="sed s/^/P:/" "$ADAPTRACE" report >out || fail "no report"
! grep -q ^P: out || fail "a file was given to a pager"
"$ADAPTRACE" report --all --no-header --width 70 >out || fail "no report"
awk 'length($0) > 76 { exit 1 }' out || fail "wider than 70 columns: $(cat out)"
for wrong in 0 -1 x; do
	! "$ADAPTRACE" report --width "$wrong" >out 2>&1 || fail "--width $wrong was taken"
	one_complaint out "cannot limit columns" || fail "$(cat out)"
done
pass
