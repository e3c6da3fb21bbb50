#!/bin/sh
# Where adaptrace has a capability of its own (setcap, which doctor advises) the target has none, and
# the environment that it would have: LD_LIBRARY_PATH, too, which the loader takes away from us.
# Alone: it shares the limits of an ordinary user with others.
. "$(dirname "$0")/scenario"
need_sampling
need_root "give capabilities"
command -v setcap >/dev/null || skip "no setcap (libcap2-bin)"

mkdir capable && chmod 777 capable && cd capable || fail "cd"
cp "$ADAPTRACE" "$(dirname "$ADAPTRACE")/libadaptrace-mpi.so" .
setcap cap_perfmon+ep adaptrace || skip "no file can have a capability here"
ordinary() { # COMMAND...
	as_user env -i "PATH=$PATH" LD_LIBRARY_PATH=/nowhere LD_PRELOAD=libm.so.6 TMPDIR=/tmp EMPTY= "$@"
}
ordinary cat /proc/self/environ >expected
ordinary ./adaptrace record -q cat /proc/self/environ >got || fail "record ended with $?"
cmp expected got || fail "the environment is $(tr '\0' ' ' <got)"
ordinary ./adaptrace record -q --mpi cat /proc/self/environ >got || fail "record ended with $?"
tr '\0' '\n' <got | grep -qx "LD_PRELOAD=$PWD/libadaptrace-mpi.so:libm.so.6" ||
	fail "the environment is $(tr '\0' ' ' <got)"
ordinary ./adaptrace record -q grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status >got ||
	fail "record ended with $?"
[ "$(grep -cw 0000000000000000 got)" = 4 ] || fail "the target has $(cat got)"
pass
