#!/bin/sh
# --delay: nothing of what was before counts, neither as sampled nor as [unsampled], and yet who is
# there is known by name and code.
. "$(dirname "$0")/scenario"
need_sampling

begin() { # ARGUMENTS-OF-RECORD...: in the background, as $recorder
	head -1 /proc/stat >stat
	"$ADAPTRACE" record -q --max-overhead 0 "$@" &
	recorder=$!
	background="$background $recorder"
}

# A target of two phases, and the start falls between them: the first ends with the file phase, the
# second begins with a line from gate.
begin_between() { # ARGUMENTS-OF-RECORD...
	for delay in 2 5 15; do
		rm -f gate phase
		mkfifo gate
		date +%s%N >launched
		begin --delay $delay "$@"
		await test -e phase
		date +%s%N >before
		[ $(cat before) -ge $(($(cat launched) + delay * 1000000000)) ] || break
		kill $recorder # the first phase took too long
		wait $recorder
	done
	until date +%s%N >after; [ $(cat after) -gt $(($(cat launched) + (2 * delay + 1) * 1000000000)) ]; do
		sleep 0.2
	done
	echo go >gate
	wait $recorder || fail "record ended with $?"
}

phases() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	begin_between -F "$(rate 10000)" "$@" -o phases.atr sh -c '
		"$TARGETS/faults" 2 5 >/dev/null
		"$TARGETS/storm" 50 2 before 2000 >said.before
		touch phase
		read go <gate
		exec "$TARGETS/storm" 100 2 after 2000' >said
	measure "$delay" <<'END'
import sys
import recording

launched, before, after = (int(open(name).read()) for name in ("launched", "before", "after"))
info, samples = recording.info("phases.atr"), recording.samples("phases.atr")
start = info["start_time_ns"]
assert info["delay_ns"] == int(sys.argv[1]) * 1e9
assert start >= launched + info["delay_ns"], "too early"
assert before < start < after, "too slow a machine"
assert start + info["wall_ns"] >= after
assert all(info["start_ns"] <= s["time_ns"] <= info["start_ns"] + info["wall_ns"] for s in samples)
assert all(r["time_ns"] >= 0 for r in info["reductions"])

commands = {command["comm"]: command for command in info["commands"]}
print(commands)
assert "before" not in commands and "faults" not in commands
assert commands["after"]["tasks"] == 100
least, most = recording.of_storm(info, "after")
stood = recording.stood_still()
# The shell and storm itself are there as well: of the shell and its children what was before is not.
exact = info["events"][0]["exact"] / 1e9
whole = recording.said()["used"][0] - recording.said("said.before")["used"][0]
assert recording.between(exact, least, whole, 0.05, stood)
if info["counting"] == "inherit":
    assert recording.between(commands["after"]["exact"] / 1e9, least, most, 0.05, stood)
rows = recording.report("phases.atr", "--sort", "comm")["functions"]
assert not [row for row in rows if row["comm"] in ("before", "faults")]
total = sum(row["self"] for row in rows if row["comm"] == "after")
assert recording.between(total / 1e9, least, most, 0.1, recording.allowance(info))
for counter in info["counters"]:
    assert counter["total"] < 20000, counter
END
}
phases
! tells_totals || phases --inherit -m 64K
phases --counters page-faults -e cpu-clock

# Setuid programs, which inherited events cannot see: what they used before the start is not
# [unobserved], nor is what a process used before it executes one after the start.
unobserved() {
	mkdir -p programs
	cp "$TARGETS/burn" programs/other && chown 65534 programs/other && chmod 4755 programs/other
	begin_between --inherit -e cpu-clock -o unobserved.atr sh -c 'programs/other 0.2 >/dev/null
		i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done
		touch phase; read go <gate
		cut -d " " -f 14,15 /proc/$$/stat >ticks
		exec programs/other 0.7' 2>errors >said
	measure <<'END'
import os
import recording
before, after = (int(open(name).read()) for name in ("before", "after"))
info = recording.info("unobserved.atr")
assert before < info["start_time_ns"] < after, "too slow a machine"
assert info["samples"]["unobserved"] == 1
rows = recording.report("unobserved.atr", "--sort", "comm")["functions"]
missing = sum(row["self"] for row in rows if row.get("unobserved"))
used = sum(map(int, open("ticks").read().split())) / os.sysconf("SC_CLK_TCK")
# It ends when all of the process's time is 0.7 s.
assert used > 0.05 and recording.close(missing / 1e9, 0.7 - used, 0.1, 0.03 + recording.stood_still())
assert not [c for c in info["commands"] if c["comm"] == "other" and c["tasks"] != 1]
END
}
[ "$(id -u)" != 0 ] || unobserved

# Threads, names and mappings from before, by all ways; --duration begins with sampling.
early() { # PID, and nanoseconds that it took with this delay and duration
	check "$@" <<'END'
import sys
import recording
info, samples = recording.info("early.atr"), recording.samples("early.atr")
assert all(s["time_ns"] >= info["start_ns"] for s in samples)
early = [s for s in samples if s["comm"] == "early" and s["pid"] == int(sys.argv[1])]
assert len({s["tid"] for s in early}) == 3
rooted = [s for s in early if any(f["symbol"] == "early" for f in s["stack"])]
assert len(rooted) > 0.9 * len(early) > 50, (len(rooted), len(early))
if info["counting"] != "cpu":
    commands = {command["comm"]: command for command in info["commands"]}
    assert commands["early"]["tasks"] == 3, commands
    if commands["early"]["exact"]:
        assert recording.close(commands["early"]["exact"] / 1e9, commands["early"]["weight"] / 1e9,
                               0.2, recording.allowance(info))
    exact = info["events"][0]["exact"] / 1e9
    total = sum(c["weight"] for c in commands.values()) / 1e9
    assert recording.close(exact, total, 0.2, recording.allowance(info))
if len(sys.argv) > 2:
    elapsed, delay, duration = (float(arg) for arg in sys.argv[2:])
    assert elapsed >= (delay + duration) * 1e9
    assert duration * 1e9 <= info["wall_ns"] <= elapsed - delay * 1e9
END
}
for way in '' --inherit; do
	begin $way --delay 0.5 -o early.atr "$TARGETS/grower" 3 >grown
	await grep -q ready grown
	sleep 1.5
	kill -USR2 $recorder
	wait $recorder || fail "record $way ended with $?"
	early "$("$ADAPTRACE" info early.atr --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"])')"
done
"$TARGETS/grower" 3 >grown &
target=$!
background="$background $target"
await grep -q ready grown
timed() {
	since=$(date +%s%N)
	recorded "$@" --delay 0.7 --duration 1.1 -o early.atr
	early $target $(($(date +%s%N) - since)) 0.7 1.1
}
timed -p $target
"$ADAPTRACE" doctor >text
grep -q '^works    whole CPUs' text && timed -a -F 1000
kill -0 $target || fail "harmed"

# An end before the start: nothing was sampled, and that is said.
silent() { # STATUS FILE
	[ $1 = "$2" ] || fail "ended with $1 instead of $2"
	one_complaint errors 'nothing was sampled: .*--delay is 50' || fail "$(cat errors)"
	check <<'END'
import recording
info = recording.info("silent.atr")
assert info["delay_ns"] == 50e9
assert info["wall_ns"] == 0 and info["samples"]["taken"] == 0 and not recording.samples("silent.atr")
assert not info["events"][0]["exact"] and not any(c["exact"] for c in info["commands"])
assert recording.report("silent.atr")["total_weight"] == 0
END
	"$ADAPTRACE" report silent.atr | grep -q 'ended before sampling started' || fail "report"
}
for way in '' --inherit; do
	record $way -e cpu-clock:u --delay 50 -o silent.atr sh -c '"$TARGETS/burn" 0.1 >/dev/null; exit 7' 2>errors
	silent $? 7
done
begin -e cpu-clock:u --delay 50 -p $target -o silent.atr 2>errors
await sh -c "ls -l /proc/$recorder/fd | grep -q perf_event"
sleep 0.5
kill -USR2 $target
wait $recorder
silent $? 0
wait $target || fail "harmed"

for wrong in 0 -1 x 1s nan 1e10; do
	record --delay=$wrong true 2>errors && fail "--delay=$wrong"
	one_complaint errors "impossible delay '$wrong'" || fail "--delay=$wrong: $(cat errors)"
done
record --mpi --delay 1 true 2>errors && fail "--mpi --delay"
one_complaint errors '--mpi .*excludes --delay' || fail "$(cat errors)"
pass
