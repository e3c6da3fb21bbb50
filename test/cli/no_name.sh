#!/bin/sh
# A program in memory, which no name leads to, has its names and whole stacks as any other.
. "$(dirname "$0")/scenario"
need_sampling

cat >execute.py <<'END'
import os, sys

memory = os.memfd_create("program", 0)
with open(sys.argv[1], "rb") as file:
    os.write(memory, file.read())
os.execve(memory, sys.argv[1:], os.environ)
END
recorded -m 1M -F 1000 python3 execute.py "$TARGETS/burn" 0.3 >/dev/null
check <<'END'
import recording

nr = 0
for sample in recording.samples():
    stack = [frame["symbol"] for frame in sample["stack"]]
    if "burn_until" in stack:
        nr += 1
        assert sample["complete"] and stack[stack.index("burn_until") + 1] == "main", stack
assert nr > 50, nr
END
pass
