#!/bin/sh
# Attaching to several processes: all their threads, those that start later too, until the last one
# ends. One that ends early is no trouble, and nobody is harmed.
. "$(dirname "$0")/scenario"
need_sampling

"$TARGETS/grower" 3 >said.1 &
first=$!
"$TARGETS/grower" 2 >said.2 &
second=$!
background="$background $first $second"
await grep -q ready said.1
await grep -q ready said.2

# All or none: one that is gone, a thread, or somebody else's process is named, and there is no trace.
sleep 0 &
gone=$!
wait $gone
refused() { # WORDS PIDS...
	words=$1; shift
	record -e cpu-clock:u "$@" -o no.atr 2>errors
	[ $? = 125 ] || fail "$* is not refused"
	one_complaint errors "$words" || fail "$*: $(cat errors)"
	[ ! -e no.atr ] || fail "$* left a trace"
}
refused "no process $gone" -p $first,$gone
refused "no process $gone" -p $gone -p $first
thread=$(ls /proc/$second/task | grep -vx $second | head -1)
refused "$thread is a thread.*-p $second" -p $first,$thread
if [ "$(id -u)" = 0 ]; then
	cp "$ADAPTRACE" . && chmod 755 adaptrace
	as_user sh -c 'echo $$; exec sleep 60' >own &
	await test -s own
	own=$(cat own)
	background="$background $own"
	as_user ./adaptrace record -q -e cpu-clock:u -p $own,$first -o /dev/null 2>errors
	[ $? = 125 ] || fail "attached to somebody else's process"
	one_complaint errors "process $first is another user's.*cap_perfmon" || fail "$(cat errors)"
	as_user ./adaptrace record -q -e cpu-clock:u -p $own,$own --duration 0.1 -o /dev/null ||
		fail "a user's own process"
fi

# begin_server NR: one that burns, as do so many children that it started before.
begin_server() {
	sh -c 'for i in $(seq "$1"); do "$TARGETS/burn" 60 & done; sleep 0 & exec "$TARGETS/burn" 60' - $1 >burning &
	parent=$!
	background="$background $parent"
	await sh -c "[ \$(pgrep -cx burn -P $parent) = $1 ]"
	children=$(pgrep -r S,R -d, -P $parent)
	background="$background $(echo $children | tr , ' ')"
}
# What a process had started before is not sampled; who attaches to the first of a server is told.
begin_server 1
server=$parent
record -q -e cpu-clock:u -p $server --duration 0.1 -o x.atr 2>errors || fail "a server"
one_complaint errors "1 process that $server started before is not sampled; -p $server,\$(pgrep" ||
	fail "a server: $(cat errors)"
record -q -e cpu-clock:u -p $server,$children --duration 0.1 -o x.atr 2>errors || fail "a server"
grep started errors && fail "all of a server are attached to"
# Of several processes, all that have such are named.
of_server=$children
begin_server 2
other=$parent
record -q -e cpu-clock:u -p $server,$first,$other --duration 0.1 -o x.atr 2>errors || fail "two servers"
both=$server,$other
one_complaint errors "3 processes that $both started before are not sampled; -p $both,\$(pgrep -d, -P $both)" ||
	fail "two servers: $(cat errors)"
record -q -e cpu-clock:u -p $server,$other,$of_server --duration 0.1 -o x.atr 2>errors || fail "two servers"
one_complaint errors "2 processes that $other started before are not sampled; -p $other,\$(pgrep" ||
	fail "one of two servers: $(cat errors)"
# Nor is one that it starts while it is being attached to.
python3 -c 'import os, signal, time
def start(*_):
    if not os.fork():
        time.sleep(60)
signal.signal(signal.SIGUSR1, start)
print("ready", flush=True)
while True:
    signal.pause()' >starting &
server=$!
background="$background $server"
await test -s starting
if strace -qq -o calls -e trace=openat -e inject=openat:delay_exit=1 true 2>/dev/null; then
	strace -qq -o calls -e trace=perf_event_open -e inject=perf_event_open:delay_exit=100000 \
		"$ADAPTRACE" record -q -e cpu-clock:u --max-overhead 0 -p $server --duration 0.1 \
		-o x.atr 2>errors &
	recorder=$!
	await grep -q "}, $server, " calls
	kill -USR1 $server
	wait $recorder || fail "a server that starts one meanwhile"
	background="$background $(pgrep -P $server)"
	grep -q "1 process that $server started before" errors || fail "one meanwhile: $(cat errors)"
fi
# Nor is the recorder left out where it is a child of what it attaches to.
sh -c '"$@" -p $$' sh "$ADAPTRACE" record -q -e cpu-clock:u --duration 0.1 -o x.atr 2>errors
grep started errors && fail "the recorder is left out"

start_recording -F "$(rate 10000)" -p $first,$second -p $first -o many.atr
kill -USR1 $first $second
await grep -q 'later done' said.1
await grep -q 'later done' said.2
kill -USR2 $first
wait $first || fail "the first target ended with $?"
kill -USR1 $second
await sh -c '[ $(grep -c "later done" said.2) = 2 ]'
kill -0 $recorder || fail "the first end was the recorder's"
kill -USR2 $second
wait $second || fail "the second target ended with $?"
wait $recorder || fail "record -p ended with $?"
"$ADAPTRACE" report many.atr >report
head -1 report | grep -qF ": [2 processes: $first grower, $second grower]" || fail "$(head -1 report)"
"$ADAPTRACE" info many.atr | grep -q 'attached to  *processes that were running' || fail "info"

cat said.1 said.2 >said
measure $first $second <<'END'
import sys
import recording

first, second = map(int, sys.argv[1:])
info = recording.info("many.atr")
assert info["attached"] and info["pid"] == 0 and info["exit_status"] is None
assert info["command"] == [f"[2 processes: {first} grower, {second} grower]"], info["command"]
commands = {command["comm"]: command for command in info["commands"]}
assert commands["early"]["tasks"] == 5 and commands["later"]["tasks"] == 3, commands
allowed = recording.allowance(info)
later = {first: 0, second: 0}
for thread in info["threads"]:
    if thread["comm"] == "later":
        later[thread["pid"]] += thread["weight"] / 1e9
assert recording.close(later[first], 0.5, 0.05, allowed)
assert recording.close(later[second], 1, 0.05, allowed)
early = [thread for thread in info["threads"] if thread["comm"] == "early"]
assert len(early) == 5 and all(thread["stored"] > 50 for thread in early), early
samples = [s for s in recording.samples("many.atr") if s["comm"] == "early"]
for pid in first, second:
    mine = [s for s in samples if s["pid"] == pid]
    rooted = [s for s in mine if any(f["symbol"] == "early" for f in s["stack"])]
    assert len(rooted) > 0.9 * len(mine), (len(rooted), len(mine))
END

# A hundred, more than the files that may be open without being asked for; with all kinds of stacks.
# A fifth of them use the CPUs. It lasts until most of these have run for some periods.
pids=
for i in $(seq 20); do
	nice -n 19 "$TARGETS/burn" 100 >/dev/null &
	pids="$pids $!"
done
cat >wait.py <<'END'
import sys
import time

def used():
    stats = [open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split() for pid in sys.argv[1:]]
    return [int(stat[11]) + int(stat[12]) for stat in stats]

before = used()
while sum(now - then >= 2 for now, then in zip(used(), before)) < 15:
    time.sleep(0.1)
END
burning=$pids
for i in $(seq 80); do
	sleep 100 &
	pids="$pids $!"
done
background="$background $pids"
list=$(echo $pids | tr ' ' ,)
for stacks in dwarf fp none; do
	prlimit --nofile=128: "$ADAPTRACE" record -q -e cpu-clock -g $stacks -p $list \
		-o hundred.atr -- python3 wait.py $burning 2>errors || fail "$stacks: $(cat errors)"
	check $pids <<'END'
import sys
import recording
info = recording.info("hundred.atr")
pids = {int(pid) for pid in sys.argv[1:]}
sampled = {thread["pid"] for thread in info["threads"]}
assert sampled <= pids and len(sampled) > 10, (len(sampled), sampled - pids)
assert info["command"][0].startswith("[100 processes: ") and info["command"][0].endswith("]")
END
done
for pid in $pids; do
	kill -0 $pid || fail "$pid was harmed"
done
pass
