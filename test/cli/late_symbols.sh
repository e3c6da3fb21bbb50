#!/bin/sh
# A stripped program that gets its names and lines afterwards: from build-id folders, copies of the
# program and a debuginfod server; and never from a file that only has the right name.
. "$(dirname "$0")/scenario"
need_sampling
command -v objcopy >/dev/null || skip "no compiler"

cat >app.c <<'EOF'
static inline __attribute__((always_inline)) long inner(long x)
{
	for (int i = 0; i < 1000; i++)
		x = x * 31 + (x >> 3);
	return x;
}
static __attribute__((noinline)) long hot(long x) { return inner(x) + 1; }
int main(void)
{
	long s = 0;
	for (int i = 0; i < 80000; i++)
		s += hot(i);
	return s == 42;
}
EOF
cc -O1 -g app.c -o app -Wl,--build-id=sha1 || skip "no compiler"
id=$(readelf -n app | sed -n 's/.*Build ID: //p')
folder=$(echo "$id" | cut -c1-2) file=$(echo "$id" | cut -c3-)
mkdir -p "tree/.build-id/$folder" "root$PWD" copy other "server/buildid/$id"
cp app copy/app
cp app "root$PWD/app"
objcopy --only-keep-debug app "tree/.build-id/$folder/$file.debug"
cp "tree/.build-id/$folder/$file.debug" "server/buildid/$id/debuginfo"
cc -O1 -g -DOTHER=1 -include /dev/null -fno-inline app.c -o other/app -Wl,--build-id=sha1
strip app
recorded -F 1000 ./app
rm app

named() { # OPTION...
	"$ADAPTRACE" report -q --sort symbol,file,line "$@" >out 2>err || fail "$(cat err)"
	grep -q ' inner .*app\.c' out
}

named && fail "names before they are there"
for places in tree copy root; do
	echo "-- $places"
	named --symbols="$places" || fail "no names: $(cat out err)"
done
"$ADAPTRACE" report --annotate hot --symbols=tree | grep -q 'x \* 31' || fail "no lines"
touch -d '+1 hour' app.c
"$ADAPTRACE" report --annotate hot --symbols=tree | grep -q '^/.*/app.c: the file was changed since$' ||
	fail "other lines"
"$ADAPTRACE" report --annotate hot --symbols=tree | grep 'x \* 31' && fail "text of other lines"

echo "-- a library that had gone before anybody could read it"
cat >gone.c <<'EOF'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	long (*work)(long) = (long (*)(long))dlsym(library, "hot");
	long s = 0;
	remove(argv[argc - 1]);
	for (int i = 0; i < 80000; i++)
		s += work(i);
	return s == 42;
}
EOF
{
	seq -f 'long before_%.0f(long x) { return x * 31; }' 2000
	sed 's/static __attribute/__attribute/; /^int main/,$d' app.c
	seq -f 'long behind_%.0f(long x) { return x * 31; }' 2000
} >library.c
# The code lies at other addresses than its bytes in the file.
cc -O1 -g -fPIC -shared library.c -o library.so -Wl,--build-id=sha1 -Wl,-Ttext-segment=0x1000
cc -O1 gone.c -o gone -ldl
mkdir found open
chmod 777 open
cp library.so open
cp library.so found
(cd open && as_user "$ADAPTRACE" record -q -F 1000 -o gone.atr ../gone ./library.so 2>../err) || fail "$(cat err)"
"$ADAPTRACE" report -q open/gone.atr >out 2>err || fail "$(cat err)"
grep -q 'library.so+0x' out || fail "names of a file that had gone: $(cat out)"
"$ADAPTRACE" report -q --symbols=found open/gone.atr >out 2>err || fail "$(cat err)"
grep -q 'before_\|behind_' out && fail "wrong names: $(cat out)"

echo "-- what not every libelf can unpack"
mkdir packed
if objcopy --compress-debug-sections=zstd copy/app packed/app 2>err; then
	named --symbols=packed || grep -q 'zstd.*objcopy --decompress' err || fail "$(cat err)"
	"$ADAPTRACE" record -q -F 1000 -o packed.atr packed/app 2>err || fail "$(cat err)"
	if grep -q zstd err; then
		# It is said again whenever the trace is read, until the lines are there.
		"$ADAPTRACE" report packed.atr | grep -q 'warning: .*zstd.*objcopy' || fail "not told"
		objcopy --decompress-debug-sections packed/app
		named packed.atr --symbols || fail "no names: $(cat out err)"
		"$ADAPTRACE" report --symbols packed.atr | grep zstd && fail "told of what is there"
	fi
fi

echo "-- what is too large to be true"
objcopy --compress-debug-sections=zlib copy/app large || skip "no zlib in objcopy"
at=$(readelf -SW large | sed -n 's/.* \.debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
# The upper half of the size that it would have, of eight bytes behind as many of the kind.
printf '\0\0\0\1' | dd of=large bs=1 seek=$((0x$at + 12)) conv=notrunc 2>/dev/null
"$ADAPTRACE" record -q -F 1000 -o large.atr ./large 2>err || fail "$(cat err)"
grep -q 'no lines of files .* larger than memory allows' err || fail "$(cat err)"
"$ADAPTRACE" report large.atr | grep -q 'warning: no lines of files .* larger' || fail "not told"
"$ADAPTRACE" info --json large.atr | grep -q '"lines_refused":true' || fail "not in the trace"

echo "-- what says nothing"
named --symbols=other && fail "another program's names"
grep -q "no file of this machine says more" err || fail "$(cat err)"
"$ADAPTRACE" report --symbols=no-such-folder >out 2>err && fail "a folder that is not there"
one_complaint err no-such-folder || fail "$(cat err)"
named --symbols && fail "names from nowhere"
DEBUGINFOD_URLS='' "$ADAPTRACE" report --debuginfod >out 2>err && fail "no server asked"
one_complaint err debuginfod || fail "$(cat err)"

echo "-- a server"
ldconfig -p | grep -q libdebuginfod.so.1 || { echo "no server was asked: no libdebuginfod"; pass; }
check <<'EOF'
import functools, http.server, os, subprocess, threading


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


handler = functools.partial(Handler, directory='server')
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
env = dict(os.environ, DEBUGINFOD_URLS=f'http://127.0.0.1:{server.server_port}',
           DEBUGINFOD_CACHE_PATH=os.path.abspath('cache'), no_proxy='*')
out = subprocess.run([os.environ['ADAPTRACE'], 'report', '-q', '--sort', 'symbol,line',
                      '--debuginfod'], env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
assert ' inner ' in out, out
EOF
pass
