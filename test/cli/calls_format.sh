#!/bin/sh
# A reader of calls that was written from the page about the format reads what adaptrace reads.
. "$(dirname "$0")/scenario"
set -e
build=$(dirname "$ADAPTRACE")
(cd "$here/../.." && make -s BUILD="${build#"$PWD"/}" "${build#"$PWD"/}/unit/make_job")
mkdir job
"$build/unit/make_job" job 3 2000 >truth.json
"$ADAPTRACE" merge job -o all.atr 2>/dev/null
for trace in job/job.1.atr all.atr; do
	"$ADAPTRACE" dump --json $trace >dump || fail dump
	python3 "$here/read_calls.py" $trace <dump
done
pass
