#!/bin/sh
# Time in eBPF programs has their names, whether they came or went during the recording, or both,
# and so it is in a trace that is made of the recorder's memory.
. "$(dirname "$0")/scenario"
need_sampling
need_root "load programs"
command -v gcc >/dev/null || skip "no gcc"

cat >bpf.c <<'END'
#include <linux/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define I(c, d, s, o, i) ((struct bpf_insn){.code = c, .dst_reg = d, .src_reg = s, .off = o, .imm = i})
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
int main(int argc, char **argv)
{
	struct bpf_insn p[] = {I(0xb7, 1, 0, 0, 3000), I(0xb7, 0, 0, 0, atoi(argv[3])),
	                       I(0x0f, 0, 1, 0, 0), I(0x17, 1, 0, 0, 1), I(0x55, 1, 0, -3, 0),
	                       I(0xb7, 0, 0, 0, -1), I(0x95, 0, 0, 0, 0)};
	double end = now() + atof(argv[2]);
	union bpf_attr a;
	int f, s[2];
	char b[10] = "x";

	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	a.insns = (uintptr_t)p;
	a.insn_cnt = 7;
	a.license = (uintptr_t) "GPL";
	strncpy(a.prog_name, argv[1], sizeof(a.prog_name) - 1);
	f = syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
	if (f < 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, s) ||
	    setsockopt(s[0], SOL_SOCKET, 50, &f, sizeof(f)))
		return 77;
	while (now() < end) {
		send(s[1], b, 1, MSG_DONTWAIT);
		recv(s[0], b, 10, MSG_DONTWAIT);
	}
	return 0;
}
END
gcc -O1 -o bpf bpf.c || skip "cannot build"
./bpf try 0 0 || skip "no eBPF here"
grep -q bpf_prog_ /proc/kallsyms || ./bpf try 0.5 0 & sleep 0.2
grep -q bpf_prog_ /proc/kallsyms || skip "the kernel does not name eBPF programs"
wait

names() {
	check "$@" <<'END'
import sys
import recording

seen = {name: set() for name in sys.argv[1:]}
for sample in recording.samples():
    for frame in sample["stack"]:
        symbol = frame["symbol"] or ""
        assert "_einittext" not in symbol and "_etext" not in symbol, symbol
        for name in seen:
            if symbol.startswith("bpf_prog_") and symbol.endswith(f"_{name} [bpf]"):
                seen[name].add(symbol)
assert all(seen.values()), seen
# Two programs of one name have their tags.
assert "same" not in seen or len(seen["same"]) == 2, seen
END
}

for way in '' --inherit; do
	echo "-- come and go $way"
	recorded $way -F 1000 sh -c './bpf one 0.2 0; ./bpf two 0.2 0; ./bpf same 0.2 1; ./bpf same 0.2 2'
	names one two same
done

echo "-- before"
./bpf before 1.5 0 &
sleep 0.2
recorded -a -F 1000 -- sleep 2
wait
names before

echo "-- recover"
lose_recorder -o killed.atr -F 1000 sh -c './bpf gone 0.3 0; exec sleep 30'
"$ADAPTRACE" recover -o adaptrace.atr killed.atr || fail "recover ended with $?"
names gone
pass
