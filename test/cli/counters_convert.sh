#!/bin/sh
# What the counters of a trace sum up to is the same in every format that has a place for them.
. "$(dirname "$0")/scenario"
need_sampling

# The other event is sampled without them.
recorded -e cpu-clock:u -e task-clock:u --counters page-faults:u,minor-faults:u "$TARGETS/faults" 2 10 >said
for format in callgrind chrome otf2 perf-script pprof speedscope; do
	"$ADAPTRACE" convert --$format adaptrace.atr || fail "convert --$format"
done
check <<'END'
import collections
import json
import recording

names = ["page-faults:u", "minor-faults:u"]
info = recording.info()
expected = {c["name"]: c["with_samples"] for c in info["counters"]}
print(expected)
assert expected["page-faults:u"] > 10000

sums = collections.Counter()
for line in open("adaptrace.perf.txt"):
    fields = line.split()
    if not line.startswith(("\t", " ")) and fields and fields[-1].rstrip(":") in names:
        sums[fields[-1].rstrip(":")] += int(fields[-2])
assert dict(sums) == {k: v for k, v in expected.items() if v}, sums

sums = collections.Counter()
for profile in json.load(open("adaptrace.speedscope.json"))["profiles"]:
    name = profile["name"].rpartition(": ")[2]
    if name in names:
        sums[name] += sum(profile["weights"])
assert dict(sums) == {k: v for k, v in expected.items() if v}, sums

sums = collections.Counter()
for event in json.load(open("adaptrace.trace.json"))["traceEvents"]:
    for name in names:
        sums[name] += event.get("args", {}).get(name, 0) if event["ph"] == "X" else 0
assert dict(sums) == expected, sums

lines = open("adaptrace.callgrind.out").read().splitlines()
assert "events: cpu_clock_u task_clock_u page_faults_u minor_faults_u" in lines
totals = [line for line in lines if line.startswith("totals:")][0].split()[1:]
assert [int(n) for n in totals[2:]] == [expected[name] for name in names], totals
END
# Where it happened, as a flame graph and as lines.
"$ADAPTRACE" convert --flamegraph -e no-such-event adaptrace.atr 2>said && fail "there is no such event"
grep -q 'task-clock:u, page-faults:u, minor-faults:u' said || fail "it names $(cat said)"
"$ADAPTRACE" convert --flamegraph -e page-faults:u adaptrace.atr || fail "no flame graph"
grep -q 'id="head".*>page-faults:u: ' adaptrace.svg || fail "not its name"
"$ADAPTRACE" convert --folded -e page-faults:u adaptrace.atr || fail "no lines"
check <<'END'
import recording
faults, _ = recording.info()["counters"]
lines = [line.rpartition(" ") for line in open("adaptrace.folded")]
assert sum(int(number) for _, _, number in lines) == faults["with_samples"]
touching = sum(int(number) for path, _, number in lines if ";touch_pages" in path)
assert touching > 0.5 * faults["total"], touching
END
"$ADAPTRACE" convert --firefox -e page-faults:u adaptrace.atr 2>err && fail "by itself in firefox"
one_complaint err "is a counter" || fail "not one line"
proto=$here/../../src/output/convert
if command -v protoc >/dev/null; then
	gzip -dc adaptrace.pb.gz |
		protoc --decode_raw >decoded || fail "the profile cannot be decoded"
	[ "$(grep -c '^1 {' decoded)" = 4 ] || fail "not four types of values"
fi
[ -e "$proto/pprof.proto" ] || fail "no $proto"
if python3 -c 'import otf2' 2>/dev/null; then
	check <<'END'
import collections
import otf2
import recording

last = collections.defaultdict(lambda: [0, 0])
with otf2.reader.open("adaptrace-otf2/traces.otf2") as trace:
    members = [m.name for m in trace.definitions.metric_members]
    assert members == ["page-faults:u", "minor-faults:u"]
    times = collections.defaultdict(list)
    for location, event in trace.events:
        if type(event).__name__ == "CallingContextSample" and \
                event.interrupt_generator.name != "cpu-clock:u":
            continue
        times[type(event).__name__].append((location.name, event.time))
        if type(event).__name__ == "Metric":
            assert all(new >= old for new, old in zip(event.values, last[location]))
            last[location] = event.values
    assert times["Metric"] == times["CallingContextSample"], "not at the times of samples"
sums = [sum(values[i] for values in last.values()) for i in range(2)]
assert sums == [c["with_samples"] for c in recording.info()["counters"]], sums
END
fi
# Values that a program gave are metrics as well, and OTF2's numbers of both have no gaps.
if command -v otf2-print >/dev/null; then
	gcc -std=gnu11 -I"$here/../../include" -o regions "$here/../regions/regions.c" -pthread ||
		fail "regions"
	recorded --mpi -e cpu-clock:u --counters page-faults:u,minor-faults:u -o values.atr ./regions
	"$ADAPTRACE" convert --otf2 values.atr || fail "values"
	otf2-print -G values-otf2/traces.otf2 >definitions 2>err || fail "otf2-print: $(cat err)"
	[ ! -s err ] || fail "otf2-print says: $(cat err)"
	for metric in page-faults:u minor-faults:u number; do
		grep -q "^METRIC_MEMBER .*\"$metric\"" definitions || fail "no $metric"
	done
	otf2-print values-otf2/traces.otf2 >events 2>err || fail "otf2-print: $(cat err)"
	[ "$(grep -c '^METRIC .*("number" <[0-9]*>' events)" = 21 ] || fail "$(grep '^METRIC ' events | head)"
fi
pass
