#!/bin/sh
# Small traces that were made to stand for terabytes: what reads them ends at its limits, says so in
# one line, and leaves no file behind.
. "$(dirname "$0")/scenario"
build=$(dirname "$ADAPTRACE")
(cd "$here/../.." && make -s BUILD="${build#"$PWD"/}" "${build#"$PWD"/}/unit/make_crafted") || fail make
craft() { "$build/unit/make_crafted" "$@" || fail "make_crafted $*"; }

craft deep.atr depth=2000 samples=5000 name=60000
craft each_depth.atr depth=1500 samples=3000 name=60000 spread=1
craft cycle.atr depth=100 samples=40 name=3 cycle=1
craft inlined.atr depth=300 leaves=300 samples=600 name=30000 inlined=128
craft overlap.atr depth=10 samples=600 name=100000 overlap=1
craft ends.atr depth=500 leaves=1000 modules=100 samples=3000 name=60000 ends=1

cat >bounded.py <<'END'
"""Runs a command on a trace: prints its status, bytes, and whether it stayed within 256 MB."""
import os
import resource
import subprocess
import sys

size = 0
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
while chunk := process.stdout.read(1 << 20):
    size += len(chunk)
_, status, usage = os.wait4(process.pid, 0)
limit = "within" if usage.ru_maxrss < 256 * 1000 and size <= 10**9 else "beyond"
print(os.waitstatus_to_exitcode(status), limit, size)
END
bounded() { timeout 300 python3 bounded.py "$ADAPTRACE" "$@" 2>said; }
ends() { # at its limit
	set -- $(bounded "$@") "$@"
	[ "$1 $2" = "1 within" ] || fail "$*: $(cat said)"
	one_complaint said 'more than 953.7 MiB is the limit for a trace of this size' || fail "$(cat said)"
}
of_folder() { # a conversion that is checked by its folder as well
	passes "$@"
	[ "$(du -sm x-otf2 2>/dev/null | cut -f1)" -lt 900 ] || fail "$*: $(du -sm x-otf2)"
	rm -rf x-otf2
}
passes() {
	set -- $(bounded "$@") "$@"
	[ "$2" = within ] && [ "$1" -le 1 ] || fail "$*: $(cat said)"
	[ "$(wc -l <said)" -le 1 ] || one_complaint said 'may be .* functions' || fail "$*: $(cat said)"
}

ends dump deep.atr
ends convert -q --folded -o x.folded each_depth.atr
ends convert -q --perf-script -o - deep.atr
[ "$(ls -A | grep -e '^x' -e '^\.adap')" = "" ] || fail "left: $(ls -A)"

"$ADAPTRACE" dump overlap.atr 2>said && fail "read sections that overlap"
one_complaint said 'its sections overlap' || fail "$(cat said)"

for trace in cycle.atr inlined.atr ends.atr; do
	for view in "" --tree "--json --tree" --per-thread "--sort file,line" "--annotate n" "--callers n"; do
		passes report $view $trace
	done
	passes info --json $trace
	passes dump --json $trace
	passes diff --json $trace $trace
	for format in chrome speedscope flamegraph callgrind pprof firefox; do
		passes convert -q --$format -o - $trace
	done
done

craft marks.atr depth=3 samples=10 name=60000 calls=30000
craft mpi.atr depth=1500 samples=1000 name=60000 calls=20000 class=1 regions=1000 spread=1
for trace in deep.atr cycle.atr inlined.atr marks.atr mpi.atr; do
	for events in contexts enter-leave; do
		[ $events$trace != enter-leave$trace ] || [ "${trace#m}" != "$trace" ] || continue
		! "$ADAPTRACE" convert --help | grep -q -e --otf2 ||
			of_folder convert -q --otf2 --otf2-events=$events -o x-otf2 $trace
	done
done

for kind in "depth=1500 samples=3000 name=60000 spread=1" "depth=100 samples=40 cycle=1" \
	"depth=300 leaves=300 samples=600 name=30000 inlined=128" "modules=4000 name=60000" \
	"samples=2000 threads=3000 name=60000" "name=60000 calls=20000 class=1 regions=1000" \
	"samples=100 streams=4000"; do
	craft one.atr $kind seed=1
	craft two.atr $kind seed=2
	passes merge -o both.atr one.atr two.atr
	[ "$(wc -c <both.atr)" -lt 20000000 ] || fail "$kind: $(wc -c <both.atr) bytes"
	rm -f both.atr
done

# The limit is the kernel's to keep.
cat >limits.py <<'END'
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
process.stdout.read(1)
for line in open(f"/proc/{process.pid}/limits"):
    if line.startswith("Max data size"):
        assert int(line.split()[3]) < 256 * 10**6, line
process.kill()
END
timeout 60 python3 limits.py "$ADAPTRACE" dump deep.atr || fail "memory has no limit"
pass
