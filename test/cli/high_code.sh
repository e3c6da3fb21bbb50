#!/bin/sh
# Code at 4 GiB or above in a program, at both sides of that, across it, and in a library, has its
# names, lines and callers, in a trace and in one made of the recorder's memory.
. "$(dirname "$0")/scenario"
need_sampling
command -v gcc >/dev/null && [ "$(uname -m)" = x86_64 ] || skip "no gcc for x86-64"

cat >far.c <<'END'
#include <time.h>

static volatile unsigned long sink;
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
__attribute__((noinline)) void near_work(int n)
{
	for (int i = 0; i < n; i++)
		sink ^= i * 3;
}
__attribute__((noinline, section(".far"))) void far_work(int n)
{
	for (int i = 0; i < n; i++)
		sink += i * 7;
	near_work(n);
	sink++;
}
#ifdef LIBRARY
void library_main(void)
#else
int main(void)
#endif
{
	double end = now() + 0.3;

	while (now() < end)
		far_work(10000);
#ifndef LIBRARY
	return 0;
#endif
}
END
echo 'void library_main(void); int main(void) { library_main(); }' >main.c
build() { gcc -g -O1 -fPIC "$@" || skip "this linker does not link so"; }
build -o high -pie -Wl,-Ttext-segment=0x3000000000 far.c
build -o both -pie -Wl,-Ttext-segment=0xf0000000 -Wl,--section-start=.far=0x110000000 far.c
build -o across -pie -Wl,-Ttext-segment=0xf0000000 -Wl,--section-start=.far=0xfffffff0 far.c
build -o libfar.so -shared -DLIBRARY -Wl,-Ttext-segment=0x500000000 far.c
build -o library main.c -L. -lfar -Wl,-rpath,"$work"

check_names() {
	check "$@" <<'END'
import sys
import recording

seen = {"near_work": 0, "far_work": 0}
samples = [s for s in recording.samples() if s["stack"][0]["symbol"] in seen]
for sample in samples:
    leaf = sample["stack"][0]
    seen[leaf["symbol"]] += 1
    assert leaf["module"] in sys.argv[1:], leaf
    assert leaf["file"].endswith("far.c") and leaf["line"] > 10, leaf
    assert sample["complete"], sample
    names = [frame["symbol"] for frame in sample["stack"]]
    assert "far_work" in names[:2] and "main" in names, names
assert min(seen.values()) > 0, seen
END
}

for program in high both across library; do
	echo "-- $program"
	recorded -F 1000 "./$program"
	check_names $program libfar.so
done

echo "-- recover"
lose_recorder -o killed.atr -F 1000 sh -c './both; ./both; exec sleep 30'
"$ADAPTRACE" recover -o adaptrace.atr killed.atr || fail "recover ended with $?"
check_names both
pass
