#!/bin/sh
# What a report says, every format says: of made-up traces, and of a recording with source lines
# and several events.
. "$(dirname "$0")/convert_traces"
may_have() { "$ADAPTRACE" convert "--$1" -o may-have plain.atr 2>&1 | grep -q 'built without' && return 1
	rm -rf may-have; }

# As report has it: FORMAT SUFFIX TRACE [PART...]
compare() {
	format=$1 suffix=$2 trace=$3
	shift 3
	case $format in
	otf2) may_have otf2 && python3 -c 'import otf2' 2>/dev/null || return 0 ;;
	pprof) command -v protoc >/dev/null || return 0 ;;
	callgrind) command -v callgrind_annotate >/dev/null || return 0 ;;
	esac
	"$ADAPTRACE" convert --force "--$format" "$@" "$trace.atr"
	python3 "$here/convert_check.py" "$format" "$trace$suffix" "$trace.report"
}

report_sums() { # TRACE [PART...]
	trace=$1
	shift
	"$ADAPTRACE" report --json --sort comm,module,symbol -e cpu-clock "$@" "$trace.atr" >"$trace.report"
}

sums='folded:.folded flamegraph:.svg pprof:.pb.gz perf-script:.perf.txt callgrind:.callgrind.out'
all() {
	report_sums "$1"
	for one in $sums otf2:-otf2 speedscope:.speedscope.json firefox:.firefox.json.gz chrome:.trace.json; do
		compare "${one%%:*}" "${one#*:}" "$1"
	done
}

# Of a part: TRACE PART...
part() {
	report_sums "$@"
	for one in $sums; do
		compare "${one%%:*}" "${one#*:}" "$@"
	done
}

all reduced
part reduced --time 25%,50%
part reduced --time 25%, --only cpu=0
grep -q '<text id="head".* (cpu=0, from .* to .* of the run)<' reduced.svg || fail "which part is not said"
grep -q '^cmd: .* (cpu=0, from .* to .* of the run)$' reduced.callgrind.out || fail "which part is not said"
need_sampling
for way in '' --inherit; do
	recorded $way -m 64K -e cpu-clock -e page-faults -o recorded.atr "$TARGETS/threads" 2 0.3 >/dev/null
	part recorded --only comm=threads --time 100ms,
	all recorded
done
places() { # TRACE
	"$ADAPTRACE" dump --json $1.atr >$1.dump
	for format in firefox:.firefox.json.gz pprof:.pb.gz perf-script:.perf.txt callgrind:.callgrind.out; do
		[ -e "$1${format#*:}" ] || continue
		python3 "$here/convert_check.py" places "${format%%:*}" "$1${format#*:}" $1.dump
	done
}
places recorded
"$ADAPTRACE" convert --perf-script -o - recorded.atr | grep -q ' (inlined)$' ||
	echo "nothing was inlined in this recording"
# A function that includes a part of itself has lines in two files.
cat >included.c <<'EOF'
int main(void)
{
	for (volatile int i = 0; i < 50000000; i++)
		;
#line 3 "included.h"
	for (volatile int i = 0; i < 50000000; i++)
		;
}
EOF
cc -g -o included included.c
recorded -e cpu-clock:u -g none -o included.atr ./included
all included
places included
# Of a storm of short processes much is [unsampled], beside what was sampled.
recorded --inherit -F 100 -e cpu-clock -e page-faults -o storm.atr \
	sh -c 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done; "$0" 0.2' "$TARGETS/burn" >/dev/null
all storm
"$ADAPTRACE" convert --chrome --force storm.atr 2>&1 | grep -q '; report, --folded and --flamegraph show the rest as \[\(kernel or \)\{0,1\}unsampled\], --chrome has no' ||
	fail "nothing was said of what --chrome cannot show"
# What a clock with :u leaves out is more than that, and is called so by all.
recorded --inherit -e cpu-clock:u -o user.atr sh -c 'i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done'
for command in 'convert --chrome' report 'report --tree' info; do
	"$ADAPTRACE" $command user.atr 2>&1 | grep -q ' \[kernel or unsampled\]' || fail "$command: not told"
	"$ADAPTRACE" $command user.atr 2>&1 | grep -q ' \[unsampled\]' && fail "$command: told otherwise"
	rm -f user.trace.json
done
# Its own lines are in what can hold them.
"$ADAPTRACE" convert --perf-script -o - recorded.atr | grep -q 'work+0x.*/threads)' || fail "no work()"
"$ADAPTRACE" convert --callgrind -o - recorded.atr | grep -q 'threads\.c$' || fail "no source file"
pass
