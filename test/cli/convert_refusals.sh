#!/bin/sh
# What convert refuses, and what it leaves when it is interrupted.
. "$(dirname "$0")/convert_traces"
set +e
convert() { "$ADAPTRACE" convert "$@" 2>said; }
expect() { # STATUS WORDS: of the command before
	status=$?
	[ $status = "$1" ] || fail "status $status, not $1: $(cat said)"
	grep -q -- "$2" said || fail "'$2' is not in: $(cat said)"
}

convert; expect 2 'name a format'
convert --folded --speedscope plain.atr; expect 2 'one at a time'
convert --folded plain.atr reduced.atr; expect 2 'one trace at a time'
convert --folded -e cpu-clock -e page-faults plain.atr; expect 2 'one event at a time'
convert --nothing plain.atr; expect 2 'nothing'
convert --pprof -e cpu-clock plain.atr; expect 2 'does not apply'
convert --chrome --time 1, plain.atr; expect 2 '--time and --only do not apply'
convert --folded --time nonsense plain.atr; expect 2 'is no part of the run'
convert --folded --only cpu=nonsense plain.atr; expect 2 'does not say whom to show'
convert --folded --only comm=nobody plain.atr; expect 1 'nothing in .plain.atr. is of comm=nobody'
convert --folded -o '' plain.atr; expect 2 'empty'
convert --folded nowhere.atr; expect 1 'record a trace first'
: >nowhere.0.atr
convert --folded nowhere.atr; expect 1 'one for each rank .*adaptrace merge'
convert --folded plain.json; expect 1 'not a trace'
convert --folded -o nowhere/x plain.atr; expect 1 'No such file'
convert --folded -o . plain.atr; expect 1 'is a folder'
convert --folded --force -o . plain.atr; expect 1 'is a folder'
# What the viewers of a format would refuse.
"$build/unit/make_trace" big none.atr 0
for format in firefox speedscope; do
	convert --$format -o none none.atr; expect 1 'needs a sample or a call'
	[ ! -e none ] || fail "a profile of nothing is left"
done
for format in chrome firefox flamegraph folded pprof; do
	convert --$format -o - plain.atr >&-; expect 1 'cannot write to standard output: Bad file descriptor'
done
cp plain.atr itself.atr
ln itself.atr twin.atr
convert --folded --force -o ./itself.atr itself.atr; expect 1 'is the trace itself'
convert --folded --force -o itself.atr twin.atr; expect 1 'is the trace itself'
convert --folded -o itself.atr itself.atr; expect 1 'is the trace itself'
cmp plain.atr itself.atr || fail "a trace was replaced by what was made of it"
# Named itself it is kept.
convert --folded --force -o itself.atr itself.atr && cmp plain.atr itself.atr.old || fail "said: $(cat said)"
"$ADAPTRACE" convert --help | grep -q -- --callgrind || fail "no help"

# No progress where nobody looks; the default trace; a device is written to as it is.
cp plain.atr adaptrace.atr
convert --folded && grep -qx 'adaptrace: → adaptrace.folded' said || fail "it says: $(cat said)"
convert --folded --force -q && [ ! -s said ] || fail "it says something: $(cat said)"
convert --folded --force -o adaptrace.folded && [ ! -s said ] || fail "it says something: $(cat said)"
cmp adaptrace.folded - <<END || fail "the default names"
$("$ADAPTRACE" convert --folded -o - plain.atr)
END
convert --folded -o /dev/null plain.atr && [ -c /dev/null ] || fail "/dev/null"

# Interrupted: nothing under the name, nothing beside it, and the signal is what ended it.
"$build/unit/make_trace" big big.atr 400000
for format in perf-script speedscope otf2; do
	"$ADAPTRACE" convert --$format -o big.out big.atr 2>said &
	converter=$!
	background="$background $converter"
	await sh -c 'ls -A | grep -q "^\.adaptrace" || ! kill -0 '$converter
	kill -INT $converter 2>/dev/null # ignored in the background, and so no reason to end
	kill -TERM $converter 2>/dev/null
	wait $converter
	status=$?
	ls -A | grep '^\.adaptrace' && fail "$format leaves something"
	case $status in
	143) [ ! -e big.out ] || fail "$format leaves half of it" ;;
	0) [ -e big.out ] || fail "nothing was written" ;; # it was quicker
	1) grep -q 'built without' said || fail "$format: $(cat said)" ;;
	*) fail "$format ended with $status: $(cat said)" ;;
	esac
	rm -rf big.out
done

# A file too large for viewers is told of while most of it is still to come.
"$build/unit/make_trace" big large.atr 1000000
"$ADAPTRACE" convert --perf-script large.atr 2>said &
converter=$!
background="$background $converter"
await sh -c '[ -s said ] || ! kill -0 '$converter
kill -TERM $converter
wait $converter
status=$?
[ $status = 143 ] || fail "a large file: $status"
grep -qx "adaptrace: 'large.perf.txt' will take about [12]\.[0-9] GiB; -o - writes to a program.*'adaptrace merge -m 4M -o thin.atr large.atr' makes" said ||
	fail "a large file: $(cat said)"
rm large.atr

# Who waits for the reader of a pipe can be interrupted.
mkfifo pipe
"$ADAPTRACE" convert --folded -q -o pipe big.atr 2>said &
converter=$!
sleep 0.3
kill -TERM $converter
(sleep 20 && kill -KILL $converter) 2>/dev/null &
background="$background $!"
wait $converter
status=$?
[ $status = 143 ] || fail "waiting for a reader ended with $status: $(cat said)"
pass
