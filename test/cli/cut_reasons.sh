#!/bin/sh
# Why stacks do not reach their root is counted by reason, and each reason has its advice: the same
# at the end of a recording, in info and in report.
. "$(dirname "$0")/scenario"
need_sampling

cat > nofp.c <<'C'
volatile unsigned long sink;
__attribute__((noinline)) void leaf(unsigned long n) { while (n--) sink += n; }
__attribute__((noinline)) unsigned long middle(unsigned long a, unsigned long b, unsigned long c)
{
	unsigned long d = a * b, e = b * c, f = c * a, g = a ^ c, h = a + b;

	for (int i = 0; i < 200; i++) { leaf(1000); d += e * f; e ^= g + h; f += d; g -= h; h += i; }
	return d + e + f + g + h;
}
__attribute__((noinline)) unsigned long down(int n) { return n ? down(n - 1) + 1 : middle(1, 2, 3); }
int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 500; i++) sink += down(argc > 1 ? 200 : 0);
	return 0;
}
C
cc -O1 -fno-optimize-sibling-calls -fomit-frame-pointer nofp.c -o bare || exit 77
cc -O1 -fno-optimize-sibling-calls -fno-omit-frame-pointer nofp.c -o framed || exit 77

most() { # REASON COMMAND...: nearly all stacks are cut for it, or none is for REASON none
	reason=$1
	shift
	"$ADAPTRACE" record -e cpu-clock -F 2000 --max-overhead 0 -o x.atr "$@" 2>said || fail "$(cat said)"
	"$ADAPTRACE" info --json x.atr > info.json
	"$ADAPTRACE" info x.atr > info.txt
	"$ADAPTRACE" report --json x.atr > report.json
	python3 - "$reason" <<'P' || fail "$reason: $*"
import json, sys
samples = json.load(open('info.json'))['samples']
cuts = samples['cut_stacks']
assert sum(cuts.values()) == samples['truncated_stacks'], samples
most = samples['taken']
if sys.argv[1] == 'none':
    assert sum(cuts.values()) < most / 3, cuts
    sys.exit()
assert cuts[sys.argv[1]] > most * 0.7, cuts
line = [w for w in json.load(open('report.json'))['warnings'] if 'reach their root' in w][-1]
assert line in open('said').read() and line in open('info.txt').read(), line
P
}

limit=$(cat /proc/sys/kernel/perf_event_max_stack)
most none ./framed
most none -g fp ./framed
most frame_pointers -g fp ./bare
most none ./bare
most max_stack --max-stack 50 ./framed deep
most max_stack -g fp --max-stack 50 ./framed deep
[ "$limit" -lt 200 ] && most kernel_max_stack -g fp ./framed deep
exit 0
