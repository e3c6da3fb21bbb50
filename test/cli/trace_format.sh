#!/bin/sh
# A reader that was written from the page about the format reads what adaptrace reads.
. "$(dirname "$0")/scenario"
set -e
build=$(dirname "$ADAPTRACE")
(cd "$here/../.." && make -s BUILD="${build#"$PWD"/}" "${build#"$PWD"/}/unit/make_trace")
# A bin with more pairs than have a number: who knows fewer cannot read it.
"$build/unit/make_trace" pairs pairs.atr
"$ADAPTRACE" dump --json pairs.atr >dump
python3 "$here/read_trace.py" pairs.atr <dump
sed 's/4096/4095/' "$here/read_trace.py" >fewer.py
python3 fewer.py pairs.atr <dump >said 2>&1 && fail "no bin has 4096 pairs"
need_sampling
program='
import json
def down(n): return sum(range(50)) if n == 0 else down(n - 1)
for i in range(3000): down(i % 40); json.loads(json.dumps(list(range(i % 100))))
'
user='-e cpu-clock:u --counters page-faults:u,task-clock:u'
for options in "-m 64K" "-m 1M" "-m 64K $user" "-m 1M --inherit $user,minor-faults:u"; do
	recorded $options -o x.atr python3 -c "$program"
	"$ADAPTRACE" dump --json x.atr >dump
	python3 "$here/read_trace.py" x.atr <dump
done
# Commands that end at once, on CPUs that are idle between: new threads, and streams that come late.
for options in "-m 1M" "-m 1M --inherit"; do
	recorded $options -o x.atr sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do
		for j in 1 2 3 4 5; do expr $i + $j | sed s/1/2/ >/dev/null; done; sleep 0.01; done'
	"$ADAPTRACE" dump --json x.atr >dump
	python3 "$here/read_trace.py" x.atr <dump
done
pass
