#!/bin/sh
# Programs that no name leads to from here, in memory or in a container, have their names and whole
# stacks as any others.
. "$(dirname "$0")/scenario"
need_sampling

cat >execute.py <<'END'
import os, sys

memory = os.memfd_create("program", 0)
with open(sys.argv[1], "rb") as file:
    os.write(memory, file.read())
os.execve(memory, sys.argv[1:], os.environ)
END
whole_stacks() {
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
}

recorded -m 1M -F 1000 python3 execute.py "$TARGETS/burn" 0.3 >/dev/null
whole_stacks

mkdir jail
for file in "$TARGETS/burn" $(ldd "$TARGETS/burn" | grep -o '/[^ ]*'); do
	mkdir -p "jail$(dirname "$file")"
	cp -L "$file" "jail$file"
done
mv "jail$TARGETS/burn" jail/contained
unshare -m true 2>/dev/null || skip "no mount namespaces"
recorded -m 1M -F 1000 unshare -m chroot jail /contained 0.3 >/dev/null
whole_stacks

# Its debug files are in the container, too.
mkdir jail/.debug && objcopy --only-keep-debug jail/contained jail/.debug/x &&
	strip jail/contained && (cd jail/.debug && objcopy --add-gnu-debuglink=x ../contained) || fail "strip"
mkdir box
unshare -m sh -c 'mount --bind jail box && exec box/contained 60' >/dev/null &
background=$!
await sh -c "readlink /proc/$background/exe | grep -q contained"
recorded -m 1M -F 1000 -p $background --duration 0.3
whole_stacks
pass
