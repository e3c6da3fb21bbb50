#!/bin/sh
# What people type who come from other profilers works, or is answered by a line with the way here.
. "$(dirname "$0")/scenario"

told() { # STATUS WORDS-OF-THE-WAY ARGUMENTS...
	expected=$1 words=$2; shift 2
	"$ADAPTRACE" "$@" >out 2>err
	status=$?
	[ "$status" = "$expected" ] || fail "adaptrace $* ended with $status: $(cat err)"
	one_complaint err ".*$words" || fail "adaptrace $* says: $(cat err)"
	[ ! -s out ] || fail "adaptrace $* wrote to standard output: $(cat out)"
}
told 2 'info.*--counters' stat
told 2 'convert --perf-script' script
told 2 'report --annotate' annotate
told 2 "record ./app" ./app
told 2 'one comes first' -e cycles ./app
told 2 "help' lists them" nothing-known
told 2 "did you mean 'record'?" recrod
told 2 "did you mean 'report'?" help reprot
told 125 '(--tid).*--only thread=TID' record -t 17
told 125 '(--tid).*--only thread=TID' record --tid=17
told 125 '(--uid).*--cgroup' record -u root true
told 125 'snapshot' record --switch-output true
told 125 '--delay SECONDS' record -D 1000 true
told 125 '-e context-switches' record --off-cpu true
told 125 '--per-thread' record -s true
told 125 "period=N" record -e REALTIME@5000 true
told 125 "did you mean '--memory'?" record -F 99 --memroy=1M true
told 125 "no option -N here; 'adaptrace help record'" record -F 99 -qN true
told 125 'CLOCK_MONOTONIC' record -k mono true
told 125 'EVENT:u' record --all-user true
told 2 "did you mean '--per-thread'?" report x.atr --per_thred
told 2 "did you mean '--flamegraph'?" convert --flame-graph
told 2 "no option --nothing-known here; 'adaptrace help info'" info --nothing-known=x
told 1 "'none.atr'" report -i none.atr --stdio --no-children -nf --demangle --inline
told 1 "'none.atr'" report --input=none.atr
told 1 "'none.atr'" info -inone.atr
told 1 "'none.atr'" dump --input none.atr
told 1 "'none.atr'" convert --folded -i none.atr
told 2 "needs a value" report -i
told 2 'one trace at a time.*adaptrace merge' report -i none.atr other.atr
told 1 "'none.atr'" report --percent-limit 1 none.atr
told 2 '--tree' report -g caller
told 2 '--callers NAME' report -G
told 2 'comm=NAME' report --comms x
told 2 'cpu=N' report -C 0
told 2 'convert --flamegraph' dump --flame-graph
told 2 'no option --perfetto here; --chrome' convert --perfetto
told 2 '--callgrind' convert --kcachegrind
told 2 '--otf2' convert --vampir none.atr
told 2 'dump every sample' replay
told 2 'context-switches' lock contention
told 2 'raw_syscalls:sys_enter' trace ./app
told 2 'a sample is a line' dump --time 10,20
told 2 'a sample is a line' dump --comm app
told 125 'apart' record -a --exclude-perf
told 2 '--max-depth N' report --tree --depth 3
told 2 'no option -i here' diff -i x.atr
told 1 "'none.atr'" report -s comm,dso,sym none.atr
told 1 "'none.atr'" report --sort srcfile,srcline none.atr
told 1 "'none.atr'" report --sort pid,tid none.atr
# What is short for one option in the help is that one, whatever others call theirs.
told 1 "'none.atr'" report --sym none.atr
told 1 "'none.atr'" report --symb=/usr/lib/debug none.atr
told 2 '--symbols=DIR' report --symf none.atr
told 2 '--callers' report --symbol-f=x none.atr
"$ADAPTRACE" report --he >out 2>err && grep -q '^Usage:' out || fail "report --he: $(cat err)"
# What is told of is in no help, but in the manual; -h is help.
for command in $("$ADAPTRACE" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	"$ADAPTRACE" $command -h >out 2>err || fail "$command -h: $(cat err)"
	"$ADAPTRACE" $command --help | cmp -s - out || fail "$command -h is not its help: $(cat out)"
	grep -qw -e '--input' -e '--stdio' -e '--tid' out && fail "$command has others' options"
done
[ "$("$ADAPTRACE" version)" = "$("$ADAPTRACE" --version)" ] || fail "version"

need_sampling
stacks() { # ARGUMENTS...: how record finds callers with them
	"$ADAPTRACE" record -q -e page-faults:u "$@" 2>err || fail "record $*: $(cat err)"
	"$ADAPTRACE" info "${trace:-adaptrace.atr}" | sed -n 's,^  stacks  *by ,,p'
}
"$ADAPTRACE" record -q -e page-faults:u,minor-faults:u true && "$ADAPTRACE" info --json >out &&
	[ "$(grep -o '"name":"[a-z]*-faults:u"' out | wc -l)" = 2 ] || fail "-e A,B: $(cat out)"
plain=$(stacks true)
[ -n "$plain" ] || fail "no line on stacks"
[ "$(stacks -g true)" = "$plain" ] || fail "-g COMMAND"
[ "$(stacks -g -- true)" = "$plain" ] || fail "-g -- COMMAND"
[ "$(stacks -g -m 1M true)" = "$plain" ] || fail "-g OPTION"
[ "$(stacks --call-graph dwarf true)" = "$plain" ] || fail "--call-graph dwarf"
[ "$(stacks --call-graph=dwarf,8192 true)" = "$plain" ] || fail "--call-graph=dwarf,8192"
for way in '-g fp' -gfp '--call-graph fp' --call-graph=fp; do
	[ "$(stacks $way true)" = "$(stacks -g fp true)" ] && [ "$(stacks $way true)" != "$plain" ] ||
		fail "$way: $(stacks $way true)"
done
[ "$(trace=x.atr stacks -qg -o x.atr true)" = "$plain" ] && [ -e x.atr ] || fail "-qg -o"
"$ADAPTRACE" record -q -e page-faults:u -g dwrf true 2>err
[ $? = 127 ] && one_complaint err "'dwrf'.*-g takes dwarf" || fail "a mode that is none: $(cat err)"
"$ADAPTRACE" record -q -e page-faults:u -g fp dwrf 2>err
[ $? = 127 ] && one_complaint err "'dwrf'.*is it in PATH" || fail "no word behind -g: $(cat err)"
pass
