#!/bin/sh
# A recorder that is killed at any moment leaves what recover can use, or says that it cannot; and
# the next recording of that name is not disturbed.
. "$(dirname "$0")/scenario"
need_sampling

for delay in 0 0.02 0.05 0.1 0.15 0.2 0.4; do
	"$ADAPTRACE" record -q -m 256K -o x.atr "$TARGETS/burn" 0.2 >said &
	recorder=$!
	sleep $delay
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	"$ADAPTRACE" recover x.atr >out 2>errors
	status=$?
	echo "after $delay s: $status $(cat errors)"
	[ $status = 0 ] || [ $status = 1 ] || fail "recover ended with $status"
	one_complaint errors x.atr || fail "$(cat errors)"
	if [ $status = 0 ]; then
		"$ADAPTRACE" info --json x.atr >info || fail "info"
		"$ADAPTRACE" dump x.atr >dump || fail "dump"
	fi
	rm -f x.atr x.atr.old
done
recorded -m 256K -o x.atr "$TARGETS/burn" 0.1
"$ADAPTRACE" info x.atr >info || fail "the next recording"
pass
