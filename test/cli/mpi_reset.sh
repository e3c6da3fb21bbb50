#!/bin/sh
# A recording of MPI calls begins anew: sums are of what came after the reset alone, exactly, and what
# had begun before counts from then.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

reset_job() { # OPTIONS...
	rm -f one two go end
	"$ADAPTRACE" record -q -F 100 -g none --mpi --max-overhead 0 "$@" -o job.atr -- \
		mpirun.$mpi -n 2 ./anew.$mpi 3000 500 2>job.err &
	recorder=$!
	background="$background $recorder"
	await test -e one
	sleep 0.2
	! grep -q "no room in /dev/shm" job.err || skip "no room in /dev/shm"
	"$ADAPTRACE" watch --json --calls --interval 0.1 job.atr >lines 2>watch.err &
	watch=$!
	background="$background $watch"
	await test -s lines
	"$ADAPTRACE" ctl job.atr reset || fail "no reset: $(cat job.err)"
	touch go
	await test -e two
	touch end
	wait $recorder || fail "record ended with $?: $(cat job.err)"
	wait $watch || fail "watch ended with $?: $(cat watch.err)"
	check "$mpi" "$@" <<'E'
import json, sys
import recording

info = recording.info("job.atr")
report = json.loads(recording.output_of("report", "--mpi", "--json", "job.atr"))
sums = {c["call"]: c for c in report["calls"]}
kind, = info["calls"]["kinds"]
print(sys.argv[1:], kind, sums)
assert [(a["action"], a["result"]) for a in info["actions"]] == [("reset", "done")]
send, receive, value = sums["MPI_Send"], sums["MPI_Recv"], sums["value"]
assert (send["calls"], send["sent"], send["bytes"]) == (500, 500, 50000), send
assert (receive["calls"], receive["received"]) == (500, 500), receive
assert (value["calls"], value["min"], value["max"], value["last"]) == (1000, 5, 504, 504), value
assert sums["step"]["calls"] == 1000 and sums["done"]["calls"] == 2
# They had begun before, as had the barrier in which one rank waited.
assert sums["around"]["calls"] == 2 and sums["MPI_Barrier"]["calls"] == 6 and "MPI_Init" not in sums
assert all(c["longest_ns"] <= info["wall_ns"] for c in report["calls"] if c.get("longest_ns")), report
assert kind["seen"] == kind["stored"] + kind["dropped"] == sum(c["calls"] for c in report["calls"])
# Who looks on sees the sums begin anew, and every call that was stored once.
lines = [json.loads(line) for line in open("lines")]
names = {number: name for line in lines for number, name, _ in line.get("regions", [])}
assert lines[0]["watch"] == 1 and lines[-1]["state"] == "ended", (lines[0], lines[-1])
assert all(len(line["stored"]) == 4 * line["nr"] for line in lines if "stored" in line), lines
last = {names[s[0]]: s[1] for s in [line for line in lines if "sums" in line][-1]["sums"]}
assert last["MPI_Send"] <= 500 and last.get("step", 0) <= 1000, last
calls = [json.loads(line) for line in recording.output_of("dump", "--json", "job.atr").splitlines()]
calls = [c for c in calls if "call" in c]
assert calls and all(c["time_ns"] >= info["start_ns"] for c in calls), calls[:3]
E
}

for mpi in $mpis; do
	compile $mpi anew
	reset_job --events-policy all
done
reset_job --scale-trace
reset_job -m 64K --inherit
pass
