#!/bin/sh
# OTF2, read by the library's own tools and its Python bindings.
. "$(dirname "$0")/convert_traces"
need_otf2
"$ADAPTRACE" convert --otf2 plain.atr -o out 2>&1 | grep 'built without' && skip "built without"
check_format otf2 -otf2
for kind in plain reduced hostile; do
	timeout 20 otf2-print -Werror --silent $kind-otf2/traces.otf2 >log 2>&1 || fail "otf2-print $(cat log)"
	timeout 20 otf2-print $kind-otf2/traces.otf2 >log 2>&1
	grep INVALID log && fail "references to nothing"
	timeout 20 otf2-print -G $kind-otf2/traces.otf2 >>log 2>&1
	grep -aP '[\x00-\x08\x0b-\x1f\x7f]' log && fail "control characters"
	"$ADAPTRACE" info --json $kind.atr >info.json
	python3 "$here/convert_otf2.py" $kind-otf2/traces.otf2 $kind.json info.json
done
otf2-marker reduced-otf2/traces.otf2 | grep -q 'cpu-clock: period 194162, memory'
# Long command lines, and thousands of threads that name themselves: more than an archive's
# properties can be.
recorded -o long.atr true $(seq 30000) $(seq 30000)
recorded -o many.atr python3 - <<'END'
import threading


def call_it(number):
    with open("/proc/thread-self/comm", "w") as comm:
        comm.write(f"thread-{number}")


for number in range(2600):
    thread = threading.Thread(target=call_it, args=(number,))
    thread.start()
    thread.join()
END
for kind in long many; do
	"$ADAPTRACE" convert --otf2 $kind.atr || fail "cannot convert"
	otf2-print -Werror --silent $kind-otf2/traces.otf2 >log 2>&1 || fail "$kind: $(cat log)"
done
# Nobody does anything: readers would take the archive for a broken one.
recorded -F 0.01 -o empty.atr true
"$ADAPTRACE" convert --otf2 empty.atr 2>errors && fail "an archive of nothing"
one_complaint errors "'empty.atr': .*needs a sample or a call" || fail "$(cat errors)"
[ ! -e empty-otf2 ] || fail "an archive of nothing is left"
# -o may name the archive's first file; a folder with something else in it is never replaced.
"$ADAPTRACE" convert --otf2 -o named/traces.otf2 plain.atr
diff -r -x traces.otf2 named plain-otf2
echo precious >named/traces/mine
"$ADAPTRACE" convert --otf2 --force -o named plain.atr && fail "a file of the user's was removed"
grep -q precious named/traces/mine
# Nor is one that cannot be removed.
mkdir public
cp plain.atr public/x.atr
chmod 644 public/x.atr
chmod 777 . public
cd public
as_user "$ADAPTRACE" convert --otf2 -q x.atr 2>../errors || fail "convert: $(cat ../errors)"
echo old >x-otf2/traces.otf2
chmod 555 x-otf2/traces
as_user "$ADAPTRACE" convert --otf2 -q --force x.atr 2>../errors && fail "it was replaced"
one_complaint ../errors "cannot write 'x-otf2'" || fail "$(cat ../errors)"
grep -qx old x-otf2/traces.otf2 || fail "it was replaced, and yet a failure"
[ "$(ls -A)" = "x-otf2
x.atr" ] || fail "left behind: $(ls -A)"
cd ..
"$ADAPTRACE" convert --otf2 -o - plain.atr >piped && fail "a folder went to a pipe"
pass
