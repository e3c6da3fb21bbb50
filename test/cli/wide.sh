#!/bin/sh
# Whole CPUs and cgroups that exist: whoever runs is sampled, those who ran before as well, but not
# idle CPUs, whose time the kernel tells; -C keeps to its CPUs, --cgroup to its members.
. "$(dirname "$0")/scenario"

mkdir open && chmod 777 open
if ! as_user "$ADAPTRACE" doctor | grep -q '^works    whole CPUs'; then
	(cd open && as_user "$ADAPTRACE" record -q -a true) 2>errors && fail "everybody may"
	one_complaint errors 'whole CPUs: perf_event_paranoid is .*sysctl' || fail "$(cat errors)"
fi
"$ADAPTRACE" doctor >text || skip "this kernel permits no sampling here"
grep -q '^works    whole CPUs' text || skip "whole CPUs may not be sampled here"

# Who ran before, with names and code; until Ctrl-C, and the trace is there.
"$TARGETS/quarters" 1 20 >/dev/null &
before=$!
background="$background $before"
await grep -q quarters "/proc/$before/comm"
start_recording -a -F 1000
idle() { awk 'NR == 1 { print $5 }' /proc/stat; }
idle_before=$(idle)
"$TARGETS/burn" 0.2 >/dev/null
sleep 0.5
idle=$(($(idle) - idle_before))
# What a killed recorder leaves, and a snapshot, have it as well, where there is memory to share.
"$ADAPTRACE" snapshot -o early.atr 2>errors || grep -q 'no recorder of yours' errors || fail "$(cat errors)"
kill -INT $recorder
wait $recorder || fail "Ctrl-C: $?"
check "$before" "$idle" "$(nproc)" <<'END'
import os, sys
import recording
before, idle, nr_cpus = map(int, sys.argv[1:])
info, samples = recording.info(), recording.samples()
assert info["counting"] == "cpu" and not info["attached"] and info["command"] == ["[all CPUs]"]
comms = recording.weights(samples, "comm")
print(comms, idle)
assert comms["quarters"] > 0 and comms["burn"] > 0
mine = [s for s in samples if s["pid"] == before]
assert mine and all(s["comm"] == "quarters" for s in mine)
assert any(f["module"] == "quarters" and f["symbol"] == "burn_step" for s in mine for f in s["stack"])
nobody = {s["comm"] for s in samples if not s["pid"]}
assert nobody <= {"[outside]"}, nobody
told = sum(c["exact"] for c in info["commands"] if c["comm"] == "swapper")
# The recording began before the first look, and iowait is idle, too.
assert idle * 1e7 - 0.1e9 <= told <= info["wall_ns"] * nr_cpus + 0.1e9, (told, idle)
rows = [f for f in recording.report()["functions"] if f.get("idle")]
assert sum(f["self"] for f in rows) == told, rows
if not os.path.exists("early.atr"):
    sys.exit()
early = [c["exact"] for c in recording.info("early.atr")["commands"] if c["comm"] == "swapper"]
# A busy machine is never idle.
assert len(early) <= 1 and sum(early) <= told, (early, told)
assert early or idle < 30, idle
rows = [f for f in recording.report("early.atr")["functions"] if f.get("idle")]
assert sum(f["self"] for f in rows) == sum(early), rows
END

"$ADAPTRACE" report | head -1 | grep -q '^adaptrace.atr: \[all CPUs\]$' || fail "what was sampled"

# Who runs outside of a PID namespace has no number in it, and so no name, nor code.
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	"$TARGETS/burn" 3 >/dev/null &
	background="$background $!"
	unshare --pid --fork --mount-proc "$ADAPTRACE" record -q -e cpu-clock -a -o inside.atr sleep 0.5 2>errors ||
		fail "-a in a PID namespace: $? $(cat errors)"
	# And of stacks, where many processes outside run: their code is unknown as well.
	[ "$(grep -c 'outside of this PID namespace' errors)" = 1 ] || fail "-a in a PID namespace: $(cat errors)"
	check <<'END'
import recording
outside = [s for s in recording.samples("inside.atr") if not s["pid"]]
assert outside and {s["comm"] for s in outside} == {"[outside]"}
assert {f["module"] for s in outside for f in s["stack"]} <= {None, "", "[kernel]", "[unknown]"}, \
    {f["module"] for s in outside for f in s["stack"]}
END
fi

# On some CPUs only; the target has its exit status, and what ran elsewhere is not seen.
record -C 0 -F 1000 sh -c 'exit 7'
[ $? = 7 ] || fail "the command's exit status"
record -C 0 -F 1000 -o cpu.atr taskset -c 0 "$TARGETS/burn" 0.3 >/dev/null || fail "-C 0: $?"
check <<'END'
import recording
samples = recording.samples("cpu.atr")
assert {s["cpu"] for s in samples} == {0}, {s["cpu"] for s in samples}
assert any(s["comm"] == "burn" for s in samples)
assert recording.info("cpu.atr")["command"][:2] == ["[some CPUs]", "taskset"]
END
for list in 1-0 x 0- , 99999 0,,1; do
	record -C $list true 2>errors && fail "-C $list"
	one_complaint errors CPU || fail "-C $list: $(cat errors)"
done
record -a -p 1 2>errors && fail "-a -p"
one_complaint errors exclude || fail "$(cat errors)"
record -a --inherit true 2>errors && fail "-a --inherit"
one_complaint errors '--inherit is for one program' || fail "$(cat errors)"

# A cgroup that exists: its members, those in cgroups below and those who are moved there later.
need_cgroup
v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
grep -q '^cgroup .*perf_event' /proc/mounts && skip "perf_event is of version 1 here"
group=adaptrace-test-$$
mkdir -p "$v2/$group/below" || skip "no cgroup can be made here"
tidy() {
	for pid in $inside $before $moved $group_recorder; do ours $pid && kill $pid; done
	wait $inside $before $moved 2>/dev/null
	rmdir "$v2/$group/below" "$v2/$group"
	leave
}
inside='' moved='' group_recorder=''
trap tidy EXIT
sh -c 'echo 0 >"$0/cgroup.procs" && exec "$1" 1 20' "$v2/$group/below" "$TARGETS/quarters" >/dev/null &
inside=$!
"$TARGETS/burn" 20 >/dev/null &
moved=$!
background="$background $inside $moved"
await grep -q quarters /proc/$inside/comm
start_recording --cgroup $group -F 1000 -o group.atr
group_recorder=$recorder
echo $moved >"$v2/$group/cgroup.procs"
sleep 0.6
kill -INT $recorder
wait $recorder || fail "--cgroup: $?"
check $inside $moved <<'END'
import sys
import recording
inside, moved = map(int, sys.argv[1:])
samples, info = recording.samples("group.atr"), recording.info("group.atr")
print(recording.weights(samples, "pid"), info["command"])
assert {s["pid"] for s in samples} == {inside, moved}
for pid, module in (inside, "quarters"), (moved, "burn"):
    assert any(f["module"] == module for s in samples if s["pid"] == pid for f in s["stack"]), module
END
record --cgroup $group-none true 2>errors && fail "no such cgroup"
one_complaint errors "cgroup '$group-none': No such file" || fail "$(cat errors)"
pass
