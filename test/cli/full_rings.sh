#!/bin/sh
# A burst fills a ring with records that are too new to be taken, and then it wakes nobody: it is
# looked at again all the same.
# Alone: whether a recorder that has no CPU keeps up says nothing.
. "$(dirname "$0")/scenario"
need_sampling

cat >faults.py <<'END'
import mmap

for _ in range(1000):
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
pass
