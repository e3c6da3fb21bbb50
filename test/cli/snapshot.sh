#!/bin/sh
# A snapshot holds what the recorder had at that moment, all of it, and the recorder goes on.
. "$(dirname "$0")/scenario"
need_sampling

start_recording -m 256K -F 10000 -o x.atr "$TARGETS/contexts" 100000 60 2>errors
if grep -q "no room in /dev/shm" errors; then
	skip "no room in /dev/shm"
fi
for i in 1 2 3 4 5; do
	"$ADAPTRACE" snapshot -o s$i.atr x.atr 2>said || fail "snapshot ended with $?: $(cat said)"
	grep -q "the run so far, .* → s$i.atr" said || fail "$(cat said)"
	sleep 0.4
done
kill $recorder
wait $recorder
status=$?
[ $status = 143 ] || fail "record ended with $status"
check <<'END'
import recording

END_OF_RING = 500000000 # ns that a sample may wait to be taken in

last = {(s["time_ns"], s["tid"]): s for s in recording.samples("x.atr")}
info = recording.info("x.atr")
assert not info["snapshot"] and info["samples"]["malformed"] == 0, info
before = None
for name in ("s1.atr", "s2.atr", "s3.atr", "s4.atr", "s5.atr"):
    info = recording.info(name)
    samples = recording.samples(name)
    assert info["snapshot"] and not info["recovered"] and info["exit_status"] is None, info
    assert info["memory"]["records"] is None, info["memory"]
    assert info["samples"]["malformed"] == 0, info["samples"]
    assert len(samples) == info["samples"]["stored"] <= info["samples"]["taken"]
    end = info["start_ns"] + info["wall_ns"]
    assert before is None or end > before
    before = end
    # What was kept to the end was there.
    there = {(s["time_ns"], s["tid"]): s for s in samples}
    for key, sample in last.items():
        if key[0] < end - END_OF_RING:
            assert there[key]["stack"] == sample["stack"], (name, key)
assert len(there) > 500, len(there)
END

"$ADAPTRACE" snapshot x.atr 2>errors && fail "a snapshot of nobody"
one_complaint errors "no recorder of yours is at work on 'x.atr'" || fail "$(cat errors)"
[ ! -e snapshot.atr ] || fail "it left a file"
start_recording --delay 60 -o late.atr sleep 60
"$ADAPTRACE" snapshot late.atr 2>errors && fail "a snapshot of nothing"
one_complaint errors "has not begun to sample yet" || fail "$(cat errors)"
start_recording -o killed.atr sleep 60
pkill -KILL -P $recorder
kill -KILL $recorder
wait $recorder 2>/dev/null
"$ADAPTRACE" snapshot killed.atr 2>errors && fail "a snapshot of a dead recorder"
one_complaint errors "no recorder of yours" || fail "$(cat errors)"
"$ADAPTRACE" recover killed.atr 2>errors

# Of a library without a build-id that was replaced, only what is there now can be asked for names.
command -v cc >/dev/null || pass
cat >replaced.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
static void use(void)
{
	void *library = dlopen("./now.so", RTLD_NOW);

	((void (*)(void))dlsym(library, "work"))();
	dlclose(library);
}
int main(void)
{
	use();
	rename("next.so", "now.so");
	use();
	puts("ready");
	fflush(stdout);
	while (access("done", F_OK))
		usleep(10000);
	return 0;
}
EOF
cat >library.c <<'EOF'
static __attribute__((noinline)) long NAME(long x)
{
	for (int i = 0; i < 1000; i++)
		x = x * 31 + (x >> 3);
	return x;
}
void work(void)
{
	static volatile long s;
	for (int i = 0; i < 100000; i++)
		s += NAME(i);
}
EOF
for name in first second; do
	cc -O1 -DNAME=$name -fPIC -shared library.c -o $name.so -Wl,--build-id=none || fail "no library"
done
cc -O1 replaced.c -o replaced -ldl || fail "no program"
mv first.so now.so
mv second.so next.so
start_recording -F 1000 -o whole.atr ./replaced >said
await grep -q ready said
sleep 1 # what a sample may wait to be taken in
"$ADAPTRACE" snapshot -o part.atr whole.atr 2>errors || fail "$(cat errors)"
touch done
wait $recorder
check <<'END'
import recording

for name, first in (("whole.atr", "first"), ("part.atr", None)):
    leaves = [(s["time_ns"], s["stack"][0]) for s in recording.samples(name)]
    leaves = [leaf["symbol"] for _, leaf in sorted(leaves, key=lambda l: l[0]) if leaf["module"] == "now.so"]
    assert leaves[5] == first and leaves[-5] == "second", (name, leaves[5], leaves[-5])
END
pass
