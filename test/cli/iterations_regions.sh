#!/bin/sh
# report --iterations of regions that a program without MPI marks; of time that is chosen; and of a
# trace from which the policy dropped calls.
. "$(dirname "$0")/scenario"
need_sampling

cat >steps.c <<'E'
#include <adaptrace.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	for (int step = 0; step < atoi(argv[1]); step++) {
		ADAPTRACE_SCOPE("step");
		for (int i = 12 + rand() % 5; i; i--) {
			ADAPTRACE_SCOPE("solve");
			ADAPTRACE_MARK("residual");
		}
		if (step % 10 == 9) {
			ADAPTRACE_SCOPE("output");
		}
	}
	return argc > 2;
}
E
${CC:-cc} -O1 -I"$here/../../include" -o steps steps.c || fail "steps.c"
recorded --mpi -F 100 -g none -m 8M ./steps 500
"$ADAPTRACE" report --iterations --json adaptrace.atr >report || fail report
check <<'E'
import json
report = json.load(open('report'))
calls = report['calls']
assert calls['seen'] == calls['stored'] == calls['used'] and calls['complete_from_ns'] is None
assert all(p['rank'] is None for p in report['phases']), report
assert any(496 <= p['iterations'] <= 504 for p in report['phases']), report
E
"$ADAPTRACE" report --iterations --time 0,0.0001% adaptrace.atr >later || fail later
grep -q '^[0-9]* calls*, and no loop found' later || fail "$(cat later)"

# The shortest calls are missing everywhere; or all that are in others.
for policy in duration depth; do
	recorded --mpi -F 100 -g none -m 256K --events-policy $policy ./steps 10000 2>said
	"$ADAPTRACE" report --iterations --json adaptrace.atr >report || fail report
	"$ADAPTRACE" report --iterations adaptrace.atr >text || fail text
	grep -q 'calls seen are stored; ' text || fail "$policy: $(cat text)"
	check $policy <<'E'
import json, sys
report = json.load(open('report'))
calls = report['calls']
assert calls['used'] <= calls['stored'] < calls['seen'], calls
assert calls['used'] == (calls['stored'] if sys.argv[1] == 'depth' else 0), calls
assert bool(report['phases']) == (sys.argv[1] == 'depth'), report
E
done

recorded -F 1000 "$TARGETS/burn" 0.1
"$ADAPTRACE" report --iterations adaptrace.atr >out 2>said && fail "a report without calls"
grep -q 'contains no calls' said || fail "$(cat said)"
pass
