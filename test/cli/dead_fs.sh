#!/bin/sh
# Programs on a file system that stopped answering: every command ends, and says whose names are
# missing. The file system is a real one, whose server is told not to answer.
# Waits: for file systems that do not answer.
. "$(dirname "$0")/scenario"
need_sampling
[ -w /dev/fuse ] || skip "no FUSE here"
cc -o fs "$here/dead_fs.c" $(pkg-config --cflags --libs fuse3 2>/dev/null) 2>/dev/null ||
	skip "no libfuse3-dev here"

mkdir files stop mnt
cp "$TARGETS/burn" files/burn
./fs "$work/mnt" "$work/files" "$work/stop" 2>fs.log &
server=$!
revive() { rm -f stop/*; }
unmount() { revive; kill "$server" 2>/dev/null; umount -l "$work/mnt" 2>/dev/null; leave; }
trap unmount EXIT
await sh -c '[ -e mnt/burn ]' || skip "cannot mount: $(cat fs.log)"

# The end of a recording, when the server does not read the file any more, or tell of it, or does
# nothing at all: then not even a descriptor of the file can be closed.
for kind in read getattr flush; do
	also=$kind
	[ $kind != flush ] || also="flush stop/open stop/read stop/getattr"
	timeout 60 "$ADAPTRACE" record -q -o "$kind.atr" -e cpu-clock:u sh -c "mnt/burn 0.5 >/dev/null
		touch stop/$also" 2>said || fail "record with a dead $kind ended with $?: $(cat said)"
	revive
	grep -q 'names in 1 file are missing, whose file system does not answer' said ||
		fail "$kind: $(cat said)"
	"$ADAPTRACE" report "$kind.atr" >report || fail "report of $kind.atr"
	grep -q 'warning: names of 1 file are missing' report || fail "report: $(cat report)"
	grep -q 'burn+0x' report || fail "no samples of burn: $(cat report)"
	"$ADAPTRACE" report --symbols "$kind.atr" >report || fail "report --symbols"
	grep -q ' burn_' report || fail "names later: $(cat report)"
done

# The program itself lies there: until the server answers, no signal ends its exec().
>stop/read
cp files/burn files/unread
"$ADAPTRACE" record -q -o unread.atr mnt/unread 5 2>said &
recorder=$!
background="$background $recorder"
sleep 2
kill -TERM $recorder
( sleep 30; kill -KILL $recorder 2>/dev/null ) &
watchdog=$!
wait $recorder
status=$?
kill $watchdog 2>/dev/null
revive
[ $status = 143 ] || fail "record of an unreadable program ended with $status: $(cat said)"
grep -q "'mnt/unread' has not started: its file system does not answer" said || fail "$(cat said)"

# Two programs there: the second is not waited for.
cp files/burn files/other
printf '\1' >>files/other
timeout 60 "$ADAPTRACE" record -q -o two.atr -e cpu-clock:u sh -c 'mnt/burn 0.5; mnt/other 0.5' >/dev/null ||
	fail "record of two programs"
>stop/open
timeout 60 "$ADAPTRACE" report --symbols two.atr >report 2>said ||
	fail "report --symbols with two dead modules ended with $?: $(cat said)"
revive
grep -q ' burn_' report || fail "names that the trace has: $(cat report)"

# A layer of an overlay lies there.
mkdir upper worker merged
if mount -t overlay overlay -o "lowerdir=$work/mnt,upperdir=$work/upper,workdir=$work/worker" merged 2>/dev/null; then
	timeout 60 "$ADAPTRACE" record -q -o layer.atr -e cpu-clock:u sh -c "merged/burn 0.5 >/dev/null
		touch stop/read stop/open stop/flush" 2>said || fail "record in an overlay ended with $?: $(cat said)"
	revive
	umount -l merged
	grep -q 'names in 1 file are missing, whose file system' said || fail "overlay: $(cat said)"
fi

# Code and source text are shown as far as they can be had.
cp "$here/../targets/"*.[ch] files
if cc -g -O1 -I"$work/mnt" -o own "$work/mnt/burn.c" -lm 2>/dev/null && mv own files/own; then
	"$ADAPTRACE" record -q -o own.atr -e cpu-clock:u mnt/own 0.5 >/dev/null 2>&1
	function=$("$ADAPTRACE" report --json own.atr | python3 -c 'import json, sys
print(json.load(sys.stdin)["functions"][0]["symbol"])') || fail "no function of own.atr"
	"$ADAPTRACE" report --annotate "$function" own.atr >alive || fail "report --annotate: $(cat alive)"
	! grep -q 'does not answer' alive || fail "a living file system: $(cat alive)"
	for kind in open read getattr; do
		>stop/$kind
		timeout 60 "$ADAPTRACE" report --annotate "$function" own.atr >dead 2>&1 ||
			fail "report --annotate with a dead $kind ended with $?: $(cat dead)"
		revive
		[ "$(grep -c "its file system does not answer" dead)" = 2 ] ||
			fail "report --annotate with a dead $kind: $(cat dead)"
	done
fi

# Ctrl-C does not wait for the present file.
"$ADAPTRACE" record -q -o skipped.atr -e cpu-clock:u sh -c 'mnt/burn 0.5 >/dev/null
	>stop/read; >ended' 2>said &
recorder=$!
background="$background $recorder"
await [ -e ended ]
for i in 1 2; do sleep 1; kill -INT $recorder 2>/dev/null; done
wait $recorder
grep -q 'names in .* were skipped' said || fail "interrupted: $(cat said)"
revive

# While the program runs: it maps a file whose server does not answer any more.
cat >mapper.py <<'END'
import mmap, os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
for kind in sys.argv[2:]:
    open("stop/" + kind, "w").close()
map = mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
end = time.time() + 1.5
while time.time() < end:
    pass
END
cp files/burn files/jit-1.dump
for kind in open read open-jitdump; do
	file=burn
	[ $kind != open-jitdump ] || file=jit-1.dump
	timeout 60 "$ADAPTRACE" record -q -o "run-$kind.atr" -e cpu-clock:u \
		python3 mapper.py "$work/mnt/$file" "${kind%-*}" >said 2>&1 ||
		fail "record while $kind is dead ended with $?: $(cat said)"
	"$ADAPTRACE" report "run-$kind.atr" | grep -q 'python3' || fail "no samples with $kind"
	"$ADAPTRACE" info "run-$kind.atr" >info || fail "info"
	revive
done

# A recorder that was killed leaves as much to recover.
mnt/burn 60 >/dev/null &
target=$!
background="$background $target"
"$ADAPTRACE" record -q -o killed.atr -e cpu-clock:u -p "$target" 2>/dev/null &
recorder=$!
sleep 1.5
kill -KILL $recorder
for kind in getattr open; do >stop/$kind; done
timeout 60 "$ADAPTRACE" recover killed.atr >said 2>&1 || fail "recover ended with $?: $(cat said)"
revive
kill $target
"$ADAPTRACE" report killed.atr >report || fail "report of killed.atr"
grep -q 'burn+0x' report || fail "recovered: $(cat report)"
pass
