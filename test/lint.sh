#!/bin/sh
# lint.sh BUILD: formatting, structure (src/layers), headers that stand alone, clang-tidy, manual pages.
set -u
build=$1 failed=0
fail() { echo "lint: $*"; failed=1; }

sources=$(find src -name '*.[ch]')
clang-format --dry-run -Werror $sources include/*.h $(find test -name '*.[ch]') 2>"$build/format.log" ||
	{ head -20 "$build/format.log"; fail "clang-format differs; run: clang-format -i FILE"; }

# Folders, layers, public headers, comments, circles.
test/layers.py "$build" || failed=1

# Each third-party library has one home, but zlib, which packs and unpacks.
home() { grep -lE "#include <($2)" $sources | grep -v "^src/$1/" && fail "$2 belongs to $1"; }
home perf 'perfmon/'
home output 'otf2/|protobuf-c|curses'
home trace 'json-c/'
home symbolize 'libunwind|elfutils/|dwarf.h|gelf.h|libelf.h|capstone'

for h in $(find src -name '*.h'); do
	printf '#include "%s"\n' "${h#src/}" |
		cc -std=gnu11 -Wall -Wextra -D_GNU_SOURCE -Isrc -Iinclude -fsyntax-only -x c - ||
		fail "$h does not compile alone"
done
# The fuzzers are not part of any other build.
for f in test/fuzz/*.c; do
	cc -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -Isrc -Itest/unit -fsyntax-only "$f" || fail "$f"
done

# As many at a time as there are CPUs; a file that passed is not looked at again. The analyzer follows
# a function through 60,000 states: with its default of 225,000 all files take three times as long.
states="--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=60000"
for f in $(find src -name '*.c'); do
	stamp=$build/tidy/$(echo "$f" | tr / .)
	[ "$stamp" -nt "$f" ] && [ "$stamp" -nt .clang-tidy ] && continue
	todo="${todo:-} $f"
done
mkdir -p "$build/tidy"
printf '%s\n' ${todo:-} | xargs -r -P "$(nproc)" -I{} sh -c '
	clang-tidy --quiet $3 "$1" -- -std=gnu11 -D_GNU_SOURCE -DADAPTRACE_VERSION="\"\"" -DHAVE_OTF2 -Isrc -Iinclude \
		-I"$2/generated" >"$2/tidy/log.$$" 2>/dev/null && touch "$2/tidy/$(echo "$1" | tr / .)" ||
		{ cat "$2/tidy/log.$$"; touch "$2/tidy/failed"; }
	rm -f "$2/tidy/log.$$"' sh {} "$build" "$states"
[ -e "$build/tidy/failed" ] && { rm "$build/tidy/failed"; fail "clang-tidy"; }

if command -v mandoc >/dev/null; then
	mandoc -Tlint -W warning man/*.[15] || fail "man pages"
fi
[ $failed = 0 ] && echo "lint: ok"
exit $failed
