#!/bin/sh
# boot.sh KERNEL INITRAMFS FOLDER CPU PART...: runs the emulated machine to its end, which tests the
# PARTs. FOLDER has its console then, and its files in FOLDER/out. The exit status is the guest's.
#
# A clock that counts instructions makes counters exact, and runs alike on every host.
set -eu
kernel=$(realpath "$1") initramfs=$(realpath "$2") folder=$3 cpu=$4; shift 4
rm -rf "$folder"
mkdir -p "$folder/out"
cd "$folder"
status=0
timeout 300 nice qemu-system-aarch64 -M virt,gic-version=3 -cpu "$cpu" -smp 2 -m 1024 \
	-icount shift=1,sleep=off -display none -serial stdio -monitor none -no-reboot -nic none \
	-semihosting-config enable=on,userspace=on,target=native \
	-kernel "$kernel" -initrd "$initramfs" \
	-append "console=ttyAMA0 panic=-1 quiet loglevel=4 \"parts=$*\"" \
	>console 2>&1 </dev/null || status=$?
# A guest that panics ends QEMU as if all were well.
grep -q "^GUEST_EXIT=$status" console || { tail -20 console >&2; exit 1; }
tar -xf out.tar -C out
exit $status
