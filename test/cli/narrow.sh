#!/bin/sh
# Of a 32-bit program the sampled functions are known, and not their callers: no stack is told as
# complete, and that is said. Frame pointers lead on.
. "$(dirname "$0")/scenario"
need_sampling

# Calls work_32() from main_32() for some 0.2 s.
cat >narrow.s <<'END'
	.globl _start
	.type _start, @function
_start:	xorl %ebp, %ebp
	call main_32
	movl $1, %eax
	xorl %ebx, %ebx
	int $0x80
	.size _start, . - _start
	.type main_32, @function
main_32:
	pushl %ebp
	movl %esp, %ebp
	movl $200, %esi
1:	call work_32
	decl %esi
	jnz 1b
	popl %ebp
	ret
	.size main_32, . - main_32
	.type work_32, @function
work_32:
	pushl %ebp
	movl %esp, %ebp
	movl $3000000, %ecx
1:	decl %ecx
	jnz 1b
	popl %ebp
	ret
	.size work_32, . - work_32
END
cc -m32 -nostdlib -static -o narrow narrow.s 2>/dev/null && ./narrow 2>/dev/null ||
	skip "32-bit programs cannot be made or run here"

recorded ./narrow 2>said
complaints said >heard
[ "$(wc -l <heard)" = 1 ] &&
	grep -q '^adaptrace: [0-9.]* % of the stacks do not reach their root: they are of 32-bit' heard ||
	fail "$(cat said)"
check <<'END'
import recording
samples = [s for s in recording.samples() if s["stack"][0]["symbol"] == "work_32"]
assert len(samples) > 20, len(samples)
for sample in samples:
    assert [f["symbol"] for f in sample["stack"]] == ["work_32", "[truncated]"], sample
    assert not sample["complete"], sample
assert recording.info()["samples"]["truncated_stacks"] >= len(samples)
END

recorded -g fp ./narrow 2>said
complaints said | grep . && fail "32-bit programs have frame pointers, too"
check <<'END'
import recording
samples = [s for s in recording.samples() if s["stack"][0]["symbol"] == "work_32"]
found = [s for s in samples if [f["symbol"] for f in s["stack"]][1:3] == ["main_32", "_start"]]
assert len(found) > 20, (len(samples), len(found))
END
pass
