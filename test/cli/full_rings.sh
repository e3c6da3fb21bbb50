#!/bin/sh
# A burst fills a ring with records that are too new to be taken, and then it wakes nobody: it is
# looked at again all the same. And a program of a real-time policy leaves its CPU to the recorder.
# Alone: whether a recorder that has no CPU keeps up says nothing.
. "$(dirname "$0")/scenario"
need_sampling

cat >faults.py <<'END'
import mmap

for _ in range(50):
    with mmap.mmap(-1, 1 << 22) as memory:
        memory[::4096] = bytes(1024)
END
for way in '' --inherit; do
	recorded $way -e page-faults -m 1M --max-overhead 0 python3 faults.py
	check <<'END'
import recording

samples = recording.info()["samples"]
print(samples["taken"], samples["lost"])
assert samples["lost"] < 0.9 * (samples["taken"] + samples["lost"]), samples
END
done

chrt -f 1 taskset -c 0 true 2>/dev/null || pass
for way in '' --inherit; do
	chrt -f 1 taskset -c 0 "$ADAPTRACE" record -q $way -e cpu-clock --max-overhead 0 -F 2000 "$TARGETS/burn" 0.6 >said ||
		fail "record in real time ended with $?"
	check <<'END'
import recording

samples = recording.info()["samples"]
print(samples["taken"], samples["lost"])
assert samples["taken"] > 9 * samples["lost"], samples
END
done
pass
