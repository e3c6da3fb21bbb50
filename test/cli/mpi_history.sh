#!/bin/sh
# record --history --mpi: all calls of the last seconds are there when a condition takes a snapshot, although
# the run has dropped most of its calls; in a merged trace, too.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi
one_mpi
compile $mpi slow

"$ADAPTRACE" record -q -F 500 -g none --mpi --max-overhead 0 -m 256K --events-share 20 --history 1s -o job.atr \
	--on 'time(step) > 0.5: snapshot' -- mpirun.$mpi -n 1 ./slow.$mpi 3 >out 2>errors || fail "record: $(cat errors)"
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
[ -s job-1.atr ] || fail "no snapshot: $(cat errors)"
cat >kept.py <<'E'
import bisect, json
from recording import info, output_of

def calls_of(name, *options):
    lines = (json.loads(line) for line in output_of("dump", "--json", *options, name).splitlines())
    return [c for c in lines if "call" in c]

def kept(name):
    i = info(name)
    h = i["history"]
    calls = calls_of(name, "--window", "history")
    assert h["calls"]["taken"] == h["calls"]["stored"] == len(calls), (h, len(calls))
    return i, h, calls
E
check <<'E'
from kept import *
truth = [round(float(line) * 1e9) for line in open("truth.0")]
longest = max(range(1, len(truth)), key=lambda i: truth[i] - truth[i - 1])
for name in "job-1.atr", "job.atr":
    i, h, calls = kept(name)
    kind, = i["calls"]["kinds"]
    assert kind["stored"] < kind["seen"], kind
    assert not kind["lost"] and h["full"], (kind, h)
    # Each step is between two lines of the truth, and none is missing since the history begins.
    steps = [c for c in calls if c["call"] == "step"]
    numbers = [bisect.bisect_left(truth, c["end_ns"]) for c in steps]
    assert numbers == list(range(numbers[0], numbers[0] + len(steps))), numbers
    assert numbers[0] < 2 or truth[numbers[0] - 2] <= h["calls"]["from_ns"], (numbers[0], h)
    whole = [c for c in calls if c["time_ns"] >= steps[1]["time_ns"]]
    for name_of in "MPI_Sendrecv", "MPI_Bcast":
        assert sum(c["call"] == name_of for c in whole) - len(steps) in (-1, 0), (name_of, len(steps))
    if name == "job-1.atr":
        assert longest in numbers and h["to_ns"] - h["calls"]["from_ns"] >= 10**9, (longest, numbers, h)
fired, = i["conditions"]
assert fired["value"] > 0.5, fired
# Reports and converters have these calls instead of the run's.
report = json.loads(output_of("report", "--json", "--mpi", "--window", "history", "job.atr"))
begin = max(h["from_ns"], h["calls"]["from_ns"])
inside = [c for c in calls if begin <= c["time_ns"] and c["end_ns"] <= h["to_ns"]]
sums = {c["call"]: c["calls"] for c in report["calls"]}
assert abs(sums["MPI_Bcast"] - sum(c["call"] == "MPI_Bcast" for c in inside)) <= 2, (sums, len(inside))
chrome = output_of("convert", "-q", "--chrome", "--window", "history", "-o", "-", "job.atr")
assert chrome.count(b'"MPI_Bcast"') >= sum(c["call"] == "MPI_Bcast" for c in calls), chrome.count(b'"MPI_Bcast"')
text = output_of("info", "job.atr").decode()
assert f"{len(calls)} calls, {len(calls)} of them stored" in text, text
E

mpirun.$mpi -n 2 "$ADAPTRACE" record -q -F 200 -g none --mpi --max-overhead 0 -m 512K --history 0.5s -o ranks.atr \
	./slow.$mpi 1.2 >out 2>errors || fail "ranks: $(cat errors)"
"$ADAPTRACE" merge -o merged.atr ranks.0.atr ranks.1.atr 2>errors || fail "merge: $(cat errors)"
check <<'E'
from kept import *
i, h, calls = kept("merged.atr")
assert {c["rank"] for c in calls} == {0, 1}
for rank in 0, 1:
    _, own, there = kept(f"ranks.{rank}.atr")
    assert own["calls"]["from_ns"] <= h["calls"]["from_ns"], (own, h)
    there = [(c["call"], c["time_ns"], c["end_ns"]) for c in there if c["end_ns"] >= h["calls"]["from_ns"]]
    assert there == [(c["call"], c["time_ns"], c["end_ns"]) for c in calls if c["rank"] == rank]
E
pass
