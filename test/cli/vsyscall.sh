#!/bin/sh
# Old programs ask for the time by the vsyscall page, which lies in the kernel's half: it has its
# name there, and callers.
. "$(dirname "$0")/scenario"
need_sampling

cat >old.c <<'END'
#include <time.h>
int main(void)
{
	time_t (*old_time)(time_t *) = (void *)0xffffffffff600400;
	clock_t end = clock() + 300000;

	while (clock() < end)
		for (int i = 0; i < 500; i++)
			old_time(0);
	return 0;
}
END
[ "$(uname -m)" = x86_64 ] || skip "only x86-64 has such a page"
cc -O1 -o old old.c 2>/dev/null || skip "there is no compiler"
./old 2>/dev/null || skip "this kernel has no such page any more"
record -o kernel.atr -e cpu-clock:k true 2>/dev/null || skip "the kernel may not be sampled"

recorded ./old
check <<'END'
import recording
called = returned = 0
for sample in recording.samples():
    symbols = [frame["symbol"] for frame in sample["stack"]]
    if "[vsyscall]" in symbols:
        assert sample["complete"], symbols
        called += 1
        # The kernel, which plays the page, takes the return address off the stack before it
        # follows it: a sample in between has lost it.
        if symbols[symbols.index("[vsyscall]") + 1] != "main":
            assert "emulate_vsyscall" in symbols, symbols
            returned += 1
assert called > 20 and returned <= called / 20, (called, returned)
END
pass
