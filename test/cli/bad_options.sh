#!/bin/sh
# Wrong wishes get one clear line that names what is wrong, exit status 125, and no trace.
. "$(dirname "$0")/scenario"
need_sampling

expect() { # WORDS-OF-THE-MESSAGE ARGUMENTS...
	words=$1; shift
	"$ADAPTRACE" record -q "$@" >out 2>said
	status=$?
	[ "$status" = 125 ] || fail "record $* ended with $status: $(cat said)"
	one_complaint said "$words" || fail "record $* said: $(cat said)"
	[ ! -s out ] || fail "record $* wrote to standard output: $(cat out)"
	[ ! -e adaptrace.atr ] || fail "record $* left a trace"
}

expect "'0'.*64K" -m 0 true
expect "'5X'" -m 5X true
expect "'-1'" -m -1 true
expect "'999999G'" -m 999999G true
expect "'60K'.*64K" -m 60K true
expect "'cycels'.*cycles" -e cycels true
expect "no-such:event" -e no-such:event true
expect "'0'" -F 0 true
expect "'fast'" -F fast true
expect "'0'" -c 0 true
expect "'page-faults[:u]*' twice.*once" -e page-faults -e cpu-clock -e page-faults true
expect "'page-faults' twice.*once" -e page-faults,page-faults true
expect "'nosuch'" -e cpu-clock,nosuch true
expect "needs a name" -e cpu-clock,,page-faults true
expect "f(int,int)': no such function" -e 'uprobe:/bin/true:f(int,int)' true
expect "'{cycles,instructions}:S' is a group; -e EVENT --counters" -e '{cycles,instructions}:S' true
expect "no PMU 'none'.*what there is$" -e none/event=1,umask=2/ true
expect "impossible period" -e page-faults:period=9223372036854775807 true
expect "impossible frequency" -e cpu-clock:freq=100001 true
expect "freq= is for clocks" -e page-faults:freq=100 true
expect "'lbrs'.*dwarf" -glbrs true
expect "'lbrs'.*dwarf" --call-graph=lbrs true
expect "'101'" --max-overhead 101 true
expect "'0.04'.*0.1 at least" --max-overhead 0.04 true
expect "'0'" -p 0
expect "'1x'" -p 1x
expect "'2x'; -p takes PIDs" -p 1,2x
expect "''; -p takes PIDs" -p 1,,2
expect "-F and -c exclude" -F 1000 -c 7 true
expect "no freq= or period= of their own" -F 100 -e cpu-clock:freq=7 -e page-faults true
expect "no freq= or period= of their own" -c 100 -e cpu-clock:freq=7 true
expect "--unwinder is for -g dwarf" -g fp --unwinder=libunwind true
expect "--max-stack is for stacks" --max-stack 9 -g none true
expect "nothing to record"
expect "process" -p 4194303
expect "no process 4194303" -p $$,4194303
# One event under two names is told apart by them.
"$ADAPTRACE" record -q -o two.atr -e page-faults -e faults true 2>said || fail "two names: $(cat said)"
# A counter that this machine has not.
if ! "$ADAPTRACE" record -q -o probe.atr -e cycles:u true 2>/dev/null; then
	expect "'cycles:u'" -e cycles:u true
fi
# Without the library for MPI beside it, or where it could not be preloaded from.
mkdir apart 'a blank' && cp "$ADAPTRACE" apart && cp "$ADAPTRACE" 'a blank' &&
	touch 'a blank/libadaptrace-mpi.so' || fail copies
ADAPTRACE=apart/adaptrace
expect "libadaptrace-mpi.so.*install it" -e page-faults --mpi true
ADAPTRACE='a blank/adaptrace'
expect "blank.*elsewhere" -e page-faults --mpi true
pass
