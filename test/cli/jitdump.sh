#!/bin/sh
# Code made at run time has the names and lines that the program's jitdump tells.
. "$(dirname "$0")/scenario"
need_sampling

recorded -m 1M -F 1000 "$TARGETS/jitdump" 0.4 >said
grep -q unsupported said && skip "the program cannot make code here"
check <<'END'
import recording

made = [s["stack"][0] for s in recording.samples() if s["stack"][0]["symbol"] == "made"]
assert len(made) > 100, len(made)
assert all(frame["file"] == "made.js" and frame["line"] in (7, 8) for frame in made), made
END
# FlameGraph takes code of a module in brackets for the kernel's.
"$ADAPTRACE" convert --perf-script -o - | grep -q ' made+0x.* (/tmp/perf-[1-9][0-9]*\.map)$' || fail "not as perf names it"
pass
