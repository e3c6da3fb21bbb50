#!/bin/sh
# initramfs.sh ROOT OUT [FILE=PLACE]...: the guest's files as a cpio archive OUT: each FILE at its
# PLACE, and the shared libraries that it needs, from ROOT.
set -eu
root=$1 out=$2; shift 2
tree=$out.tree
rm -rf "$tree"
mkdir -p "$tree/lib" "$tree/bin"

libraries() { # FILE: copies what it needs, and what that needs
	readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | while read -r name; do
		[ -e "$tree/lib/$name" ] && continue
		found=$(find "$root/usr/lib" -name "$name" | head -1)
		[ -n "$found" ] || { echo "$1 needs $name, which is not in $root" >&2; exit 1; }
		cp -L "$found" "$tree/lib/$name"
		libraries "$found"
	done
}

for pair; do
	place=$tree${pair#*=}
	mkdir -p "$(dirname "$place")"
	cp -L "${pair%%=*}" "$place"
	libraries "$place"
done
(cd "$tree" && find . | cpio --quiet -o -H newc) >"$out"
