#!/bin/sh
# deps.sh PACKAGE...: installs the Debian packages that are missing, as root or through sudo;
# without either it prints the command that would.
set -eu
missing=
for p in "$@"; do
	dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -q '^installed$' ||
		missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
	echo "adaptrace: please install what Debian calls:$missing" >&2
	exit 1
fi
if [ "$(id -u)" = 0 ]; then as=
elif sudo -n true 2>/dev/null; then as=sudo
else
	echo "adaptrace: missing packages; run: sudo apt-get install$missing" >&2
	exit 1
fi
echo "installing$missing"
$as apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as apt-get install -y -qq --no-install-recommends $missing >/dev/null
