#!/bin/sh
# Where the trace finds no room the older one stays as it was, one line says what to do, and recover
# writes it elsewhere.
. "$(dirname "$0")/scenario"
need_sampling

mkdir disk
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null; then
	trap 'umount "$work/disk"; leave' EXIT
	recorded -m 64K -o disk/x.atr true
	cp disk/x.atr expected
	head -c 1M /dev/zero >disk/filler 2>/dev/null
	record -m 1M -o disk/x.atr "$TARGETS/burn" 0.3 >said 2>errors
else
	recorded -m 64K -o disk/x.atr true
	cp disk/x.atr expected
	(ulimit -f 8; record -m 1M -o disk/x.atr "$TARGETS/burn" 0.3 >said 2>errors)
fi
status=$?
[ $status = 125 ] || fail "record ended with $status: $(cat errors)"
cat errors
cmp disk/x.atr expected || fail "the older trace is not what it was"
[ "$(complaints errors | grep -vc 'nothing to recover')" = 1 ] || fail "too many words"
ls -A disk | grep -vx -e x.atr -e filler && fail "left behind"
if ! grep -q 'nothing to recover' errors; then
	grep -q 'adaptrace recover' errors || fail "nobody is told how to save it"
	"$ADAPTRACE" recover -o y.atr disk/x.atr 2>errors || fail "$(cat errors)"
	"$ADAPTRACE" info y.atr >info || fail "what was recovered is no trace"
	[ "$("$ADAPTRACE" dump --json y.atr | wc -l)" -gt 500 ] || fail "little was recovered"
fi
# Calls pass through memory that counts as a file: told before the start, not as a program without.
# A limit is told before, with what it puts at risk.
(ulimit -f 10000; record true 2>errors) && one_complaint errors 'larger trace would be lost' ||
	fail "record under ulimit -f: $(cat errors)"
(ulimit -f 10000; record --mpi -m 1M true 2>errors)
[ $? = 125 ] || fail "--mpi under ulimit -f: $(cat errors)"
grep -q 'with --mpi: files are limited to .* ulimit -f unlimited' errors || fail "$(cat errors)"
# Where files may not be that large, the same: no signal ends it half-way.
mkdir limited
recorded -m 1M "$TARGETS/burn" 0.3 >said
for format in perf-script pprof otf2; do
	(ulimit -f 1; "$ADAPTRACE" convert --$format -o limited/out adaptrace.atr 2>errors)
	status=$?
	[ $status = 1 ] && one_complaint errors 'File too large' ||
		fail "convert --$format ended with $status: $(cat errors)"
	[ -z "$(ls -A limited)" ] || fail "convert --$format left behind: $(ls -A limited)"
done
pass
