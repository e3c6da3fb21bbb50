#!/bin/sh
# A recorder that does not come to its work loses samples, and nothing else: what the target starts
# meanwhile has its name, every sample is accounted for, and the guard slows down the event that
# floods the rings, in the kernel as well.
. "$(dirname "$0")/scenario"
need_sampling

cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')

stop_it() { # ARGUMENTS-OF-RECORD...
	echo "-- $*"
	rm -f full
	start_recording --max-overhead 90 -m 4M -e page-faults:u -e cpu-clock:u -F 10000 "$@" \
		taskset -c "$cpu" sh -c 'echo $$; "$0/contexts" -r 3000 1; : >full; exec "$0/burn" 4' \
		"$TARGETS" >said
	kill -STOP $recorder
	await test -e full
	await sh -c 'grep -q burn /proc/$(head -1 said)/comm'
	sleep 0.2
	kill -CONT $recorder
	# What was lost so far is in a snapshot as well.
	await sh -c "'$ADAPTRACE' ctl $recorder status | grep -q ' [1-9][0-9]* lost'"
	rm -f part.atr
	"$ADAPTRACE" ctl $recorder snapshot part.atr 2>/dev/null || fail "snapshot"
	wait $recorder || fail "record ended with $?"
	check <<'END'
import recording

assert recording.info("part.atr")["samples"]["lost"] > 0
END
	measure <<'END'
import recording

info, samples = recording.info(), recording.samples()
event, counts = info["events"][1], info["samples"]
used = max(recording.said()["used"])  # by all, as the last one says
print(counts, info["reductions"])
assert counts["lost"] > 0 and counts["lost_records"] == 0
assert counts["taken"] == counts["stored"] + counts["reduced"]
clock = [s for s in samples if s["event"] == event["name"]]
burn = [s for s in clock if s["comm"] == "burn"]
named = [s for s in burn if s["stack"][0]["module"] == "burn"]
print(len(named), "of", len(burn))
assert len(named) > 0.9 * len(burn) > 1000
overhead = [r for r in info["reductions"]
            if r["cause"] == "overhead" and r["time_ns"] > samples[0]["time_ns"]]
assert overhead and {r["event"] for r in overhead} == {event["name"]}
# Delivered or lost: fewer than there would have been at the first period. Rungs are two steps apart.
happened = event["taken"] + counts["lost"]
at_first = used * 1e9 / event["initial_period"]
print(happened, "of", at_first)
assert info["counting"] != "cgroup" or happened < 0.95 * at_first
END
}

stop_it
stop_it --inherit

# Calls of who ended meanwhile are theirs, though what came later is known before they are read.
cat >calls.c <<'END'
#include <adaptrace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	while (access(argv[argc - 1], F_OK)) {
		ADAPTRACE_BEGIN("region");
		usleep(1000);
		ADAPTRACE_END("region");
	}
}
END
cc -I"$here/../../include" -o calls calls.c || fail "no program"
stop_calls() { # ARGUMENTS-OF-RECORD...
	echo "-- calls $*"
	rm -f end ended
	start_recording --mpi "$@" sh -c './calls end & ./calls end & wait
		for i in 1 2 3 4 5 6 7; do sleep 0.1; done; : >ended; sleep 0.1' 2>errors
	kill -STOP $recorder
	sleep 0.1
	: >end
	await test -e ended
	kill -CONT $recorder
	wait $recorder || fail "record ended with $?"
	[ -z "$(complaints errors)" ] || fail "$(cat errors)"
	"$ADAPTRACE" dump --json adaptrace.atr >dump || fail dump
	check <<'END'
import collections
import json
import recording

calls = [c for c in map(json.loads, open("dump")) if "call" in c]
print(collections.Counter((c["pid"], c["comm"]) for c in calls))
assert len({c["pid"] for c in calls}) == 2 and {c["comm"] for c in calls} == {"calls"}
assert not [c for c in recording.info()["commands"] if not c["comm"]]
END
}

stop_calls
stop_calls --inherit
pass
