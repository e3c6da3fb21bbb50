#!/bin/sh
# Who is not a target's process, and knows only what anybody may read in /proc/net/unix, cannot put
# calls into a recording.
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
    if len(fields) > 7 and f"socket:[{fields[6]}]" in links:
        print(fields[7][1:])
END_OF_PROGRAM
)
[ "$(echo "$name" | wc -w)" = 1 ] || fail "the sockets are '$name'"
for way in "$name" "$name:" "$name:00000000000000000000000000000000" "$name:$name"; do
	ADAPTRACE_CALLS=$way LD_PRELOAD=$library ./regions || fail "'$way' broke the program"
done
pkill -TERM -P $recorder
wait $recorder
"$ADAPTRACE" info --json x.atr >info || fail info
check <<'END'
import json

calls = json.load(open("info"))["calls"]
kind, = calls["kinds"]
assert kind["seen"] == kind["stored"] == kind["lost"] == 0, kind
END
pass
