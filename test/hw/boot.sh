#!/bin/sh
# boot.sh KERNEL INITRAMFS FOLDER [QEMU-OPTION]...: runs the emulated machine to its end, with
# FOLDER as its working directory and its console in FOLDER/console. The exit status is the guest's.
set -eu
kernel=$(realpath "$1") initramfs=$(realpath "$2") folder=$3; shift 3
mkdir -p "$folder"
cd "$folder"
rm -f out.tar
status=0
timeout 300 nice qemu-system-aarch64 -M virt,gic-version=3 -cpu neoverse-n1 -smp 2 -m 1024 \
	-display none -serial stdio -monitor none -no-reboot -nic none \
	-semihosting-config enable=on,userspace=on,target=native \
	-kernel "$kernel" -initrd "$initramfs" -append 'console=ttyAMA0 panic=-1 quiet loglevel=4' \
	"$@" >console 2>&1 </dev/null || status=$?
# A guest that panics ends QEMU as if all were well.
grep -q "^GUEST_EXIT=$status" console || { tail -20 console >&2; exit 1; }
exit $status
