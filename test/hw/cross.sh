#!/bin/sh
# cross.sh BUILD ARCH [TARGET]...: builds adaptrace, or make's targets (below BUILD/ARCH/build), for
# Debian's architecture ARCH, with its libraries in BUILD/ARCH/root. 77: they cannot be had.
set -eu
build=$1 arch=$2; shift 2
case $arch in
arm64) triplet=aarch64-linux-gnu release='' ;;
riscv64) triplet=riscv64-linux-gnu release=trixie ;; # no earlier one has it
*) echo "cross.sh: what is $arch?" >&2; exit 2 ;;
esac
skip() { echo "$arch: skipped: $*"; exit 77; }

tools="gcc-$triplet pkg-config protobuf-c-compiler"
packages=$(make -s print-libraries)
[ "$arch" = arm64 ] && # what the emulated machine runs on
	tools="$tools qemu-system-arm cpio" &&
	packages="$packages libcmocka-dev linux-image-cloud-arm64 busybox-static linux-perf"
# Without a network every try takes its time: one is enough for all that is made in ten minutes.
failed=$build/$arch.failed
[ -z "$(find "$failed" -mmin -10 2>/dev/null)" ] || skip "no packages, as before"
mkdir -p "$build"
touch "$failed"
# shellcheck disable=SC2086 # words
timeout 180 test/deps.sh $tools || skip "not all of these can be installed: $tools"
# shellcheck disable=SC2086
timeout 180 test/hw/packages.sh $arch "$release" "$build/$arch" $packages ||
	skip "no packages of that architecture can be had"
rm "$failed"

root=$(cd "$build/$arch/root" && pwd)
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR="$root/usr/lib/$triplet/pkgconfig"
[ $# -gt 0 ] || set -- all
for target; do
	case $target in all) ;; *) target=$build/$arch/build/$target ;; esac
	set -- "$@" "$target"
	shift
done
exec nice make -s -j2 BUILD="$build/$arch/build" CC="$triplet-gcc --sysroot=$root" \
	AR="$triplet-ar" OBJCOPY="$triplet-objcopy" CFLAGS=-Werror "$@"
