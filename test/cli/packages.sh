#!/bin/sh
# Packages that are missing are installed. Those of OTF2, which some releases do not have, are left
# out there, and not asked for again. A release whose headers are too old is told in one line.
. "$(dirname "$0")/scenario"

mkdir bin
stub() { cat >"bin/$1"; chmod +x "bin/$1"; }
stub dpkg-query <<'E'
#!/bin/sh
for p; do :; done
grep -qx "$p" installed && echo installed
E
stub apt-cache <<'E'
#!/bin/sh
grep -qx "$2" offered
E
stub apt-get <<'E'
#!/bin/sh
echo "$*" >>asked
E
stub sudo <<'E'
#!/bin/sh
[ "$1" = -n ] || "$@"
E
stub old-cc <<'E'
#!/bin/sh
echo '#define PERF_RECORD_MISC_MMAP_DATA (1 << 13)'
E
deps() { : >asked; PATH=$work/bin:$PATH sh "$here/../deps.sh" libdw-dev otf2-tools libopen-trace-format2-dev >said 2>&1; }
asked() { grep -qx "install -y -qq --no-install-recommends $*" asked || fail "asked: $(cat asked) $(cat said)"; }

: >installed
echo libdw-dev >offered
deps || fail "deps: $(cat said)"
asked libdw-dev
grep -q 'going on without OTF2' said || fail "said: $(cat said)"
echo libdw-dev >installed
deps || fail "deps: $(cat said)"
[ ! -s asked ] && [ ! -s said ] || fail "asked again: $(cat asked said)"
printf 'otf2-tools\nlibopen-trace-format2-dev\n' >>offered
deps || fail "deps: $(cat said)"
asked otf2-tools libopen-trace-format2-dev
CC=old-cc deps && fail "headers that are too old"
[ "$(wc -l <said)" = 1 ] && grep -q 'too old' said || fail "said: $(cat said)"
pass
