#!/bin/sh
# record --history: the last seconds at a rate of their own, in the trace, in what a condition keeps of a
# recording, in copies at any moment and in what a killed recorder leaves.
. "$(dirname "$0")/scenario"
need_sampling

for wrong in "" 0 1x 10s@ 10s@x 10s@0 2d; do
	"$ADAPTRACE" record --history "$wrong" true 2>errors
	status=$?
	[ $status = 125 ] && one_complaint errors "impossible history" || fail "--history '$wrong': $status, $(cat errors)"
done
"$ADAPTRACE" record -e page-faults --history 1s@100 true 2>errors && fail "a rate of page faults"
one_complaint errors "counts no time" || fail "$(cat errors)"

# The first slow step comes before the history is full, the second one long after.
cat >steps.c <<'END'
#include <adaptrace.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void spin(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		continue;
}

int main(int argc, char **argv)
{
	double start = now(), seconds = atof(argv[argc - 1]);
	int early = 0, late = 0;

	while (now() < start + seconds) {
		double slow = 0.002;

		if (!early && now() > start + 0.3)
			early = 1, slow = 0.2;
		if (!late && now() > start + seconds / 2)
			late = 1, slow = 0.4;
		ADAPTRACE_BEGIN("step");
		spin(slow);
		ADAPTRACE_END("step");
	}
	return 0;
}
END
gcc -O1 -I"$here/../../include" -o steps steps.c || fail "steps.c"
record --mpi --events-share 5 -m 128K -F "$(rate 4000)" --history 1s@200 -o h.atr \
	--on 'time(step) > 50*median: snapshot, mark=slow' ./steps 4 2>errors || fail "record: $(cat errors)"
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
! grep -q "process" errors || fail "the watcher is no process of the command: $(cat errors)"
[ -s h-1.atr ] || fail "no snapshot: $(cat errors)"
[ ! -e h-2.atr ] || fail "the condition came true twice"
cat >history_of.py <<'END'
import json
from recording import info, output_of

def samples_of(name, *options):
    lines = (json.loads(line) for line in output_of("dump", "--json", *options, name).splitlines())
    return [s for s in lines if "weight" in s]

def history_of(name):
    i = info(name)
    h, event = i["history"], i["events"][0]
    samples = samples_of(name, "--window", "history")
    assert len(samples) == h["stored"] <= h["taken"], (len(samples), h)
    assert sum(s["weight"] for s in samples) == h["weight"], h
    assert all(h["from_ns"] <= s["time_ns"] <= h["to_ns"] for s in samples), h
    assert event["taken"] == event["stored"] + i["samples"]["reduced"], event
    return i, h, samples
END
check <<'END'
import json, sys
sys.path.insert(0, ".")
from history_of import history_of, samples_of
from recording import output_of

for name in "h-1.atr", "h.atr":
    i, h, samples = history_of(name)
    event = i["events"][0]
    assert h["full"] and h["wanted_ns"] == 10**9 and h["event"] == event["name"], h
    assert h["to_ns"] - h["from_ns"] >= 10**9 and not h["cut"], h
    assert h["period"] <= 1e9 / 200 and h["taken"] == h["stored"], h
    # As much as the run has of that time, whose samples are fewer.
    there = [s for s in samples_of(name) if h["from_ns"] <= s["time_ns"] <= h["to_ns"]]
    weight, error = sum(s["weight"] for s in there), 4 * event["final_period"] * max(len(there), 4) ** 0.5
    assert abs(weight - h["weight"]) < error, (weight, h, error)
    shown = json.loads(output_of("report", "--json", "--window", "history", name))
    assert (shown["samples"], shown["sampled_weight"]) == (h["stored"], h["weight"]), shown
assert {c["comm"] for c in i["commands"]} == {"steps"}, i["commands"]
fired, = i["conditions"]
first = min(s["time_ns"] for s in samples_of("h-1.atr", "--window", "history"))
assert fired["value"] > 50 * 0.002, fired  # no step takes less than 2 ms
assert fired["time_ns"] - 10**9 >= first, (first, fired)
assert "history until" in output_of("info", "h.atr").decode()
assert "a history (--window)" in output_of("report", "h.atr").decode()
END
for format in folded speedscope firefox chrome; do
	"$ADAPTRACE" convert --$format --window history -f -o "out.$format" h.atr 2>errors || fail "$format: $(cat errors)"
	[ -s "out.$format" ] || fail "$format is empty"
done

# Halves change their turn often here.
start_recording -m 64K -F "$(rate 4000)" --history 0.3s -o k.atr "$TARGETS/burn" 60
target=$(target_of $recorder)
background="$background $target"
for i in 1 2 3 4; do
	"$ADAPTRACE" snapshot -o copy.atr k.atr 2>errors || fail "snapshot: $(cat errors)"
	check <<-'END'
	import sys
	sys.path.insert(0, ".")
	from history_of import history_of
	history_of("copy.atr")
	END
done
"$ADAPTRACE" ctl k.atr reset && "$ADAPTRACE" ctl k.atr detail 0.1 || fail "ctl"
"$ADAPTRACE" ctl k.atr status --json | grep -q '"history":' || fail "status: $("$ADAPTRACE" ctl k.atr status --json)"
await sh -c '"$ADAPTRACE" ctl k.atr status | grep -q "history.*full"'
kill -KILL $recorder
wait $recorder 2>/dev/null
"$ADAPTRACE" recover k.atr 2>errors || fail "recover: $(cat errors)"
check <<'END'
import sys
sys.path.insert(0, ".")
from history_of import history_of
i, h, samples = history_of("k.atr")
assert h["full"] and samples and len(i["windows"]) == 1, (h, i["windows"])
END
"$ADAPTRACE" record -q -o none.atr true && "$ADAPTRACE" report --window history none.atr 2>errors && fail "a history that is not there"
one_complaint errors "there is no history" || fail "$(cat errors)"
pass
