#!/bin/sh
# What a distribution asks of a build is done: its flags reach every compilation and both links. By
# default the program is built as distributions build what runs with rights that others have not;
# what is preloaded calls nothing that other C libraries than ours do not have.
. "$(dirname "$0")/scenario"
command -v make >/dev/null && cc --version >cc 2>&1 || skip "no compiler"
command -v readelf >/dev/null || skip "no readelf (binutils)"
export MAKEFLAGS=
top=$here/../..

make -n -C "$top" BUILD="$work/b" CPPFLAGS=-DONE CFLAGS=-DTWO LDFLAGS=-Wl,-DTHREE \
	"$work/b/adaptrace" "$work/b/libadaptrace-mpi.so" >lines || fail "make -n"
sed -e ':a' -e '/\\$/N; s/\\\n//; ta' lines >whole
grep ' -c -o ' whole >compilations
[ "$(wc -l <compilations)" -gt 200 ] || fail "$(wc -l <compilations) compilations"
grep -v -e '-DONE.*-DTWO' compilations && fail "a compilation without the flags"
grep -v ' -c -o ' whole | grep -e '-Wl,-DTHREE' >links
[ "$(wc -l <links)" = 2 ] || fail "a link without the flags"
grep -v -e src/preload -e /inside/ compilations | grep -v -e '-D_FORTIFY_SOURCE=2.*-fstack-protector-strong.*-fPIE' &&
	fail "a compilation that is not hardened"
grep -q -e '-pie -Wl,-z,relro,-z,now' links || fail "the link is not hardened"

make -s -C "$top" BUILD="$work/b" CPPFLAGS=-D_FORTIFY_SOURCE=2 CFLAGS='-O2 -fPIE' \
	LDFLAGS='-pie -Wl,-z,now' "$work/b/libadaptrace-mpi.so" || fail "make"
readelf -W --dyn-syms b/libadaptrace-mpi.so | grep -E '_chk@|_chk$' && fail "what is preloaded is fortified"
readelf -W -S b/libadaptrace-mpi.so | grep -q '\.interp' && fail "the library is a program"

pass
