#!/bin/sh
# run.sh BUILD: records on hardware counters in an emulated arm64 machine, and looks at the result.
# Says so where something for it cannot be had, and then does not fail.
set -eu
build=$1 hw=$1/hw arm=$1/hw/arm64/build
units='test_unwind test_unwind_step'
# shellcheck disable=SC2046,SC2086 # words
test/hw/cross.sh "$hw" arm64 all $(printf 'unit/symbolize/%s ' $units) hw/host hw/kicker \
	targets/frames_signed || { [ $? = 77 ] && exit 0; exit 1; }

root=$hw/arm64/root
set -- "$root/bin/busybox=/bin/busybox" "$root/usr/bin/perf=/bin/perf" \
	test/hw/guest/init=/init test/hw/guest/test=/test "$arm/adaptrace=/bin/adaptrace"
for t in shares quarters frames frames_signed; do set -- "$@" "$arm/targets/$t=/bin/$t"; done
for t in host kicker; do set -- "$@" "$arm/hw/$t=/bin/$t"; done
for t in $units; do set -- "$@" "$arm/unit/symbolize/$t=/build/unit/symbolize/$t"; done
for t in asm deep deep_debug_frame deep_static signal stack; do
	set -- "$@" "$arm/targets/step_$t=/build/targets/step_$t"
done
test/hw/initramfs.sh "$root" "$hw/guest.cpio" "$@"

kernel=$(echo "$root"/boot/vmlinuz-*)
boot() { test/hw/boot.sh "$kernel" "$hw/guest.cpio" "$hw/$1" "$2" "$1"; }
boot counters neoverse-n1 &
counters=$!
status=0
boot unit neoverse-n1 || status=1
boot steered neoverse-n1 || status=1
boot signed max,pauth-impdef=on || status=1
wait $counters || status=1
[ $status = 0 ]
ADAPTRACE=$build/adaptrace TARGETS='' PYTHONPATH=test/cli PYTHONDONTWRITEBYTECODE=1 \
	python3 test/hw/check.py "$hw"
