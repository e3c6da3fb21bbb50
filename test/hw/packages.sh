#!/bin/sh
# packages.sh ARCH RELEASE FOLDER PACKAGE...: Debian packages of another architecture, and all that
# they depend on, unpacked into FOLDER/root. RELEASE "" is this machine's own. apt works in a root
# of its own under FOLDER: this machine's packages and architectures stay as they are. Nothing is
# done where the same was done before.
set -eu
arch=$1 release=$2 folder=$3; shift 3
[ "$(cat "$folder/complete" 2>/dev/null)" = "$*" ] && exit 0
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
apt=$folder/apt
rm -rf "$folder/complete" "$folder/root" "${apt:?}/etc"
mkdir -p "$apt/etc/apt/apt.conf.d" "$apt/etc/apt/preferences.d" "$apt/var/lib/dpkg" \
	"$apt/var/lib/apt/lists/partial" "$apt/var/cache/apt/archives/partial"
: >"$apt/var/lib/dpkg/status"

# The archives that this machine gets Debian from, and the way there.
keys=/usr/share/keyrings/debian-archive-keyring.gpg
# shellcheck disable=SC2016 # apt's variables
apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' \
	'Identifier: Packages' 'Origin: Debian' | sed -n "
	${release:+/-security /d; s/ [^ ]* / $release /}
	s|.* main\$|deb [arch=$arch signed-by=$keys] &|p" | sort -u >"$apt/etc/apt/sources.list"
[ -s "$apt/etc/apt/sources.list" ] || { echo "this machine's apt knows no Debian" >&2; exit 1; }
{
	apt-config dump | grep -i '^Acquire::[a-z]*::proxy' || true
	cat <<END
Dir "$apt";
Dir::State::status "$apt/var/lib/dpkg/status";
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
END
} >"$apt/apt.conf"
export APT_CONFIG="$apt/apt.conf"

{ apt-get update -qq -o APT::Update::Error-Mode=any &&
	apt-get install -y -qq --download-only "$@"; } >"$apt/log" 2>&1 ||
	{ grep -m 3 '^[EW]:' "$apt/log" >&2; exit 1; }
mkdir -p "$folder/root/usr/bin" "$folder/root/usr/sbin" "$folder/root/usr/lib"
for f in bin sbin lib; do ln -s usr/$f "$folder/root/$f"; done
for deb in "$apt"/var/cache/apt/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$folder/root" \
		--exclude './lib/modules' --exclude './usr/share'
done
# Links to absolute names would lead to this machine's own files.
find "$folder/root" -type l -lname '/*' | while read -r link; do
	ln -sfnr "$folder/root$(readlink "$link")" "$link"
done
rm -rf "$apt"
echo "$*" >"$folder/complete"
