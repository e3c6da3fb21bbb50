#!/bin/sh
# deps.sh PACKAGE...: installs the Debian packages that are missing, as root or through sudo;
# without either it prints the command that would. OTF2's are left out where there are none.
set -eu
missing= otf2=
macros=$(echo '#include <linux/perf_event.h>' | ${CC:-cc} -E -dM - 2>/dev/null) || macros=
case $macros in
'' | *PERF_RECORD_MISC_MMAP_BUILD_ID*) ;;
*)
	echo "adaptrace: this distribution is too old: its headers are of Linux before 5.12; Ubuntu 22.04 or Debian 12 will do" >&2
	exit 1
	;;
esac
for p in "$@"; do
	dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -q '^installed$' && continue
	case $p in
	*otf2* | *open-trace-format2*) otf2="$otf2 $p" ;;
	*) missing="$missing $p" ;;
	esac
done
offered() { for p in $otf2; do apt-cache show "$p" >/dev/null 2>&1 && printf ' %s' "$p"; done; true; }
[ -n "$otf2$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
	echo "adaptrace: please install what Debian calls:$missing$otf2" >&2
	exit 1
fi
[ -n "$missing$(offered)" ] || exit 0
if [ "$(id -u)" = 0 ]; then as=
elif sudo -n true 2>/dev/null; then as=sudo
else
	echo "adaptrace: missing packages; run: sudo apt-get install$missing$(offered)" >&2
	exit 1
fi
echo "fetching the list of packages"
$as apt-get update -qq
found=$(offered)
[ "$found" = "$otf2" ] || echo "no$otf2 in this distribution: going on without OTF2"
echo "installing$missing$found; this may take minutes"
{
	DEBIAN_FRONTEND=noninteractive $as apt-get install -y -qq --no-install-recommends $missing $found &&
		echo "all installed"
} | awk '
	/^all installed$/ { done = 1 }
	/^Setting up / && ++nr % 10 == 0 { print "  " nr " packages are set up"; fflush() }
	END { exit !done }'
