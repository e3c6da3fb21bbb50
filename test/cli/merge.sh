#!/bin/sh
# The traces of a job's ranks as one: everything is there once, the clocks agree, and what cannot be
# merged is refused in words.
. "$(dirname "$0")/scenario"
set -e
build=$(dirname "$ADAPTRACE")
(cd "$here/../.." && make -s BUILD="${build#"$PWD"/}" "${build#"$PWD"/}/unit/make_job")
mkdir job
"$build/unit/make_job" job 8 3000 >truth.json
"$ADAPTRACE" merge job -o all.atr 2>said
grep -q 'merged 8 traces, 8 ranks on 4 hosts' said
grep -q "clocks agree within" said
"$ADAPTRACE" info --json all.atr >info.json
"$ADAPTRACE" dump --json all.atr >dump.json
"$ADAPTRACE" report --mpi --json all.atr >mpi.json
"$ADAPTRACE" report --per-rank --json all.atr >ranks.json
"$ADAPTRACE" report --json all.atr >report.json
python3 "$here/merge_check.py"
"$ADAPTRACE" report --mpi all.atr >text
grep -q 'MPI_Waitall < exchange < step < main' text
"$ADAPTRACE" report --per-rank all.atr | grep -q 'compute$'
"$ADAPTRACE" report --only rank=8 all.atr 2>&1 | grep -q 'is of rank=8; report --per-rank shows'
# Every table says what its columns are computed from.
"$ADAPTRACE" report --mpi all.atr >text
for said in 'share in MPI, from samples; MPI calls, .* from calls' 'MPI was called from, .* from samples' \
	'^calls as they were recorded, with exact times' '^messages between ranks'; do
	grep -q "$said" text
done
"$ADAPTRACE" report --per-rank all.atr | grep -q '^what each function spent in itself, over the ranks'
# On a terminal a path ends where its line does.
python3 -c 'import os; os.openpty()' 2>/dev/null && python3 - <<'P'
import recording
said = recording.on_terminal("report", "--mpi", "all.atr")
paths = [line for line in said.splitlines() if " < " in line]
assert any(path.endswith("MPI_Waitall < exchange < step < …") for path in paths), paths
assert all(len(path) <= 80 for path in paths), paths
P
# A smaller buffer holds as many samples as fit.
"$ADAPTRACE" merge -m 256K -o small.atr job 2>/dev/null
"$ADAPTRACE" info --json small.atr >small.json
# A larger one than traces of this size can need is the user's to ask for.
"$ADAPTRACE" merge -m 2G -o large.atr job 2>said || fail "merge -m 2G: $(cat said)"
python3 - <<'P'
import json
small, info = json.load(open("small.json")), json.load(open("info.json"))
assert small["memory"]["budget"] == 262144
assert small["samples"]["taken"] == info["samples"]["taken"]
assert small["samples"]["stored"] < info["samples"]["stored"]
kind, = small["calls"]["kinds"]
assert kind["stored"] == 0 and kind["from_ns"] == kind["to_ns"], kind
P
# Threads of a rank that call by turns tell as much of its clock.
mkdir turns
"$build/unit/make_job" turns 4 400 threads >turns.json
"$ADAPTRACE" merge turns -o turns.atr 2>said
"$ADAPTRACE" info --json turns.atr >info.turns
python3 - <<'P'
import json
truth, info = json.load(open("turns.json")), json.load(open("info.turns"))
processes = {p["rank"]: p for p in info["processes"]}
for rank in truth["ranks"]:
    process = processes[rank["rank"]]
    off = abs(process["offset_ns"] + rank["offset"])
    assert off <= process["offset_error_ns"] < 10000, (rank, process)
P
# Samples alone: ranks are known by the names of their files, clocks by the hosts' real time.
mkdir samples
"$build/unit/make_job" samples 4 200 nompi >/dev/null
"$ADAPTRACE" merge samples/*.atr -o samples.atr 2>said
grep -q 'real time' said
"$ADAPTRACE" report --per-rank --json samples.atr |
	python3 -c 'import json,sys; d = json.load(sys.stdin); assert len(d["ranks"]) == 4, d'
"$ADAPTRACE" report --per-rank samples/job.1.atr 2>said && fail "there are no ranks in one trace"
grep -q 'adaptrace merge' said
# Names that only end in a number say nothing of a rank; a launcher does, with --mpi as well.
mkdir plain
for i in 1 2 3; do cp samples/job.$i.atr plain/g$i.atr; done
mv plain/g3.atr plain/3.atr
"$ADAPTRACE" merge plain -o plain.atr 2>said
grep -q 'merged 3 traces, 1 rank on' said
"$ADAPTRACE" report --per-rank --json plain.atr |
	python3 -c 'import json,sys; (r,) = json.load(sys.stdin)["ranks"]; assert r["rank"] == 3, r'
if python3 "$here/may_sample.py"; then
	for options in "" --mpi; do
		OMPI_COMM_WORLD_RANK=7 "$ADAPTRACE" record -q $options -o known.%r.atr true 2>/dev/null
		"$ADAPTRACE" info --json known.7.atr |
			python3 -c 'import json,sys; (p,) = json.load(sys.stdin)["processes"]; assert p["rank"] == 7, p'
	done
fi
# What makes no sense.
refused() { "$ADAPTRACE" merge -o no.atr "$@" 2>said && fail "merged $*"; cat said; [ ! -e no.atr ]; }
refused job job | grep -q 'both .* have rank 0'
cp samples/job.1.atr plain.atr
refused plain.atr ./plain.atr | grep -q 'plain.atr.* are the same recording'
cp samples/job.1.atr samples/job.9.atr
refused samples | grep -q 'job.1.atr.*job.9.atr. are the same recording'
rm samples/job.9.atr
refused nowhere.atr | grep -q nowhere.atr
mkdir empty
refused empty | grep -q 'no trace to merge'
head -c 5000 job/job.1.atr >broken.atr
refused job/job.0.atr broken.atr | grep -q broken.atr
status=0
"$ADAPTRACE" merge 2>/dev/null || status=$?
[ $status = 2 ]
# A merged trace can be merged again: what was added to times, and its error, adds up.
"$ADAPTRACE" merge job/job.[0-3].atr -o low.atr 2>/dev/null
"$ADAPTRACE" merge job/job.[4-7].atr -o high.atr 2>/dev/null
"$ADAPTRACE" merge low.atr high.atr -o twice.atr 2>said
grep -q 'merged 2 traces, 8 ranks on 4 hosts' said
"$ADAPTRACE" info --json twice.atr >twice.json
python3 - <<'P'
import json
truth = {rank["rank"]: rank for rank in json.load(open("truth.json"))["ranks"]}
processes = json.load(open("twice.json"))["processes"]
assert len(processes) == 8
for process in processes:
    wrong = abs(process["offset_ns"] + truth[process["rank"]]["offset"])
    assert wrong <= process["offset_error_ns"] < 1000000, process
P
# A merged trace in the same folder is not one of its own parts.
"$ADAPTRACE" merge job -o job/all.atr 2>/dev/null
"$ADAPTRACE" merge job -o job/all.atr 2>/dev/null
"$ADAPTRACE" info --json job/all.atr | cmp - info.json
# An input becomes the output only where -o says that very name.
mkdir own && cp job/job.0.atr own/adaptrace.atr && cp job/job.1.atr own/b.atr && cd own || fail cd
sum=$(cksum <adaptrace.atr)
for way in adaptrace.atr 'adaptrace.atr b.atr' . '-o ./adaptrace.atr adaptrace.atr b.atr'; do
	"$ADAPTRACE" merge $way 2>said && fail "merge $way went on"
	grep -q 'is one of the traces to merge.*-o' said || fail "merge $way: $(cat said)"
	[ "$(cksum <adaptrace.atr)" = "$sum" ] && [ ! -e adaptrace.atr.old ] || fail "merge $way replaced its input"
done
ln adaptrace.atr twin.atr
"$ADAPTRACE" merge -o twin.atr adaptrace.atr b.atr 2>said && fail "merged over another name of an input"
rm twin.atr
"$ADAPTRACE" merge -o adaptrace.atr adaptrace.atr b.atr 2>said || fail "$(cat said)"
[ "$(cksum <adaptrace.atr.old)" = "$sum" ] || fail "the input was not kept"
"$ADAPTRACE" merge -o adaptrace.atr adaptrace.atr.old b.atr 2>said && fail "merged over an input by .old"
[ "$(cksum <adaptrace.atr.old)" = "$sum" ] || fail "an old input was replaced"
cd ..
pass
