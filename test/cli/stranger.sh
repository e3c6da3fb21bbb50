#!/bin/sh
# Who is not a target's process, and knows only what anybody may read in /proc/net/unix, cannot put
# calls into a recording, nor pretend to be the recorder when that is gone.
. "$(dirname "$0")/scenario"
need_sampling

cc -O1 -D_GNU_SOURCE -I"$here/../../include" -o regions "$here/../regions/regions.c" -pthread ||
	skip "no compiler"
library=$(dirname "$ADAPTRACE")/libadaptrace-mpi.so
start_recording --mpi -F 100 -o x.atr sleep 60
name=$(python3 - $recorder <<'END_OF_PROGRAM'
import os, sys

folder = f"/proc/{sys.argv[1]}/fd/"
links = {os.readlink(folder + fd) for fd in os.listdir(folder)}
for line in open("/proc/net/unix").readlines()[1:]:
    fields = line.split()
    if len(fields) > 7 and fields[7].startswith("@") and f"socket:[{fields[6]}]" in links:
        print(fields[7][1:])
END_OF_PROGRAM
)
[ "$(echo "$name" | wc -w)" = 1 ] || fail "the sockets are '$name'"
for way in "$name" "$name:" "$name:00000000000000000000000000000000" "$name:$name"; do
	ADAPTRACE_CALLS=$way LD_PRELOAD=$library ./regions || fail "'$way' broke the program"
done
# Nor keep others from being heard: even of a recorder that does nothing the queue stays empty.
kill -STOP $recorder
check "$name" <<'END'
import socket
import sys

stranger = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
stranger.setblocking(False)
stranger.connect("\0" + sys.argv[1])
for size in range(1, 1000):
    stranger.send(b"x" * (size % 64))
    stranger.send(b"x" * 32)
END
kill -CONT $recorder
pkill -TERM -P $recorder
wait $recorder
"$ADAPTRACE" info --json x.atr >info || fail info
check <<'END'
import json

calls = json.load(open("info"))["calls"]
kind, = calls["kinds"]
assert kind["seen"] == kind["stored"] == kind["lost"] == 0, kind
END

# Answers the first who comes with memory, and tells whose process took it.
cat >pretender.py <<'END_OF_PROGRAM'
import array, fcntl, os, socket, sys

answerer = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
answerer.bind("\0" + sys.argv[1])
print("bound", flush=True)
address = answerer.recvfrom(100)[1]
memory = os.memfd_create("pretended", os.MFD_ALLOW_SEALING)
os.ftruncate(memory, 1 << 26)
os.pwrite(memory, int(sys.argv[3]).to_bytes(4, "little") + (1).to_bytes(4, "little"), 0)
fcntl.fcntl(memory, fcntl.F_ADD_SEALS, int(sys.argv[2]))
rights = array.array("i", [memory])
answerer.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)], 0, address)
sys.stdin.read()
print(int.from_bytes(os.pread(memory, 4, 12), "little"))
END_OF_PROGRAM
mkfifo over
version=$(sed -n 's/^#define RING_VERSION *//p' "$here/../../src/preload/call_ring.h")
pretend() { # SEALS COMMAND...: sets $taken
	seals=$1 name=pretender-$$-$seals
	shift
	rm -f said
	"$@" python3 pretender.py $name $seals $version <over >said &
	background="$background $!"
	exec 3>over
	await grep -q bound said
	ADAPTRACE_CALLS=$name:key LD_PRELOAD=$library ./regions || fail "$* broke the program"
	exec 3>&-
	wait $!
	taken=$(tail -n 1 said)
}
pretend 7
[ "$taken" -gt 0 ] || fail "what a recorder would send was not taken"
pretend 0
[ "$taken" = 0 ] || fail "memory was taken that may be taken away again"
[ "$(id -u)" = 0 ] || pass
pretend 7 setpriv --reuid 65533 --clear-groups
[ "$taken" = 0 ] || fail "memory of another user was taken"
pass
