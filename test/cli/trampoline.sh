#!/bin/sh
# Stacks go through code made at run time that keeps no frame pointer, as CPython's -X perf makes it.
. "$(dirname "$0")/scenario"
need_sampling

for fp in 0 1 0x123456789abc; do
	recorded -m 1M -F 1000 "$TARGETS/trampoline" 0.3 $fp >said
	grep -q unsupported said && skip "this machine's CPython keeps a frame pointer"
	rm -f "/tmp/perf-$(sed -n 's/^pid //p' said).map"
	check <<'END'
import recording

nr = 0
for sample in recording.samples():
    stack = [frame["symbol"] for frame in sample["stack"]]
    if "made" in stack:
        nr += 1
        at = stack.index("made")
        assert stack[at - 1] == "work" and stack[at + 1:at + 3] == ["enter", "main"], stack
        assert sample["complete"], stack
assert nr > 50, nr
END
done

# The names are known of what a container of its own ran, of which nothing is left.
container='mount -t tmpfs none /tmp && "$TARGETS/trampoline" 0.3'
if unshare -m -p -f mount -t tmpfs none /tmp 2>/dev/null; then
	recorded -m 1M -F 1000 unshare -m -p -f sh -c "$container" >said
	[ -e "/tmp/perf-$(sed -n 's/^pid //p' said).map" ] && fail "the container has our /tmp"
	check <<'END'
import recording

nr = sum(any(frame["symbol"] == "made" for frame in s["stack"]) for s in recording.samples())
assert nr > 50, nr
END
fi

# Code that could not be read at first, because another process let its readers wait, is read later.
cat >both <<'END'
"$TARGETS/held_stack" >held &
held=$!
until grep -q held held || ! kill -0 $held 2>/dev/null; do sleep 0.05; done
sleep 0.5
"$TARGETS/trampoline" 3 &
sleep 0.5
kill -KILL $held && wait
END
recorded -m 1M -F 1000 sh both >said 2>/dev/null
rm -f "/tmp/perf-$(sed -n 's/^pid //p' said).map"
check <<'END'
import recording

made = [s for s in recording.samples() if any(frame["symbol"] == "made" for frame in s["stack"])]
late = [s["complete"] for s in made if s["time_ns"] > made[0]["time_ns"] + 2e9]
assert len(late) > 50 and all(late), (len(late), sum(late))
END

# Nothing is guessed of other code: a stack that ends early is better than one that is wrong. It is
# not told as complete either where the register happens to hold what marks the outermost frame.
for fp in 1 0; do
	recorded -m 1M -F 1000 "$TARGETS/trampoline" 0.3 $fp lie >said
	rm -f "/tmp/perf-$(sed -n 's/^pid //p' said).map"
	check <<'END'
import recording

nr = 0
for sample in recording.samples():
    stack = [frame["symbol"] for frame in sample["stack"]]
    assert "never" not in stack, stack
    if "made" in stack:
        nr += 1
        assert stack[stack.index("made") + 1:] == ["[truncated]"] and not sample["complete"], stack
assert nr > 50, nr
END
done
pass
