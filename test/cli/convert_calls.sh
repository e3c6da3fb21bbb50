#!/bin/sh
# Calls in OTF2, in the Trace Event Format and in reports, of a job that is there as a whole, and of one rank.
. "$(dirname "$0")/convert_traces"
(cd "$here/../.." && make -s BUILD="${build#"$PWD"/}" "${build#"$PWD"/}/unit/make_job")
mkdir job
"$build/unit/make_job" job 4 300 >truth.json
"$ADAPTRACE" merge job -o all.atr 2>/dev/null
"$ADAPTRACE" dump --json all.atr >dump.json
"$ADAPTRACE" report --mpi --json all.atr >report.json
python3 "$here/convert_calls.py" callers dump.json report.json
"$ADAPTRACE" report --mpi all.atr | grep -q 'a sample was taken in [0-9]* of [0-9]* calls, with'
"$ADAPTRACE" convert --chrome all.atr
python3 "$here/convert_calls.py" chrome all.trace.json
"$ADAPTRACE" convert --firefox all.atr
python3 "$here/convert_calls.py" firefox all.firefox.json.gz
"$ADAPTRACE" convert --speedscope all.atr
python3 "$here/convert_calls.py" speedscope all.speedscope.json
schema=$(npm root -g 2>/dev/null || echo none)/speedscope/dist/release/file-format-schema.json
if [ -e "$schema" ] && python3 -c 'import jsonschema' 2>/dev/null; then
	python3 -c 'import json, sys, jsonschema
jsonschema.validate(*(json.load(open(f)) for f in sys.argv[1:]))' all.speedscope.json "$schema"
fi
export HOME="$work"
if command -v profiler-cli >/dev/null && load_profile all.firefox.json.gz; then
	profiler-cli thread markers --thread t-0 >markers
	profiler-cli stop --all >/dev/null 2>&1 || true
	grep -q 'MPI_Waitall  *300 markers  (interval' markers || fail "no calls: $(cat markers)"
fi
"$ADAPTRACE" convert --otf2-events=enter-leave --chrome -o no all.atr 2>/dev/null && fail "chrome"
"$ADAPTRACE" convert --otf2 --otf2-events=both -o no all.atr 2>/dev/null && fail "both"
need_otf2
"$ADAPTRACE" convert --otf2 all.atr -o all 2>&1 | grep 'built without' && skip "built without"
"$ADAPTRACE" convert --otf2 --otf2-events=enter-leave all.atr -o states
"$ADAPTRACE" convert --otf2 job/job.3.atr -o one
for archive in all states one; do
	timeout 20 otf2-print -Werror --silent $archive/traces.otf2 >log 2>&1 ||
		fail "otf2-print $(cat log)"
	timeout 20 otf2-print $archive/traces.otf2 >log 2>&1
	grep INVALID log && fail "references to nothing"
	python3 "$here/convert_calls.py" $archive $archive/traces.otf2
done
# ViTE draws an arrow for each message, between the ranks that it went between.
if command -v vite >/dev/null; then
	QT_QPA_PLATFORM=offscreen timeout 60 vite -e picture.svg states/traces.otf2 >said 2>&1 ||
		fail "vite: $(cat said)"
	arrows=$(grep -o '<polygon' picture.svg | wc -l)
	[ "$arrows" = 2400 ] || fail "$arrows arrows of 2400"
fi
otf2-marker all/traces.otf2 | grep -q 'half way'
mkdir samples
"$build/unit/make_job" samples 1 100 nompi >/dev/null
"$ADAPTRACE" convert --otf2 --otf2-events=enter-leave -o no samples/job.0.atr 2>said &&
	fail "nothing is entered"
grep -q 'no calls' said
pass
