/*
 * Rules that the code itself tells: at every instruction of real libraries against what their call
 * frame information says, and at each of kernels as those of numerical libraries and codecs.
 */
#if defined(__x86_64__)

#include "cases.h"
#include "maps.h"
#include "symbolize/unwind/arch.h"
#include "symbolize/unwind/cfi.h"
#include "symbolize/elf/disassembler.h"
#include "symbolize/unwind/epilogue.h"
#include "symbolize/unwind/insn.h"

#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bytes {
	const uint8_t *code;
	size_t size;
};

static unsigned nr_reads;

#define START 0x1000

static size_t read_bytes(void *arg, uint64_t addr, void *to, size_t size)
{
	const struct bytes *bytes = arg;
	uint64_t at = addr - START;

	nr_reads++;
	if (at >= bytes->size)
		return 0;
	size = size < bytes->size - at ? size : bytes->size - at;
	memcpy(to, bytes->code + at, size);
	return size;
}

static bool ask(const struct bytes *bytes, size_t at, struct unwind_rule *rule, size_t *end)
{
	uint64_t addr = 0;
	bool found = epilogue_rule(read_bytes, (void *)bytes, START + at, rule, &addr);

	*end = addr - START;
	return found;
}

#define CODE(...)                                                                \
	{                                                                        \
		(const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}) \
	}

#define LOST INT32_MAX
#define SAME INT32_MIN

struct expected {
	size_t at, end;
	uint8_t cfa_base, cfa_how;
	int32_t cfa_offset, cfa_adjust;
	int32_t rbp, rbx; /* from the CFA, or SAME */
};

static int32_t place(const struct rule_value *value)
{
	if (value->how == RULE_AT) {
		assert_int_equal(value->base, RULE_CFA);
		return value->offset;
	}
	return value->how == RULE_SAME ? SAME : LOST;
}

static void check(const struct bytes *bytes, const struct expected *expected, size_t nr)
{
	struct unwind_rule rule;
	size_t i, end;

	for (i = 0; i < nr; i++) {
		const struct expected *e = &expected[i];

		assert_true(ask(bytes, e->at, &rule, &end));
		assert_int_equal(rule.type, RULE_FOLLOW);
		assert_int_equal(rule.cfa_base, e->cfa_base);
		assert_int_equal(rule.cfa_how, e->cfa_how);
		assert_int_equal(rule.cfa_offset, e->cfa_offset);
		assert_int_equal(rule.cfa_adjust, e->cfa_adjust);
		assert_int_equal(place(&rule.fp), e->rbp);
		assert_int_equal(place(&rule.extra), e->rbx);
		assert_int_equal(end, e->end);
	}
}
#define CHECK(bytes, expected) check(&(bytes), expected, sizeof(expected) / sizeof((expected)[0]))

/* As OpenBLAS has it: the stack pointer is kept in rbx while the stack is a buffer. */
static void stack_pointer_kept_in_a_register(void **state)
{
	const struct bytes kernel =
		CODE(0x48, 0x83, 0xec, 0x60,                   /*  0 sub $0x60, %rsp */
	             0x48, 0x89, 0x1c, 0x24,                   /*  4 mov %rbx, (%rsp) */
	             0x48, 0x89, 0x6c, 0x24, 0x08,             /*  8 mov %rbp, 8(%rsp) */
	             0x48, 0x89, 0xe3,                         /* 13 mov %rsp, %rbx */
	             0x48, 0x81, 0xec, 0x80, 0x70, 0x00, 0x00, /* 16 sub $0x7080, %rsp */
	             0x48, 0x81, 0xe4, 0x00, 0xf0, 0xff, 0xff, /* 23 and $-4096, %rsp */
	             0xc5, 0xfc, 0x10, 0x0f,                   /* 30 vmovups (%rdi), %ymm1 */
	             0x48, 0x83, 0xc5, 0x08,                   /* 34 add $8, %rbp */
	             0x75, 0xf6,                               /* 38 jne 30 */
	             0x48, 0x89, 0xdc,                         /* 40 mov %rbx, %rsp */
	             0x48, 0x8b, 0x1c, 0x24,                   /* 43 mov (%rsp), %rbx */
	             0x48, 0x8b, 0x6c, 0x24, 0x08,             /* 47 mov 8(%rsp), %rbp */
	             0x48, 0x83, 0xc4, 0x60,                   /* 52 add $0x60, %rsp */
	             0xc3);                                    /* 56 ret */
	static const struct expected expected[] = {
		{0, 1, RULE_SP, RULE_CFA_PLAIN, 8, 0, SAME, SAME},
		{4, 5, RULE_SP, RULE_CFA_PLAIN, 0x68, 0, SAME, SAME},
		{8, 9, RULE_SP, RULE_CFA_PLAIN, 0x68, 0, SAME, -0x68},
		{13, 17, RULE_SP, RULE_CFA_PLAIN, 0x68, 0, -0x60, -0x68},
		{16, 17, RULE_EXTRA, RULE_CFA_PLAIN, 0x68, 0, -0x60, -0x68},
		{30, 41, RULE_EXTRA, RULE_CFA_PLAIN, 0x68, 0, -0x60, -0x68},
		{43, 53, RULE_SP, RULE_CFA_PLAIN, 0x68, 0, -0x60, -0x68},
		{52, 53, RULE_SP, RULE_CFA_PLAIN, 0x68, 0, SAME, SAME},
		{56, 57, RULE_SP, RULE_CFA_PLAIN, 8, 0, SAME, SAME},
	};

	(void)state;
	CHECK(kernel, expected);
}

/* As GCC has it, where a frame has 32 bytes at once: the stack pointer is kept in r10, then pushed.
 */
static void stack_pointer_kept_and_pushed(void **state)
{
	const struct bytes code = CODE(0x4c, 0x8d, 0x54, 0x24, 0x08, /*  0 lea 8(%rsp), %r10 */
	                               0x48, 0x83, 0xe4, 0xe0,       /*  5 and $-32, %rsp */
	                               0x41, 0xff, 0x72, 0xf8,       /*  9 push -8(%r10) */
	                               0x55,                         /* 13 push %rbp */
	                               0x48, 0x89, 0xe5,             /* 14 mov %rsp, %rbp */
	                               0x41, 0x52,                   /* 17 push %r10 */
	                               0x53,                         /* 19 push %rbx */
	                               0x48, 0x83, 0xec, 0x40,       /* 20 sub $0x40, %rsp */
	                               0x45, 0x31, 0xd2,             /* 24 xor %r10d, %r10d */
	                               0x48, 0x83, 0xc4, 0x40,       /* 27 add $0x40, %rsp */
	                               0x5b,                         /* 31 pop %rbx */
	                               0x41, 0x5a,                   /* 32 pop %r10 */
	                               0x5d,                         /* 34 pop %rbp */
	                               0x49, 0x8d, 0x62, 0xf8,       /* 35 lea -8(%r10), %rsp */
	                               0xc3);                        /* 39 ret */
	static const struct expected expected[] = {
		{0, 1, RULE_SP, RULE_CFA_PLAIN, 8, 0, SAME, SAME},
		{5, 6, RULE_REG, RULE_CFA_PLAIN, 0, 0, SAME, SAME},
		{9, 10, RULE_REG, RULE_CFA_PLAIN, 0, 0, SAME, SAME},
		{13, 14, RULE_REG, RULE_CFA_PLAIN, 0, 0, SAME, SAME},
		{35, 36, RULE_REG, RULE_CFA_PLAIN, 0, 0, SAME, SAME},
		{39, 40, RULE_SP, RULE_CFA_PLAIN, 8, 0, SAME, SAME},
	};
	struct unwind_rule rule;
	size_t end;

	(void)state;
	CHECK(code, expected);
	assert_true(ask(&code, 13, &rule, &end));
	assert_int_equal(rule.cfa_reg, 10);
	assert_true(ask(&code, 24, &rule, &end)); /* in the frame */
	assert_int_equal(rule.cfa_base, RULE_SP);
	assert_int_equal(rule.cfa_how, RULE_CFA_LOAD);
	assert_int_equal(rule.cfa_offset, 0x48);
}

/* As x264 has it: the stack pointer is kept in the memory above an aligned buffer. */
static void stack_pointer_kept_in_memory(void **state)
{
	const struct bytes code = CODE(0x55,                         /*  0 push %rbp */
	                               0x41, 0x54,                   /*  1 push %r12 */
	                               0x49, 0x89, 0xe4,             /*  3 mov %rsp, %r12 */
	                               0x48, 0x83, 0xec, 0x50,       /*  6 sub $0x50, %rsp */
	                               0x48, 0x83, 0xe4, 0xe0,       /* 10 and $-32, %rsp */
	                               0x4c, 0x89, 0x64, 0x24, 0x40, /* 14 mov %r12, 0x40(%rsp) */
	                               0xe8, 0x00, 0x01, 0x00, 0x00, /* 19 call */
	                               0x48, 0x8b, 0x64, 0x24, 0x40, /* 24 mov 0x40(%rsp), %rsp */
	                               0x41, 0x5c,                   /* 29 pop %r12 */
	                               0x5d,                         /* 31 pop %rbp */
	                               0xf3, 0xc3);                  /* 32 rep ret */
	static const struct expected expected[] = {
		{0, 1, RULE_SP, RULE_CFA_PLAIN, 8, 0, SAME, SAME},
		{3, 7, RULE_SP, RULE_CFA_PLAIN, 24, 0, -16, SAME},
		{19, 25, RULE_SP, RULE_CFA_LOAD, 0x40, 24, -16, SAME},
		{24, 25, RULE_SP, RULE_CFA_LOAD, 0x40, 24, -16, SAME},
		{29, 30, RULE_SP, RULE_CFA_PLAIN, 24, 0, -16, SAME},
		{31, 32, RULE_SP, RULE_CFA_PLAIN, 16, 0, -16, SAME},
		{32, 33, RULE_SP, RULE_CFA_PLAIN, 8, 0, SAME, SAME},
	};

	(void)state;
	CHECK(code, expected);
}

/* Frame pointers, jumps to what both ways have in common, and to another function's start. */
static void ways_to_the_end(void **state)
{
	const struct bytes code =
		CODE(0x55,                   /*  0 push %rbp */
	             0x48, 0x89, 0xe5,       /*  1 mov %rsp, %rbp */
	             0x53,                   /*  4 push %rbx */
	             0xeb, 0x04,             /*  5 jmp 11 */
	             0x50, 0x50, 0x50, 0xcc, /*  7 push, push, push, int3: is jumped over */
	             0x48, 0x8b, 0x5d, 0xf8, /* 11 mov -8(%rbp), %rbx */
	             0xc9,                   /* 15 leave */
	             0xeb, 0x01,             /* 16 jmp 19 */
	             0xcc,                   /* 18 int3 */
	             0x48, 0x83, 0xec, 0x18, /* 19 sub $24, %rsp */
	             0x48, 0x83, 0xc4, 0x18, /* 23 add $24, %rsp */
	             0xc2, 0x08, 0x00);      /* 27 ret $8 */
	static const struct expected expected[] = {
		{4, 5, RULE_FP, RULE_CFA_PLAIN, 16, 0, -16, -24},
		{5, 6, RULE_FP, RULE_CFA_PLAIN, 16, 0, -16, -24},
		{11, 16, RULE_FP, RULE_CFA_PLAIN, 16, 0, -16, -24},
		{16, 17, RULE_SP, RULE_CFA_PLAIN, 8, 0, SAME, SAME},
		{23, 24, RULE_SP, RULE_CFA_PLAIN, 32, 0, SAME, SAME},
	};
	const struct bytes loop = CODE(0x48, 0xff, 0xc0, /* 0 inc %rax */
	                               0x74, 0x02,       /* 3 je 7 */
	                               0xeb, 0xf9,       /* 5 jmp 0 */
	                               0x5b,             /* 7 pop %rbx */
	                               0xc3);            /* 8 ret */
	static const struct expected expected_of_loop[] = {
		{0, 6, RULE_SP, RULE_CFA_PLAIN, 16, 0, SAME, -16},
		{5, 6, RULE_SP, RULE_CFA_PLAIN, 16, 0, SAME, -16},
		{7, 8, RULE_SP, RULE_CFA_PLAIN, 16, 0, SAME, -16},
	};

	CHECK(loop, expected_of_loop);
	(void)state;
	CHECK(code, expected);
}

/* A way that no function goes is left at the last branch; without one it may be the root. */
static void ways_without_an_end(void **state)
{
	const struct bytes checked = CODE(0x53,                         /* 0 push %rbx */
	                                  0x74, 0x07,                   /* 1 je 10 */
	                                  0xe8, 0x00, 0x01, 0x00, 0x00, /* 3 call */
	                                  0x0f, 0x0b,                   /* 8 ud2 */
	                                  0x5b,                         /* 10 pop %rbx */
	                                  0xc3);                        /* 11 ret */
	static const struct expected expected[] = {
		{1, 2, RULE_SP, RULE_CFA_PLAIN, 16, 0, SAME, -16},
		{10, 11, RULE_SP, RULE_CFA_PLAIN, 16, 0, SAME, -16},
	};
	/* As below the coroutines of Boost. */
	const struct bytes root = CODE(0x48, 0x31, 0xff,             /* 0 xor %rdi, %rdi */
	                               0xe8, 0x00, 0x01, 0x00, 0x00, /* 3 call */
	                               0xf4);                        /* 8 hlt */
	const struct bytes asserts = CODE(0x75, 0x01, 0xf4,          /* 0 jne 3; hlt */
	                                  0x75, 0x01, 0xf4, 0xcc);   /* 3 jne 6; hlt; int3 */
	struct unwind_rule rule;
	size_t end;

	(void)state;
	CHECK(checked, expected);
	assert_true(ask(&root, 0, &rule, &end));
	assert_int_equal(rule.type, RULE_ROOT);
	assert_int_equal(end, 1);
	assert_false(ask(&asserts, 0, &rule, &end));
}

static void what_nobody_can_follow(void **state)
{
	const struct bytes cases[] = {
		CODE(0x90, 0x90, 0xcc, 0xc3),                /* a breakpoint */
		CODE(0x90, 0x00, 0x00, 0x00, 0x00, 0xc3),    /* zeros */
		CODE(0x90, 0x90),                            /* the end of the code */
		CODE(0x0f),                                  /* half an instruction */
		CODE(0x48, 0x29, 0xc4, 0xc3),                /* sub %rax, %rsp; ret */
		CODE(0x48, 0x83, 0xe4, 0xe0, 0xc3),          /* and $-32, %rsp; ret */
		CODE(0x48, 0x89, 0xf4, 0x5d, 0xc3),          /* mov %rsi, %rsp: another stack */
		CODE(0x48, 0x8b, 0xa7, 0xa0, 0, 0, 0, 0xc3), /* mov 160(%rdi), %rsp: likewise */
		CODE(0x48, 0x8b, 0x64, 0xc4, 0x08, 0xc3),    /* mov 8(%rsp,%rax,8), %rsp */
		CODE(0xeb, 0x7f, 0xc3),                      /* jmp to nowhere */
		CODE(0x48, 0x8b, 0x24, 0x24, 0x48, 0x8b, 0x24, 0x24, 0x48, 0x8b, 0x24, 0x24, 0xc3),
	};
	struct unwind_rule rule;
	size_t i, end;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_false(ask(&cases[i], 0, &rule, &end));
	/* Up to the breakpoint nobody can, but behind what the stack pointer is lost by. */
	assert_false(ask(&cases[0], 0, &rule, &end));
	assert_int_equal(end, 3);
	assert_false(ask(&cases[4], 0, &rule, &end));
	assert_int_equal(end, 1);
	assert_true(ask(&cases[4], 3, &rule, &end));
}

/* However long code is, little of it is looked at, and not again from each of its addresses. */
static void endless_code(void **state)
{
	static uint8_t code[200000];
	const struct bytes bytes = {code, sizeof(code)};
	const struct bytes loop = CODE(0x90,       /* 0 nop */
	                               0xeb, 0x01, /* 1 jmp 4 */
	                               0x90,       /* 3 nop */
	                               0x75, 0xfa, /* 4 jne 0 */
	                               0xcc);      /* 6 int3 */
	struct unwind_rule rule;
	size_t end;

	(void)state;
	memset(code, 0x90, sizeof(code));
	assert_false(ask(&bytes, 0, &rule, &end));
	assert_in_range(end, 60000, 70000);
	code[50000] = 0xc3;
	assert_true(ask(&bytes, 0, &rule, &end));
	assert_int_equal(end, 50001);
	nr_reads = 0;
	assert_false(ask(&loop, 0, &rule, &end));
	assert_in_range(nr_reads, 1, 20);
	assert_int_equal(end, 2);
}

/* Work is bounded whatever the code is, and so is what is told. */
static void random_code(void **state)
{
	uint8_t code[4096];
	struct bytes bytes = {code, sizeof(code)};
	struct unwind_rule rule;
	struct insn insn;
	size_t end, round, i;

	(void)state;
	srand(1);
	for (round = 0; round < 300; round++) {
		for (i = 0; i < sizeof(code); i++)
			code[i] = (uint8_t)(rand() >> 7);
		for (i = 0; i < sizeof(code); i++) {
			uint8_t *end_of = code + sizeof(code);
			size_t left = (size_t)(end_of - (code + i));

			assert_in_range(insn_read(code + i, left, &insn), 0, left);
			if (i % 16 == 0) {
				ask(&bytes, i, &rule, &end);
				assert_true(end > i);
			}
		}
	}
}

/* -- real libraries --------------------------------------------------------------------------- */

struct library {
	struct module_table *modules;
	struct cfi_reader *reader;
	struct space *space;
	struct cfi *cfi;
	struct module *module;
};

static size_t read_library(void *arg, uint64_t addr, void *to, size_t size)
{
	struct library *library = arg;

	return cfi_read(library->reader, library->cfi, addr, to, size);
}

static int setup(void **state)
{
	struct library *library = calloc(1, sizeof(*library));
	const struct mapping *mapping;

	library->modules = module_table_new();
	library->reader = cfi_reader_new(library->modules);
	library->space = space_new(getpid());
	maps_read(library->space, library->modules);
	/* One that sanitizers have none of their own of. */
	mapping = space_lookup(library->space, (uintptr_t)&gnu_get_libc_version);
	assert_non_null(mapping);
	library->module = mapping->module;
	library->cfi = cfi_get(library->reader, mapping->module);
	assert_non_null(library->cfi);
	*state = library;
	return 0;
}

static int teardown(void **state)
{
	struct library *library = *state;

	cfi_reader_free(library->reader);
	space_put(library->space);
	module_table_free(library->modules);
	free(library);
	return 0;
}

static bool value_equal(const struct rule_value *a, const struct rule_value *b)
{
	return a->how == b->how &&
	       (a->how != RULE_AT || (a->base == b->base && a->offset == b->offset));
}

static void agrees_with_call_frame_information(void **state)
{
	struct library *library = *state;
	const struct segment *segment = &library->module->segments[0];
	unsigned long same = 0, fp = 0, other = 0, none = 0, regs = 0;
	uint64_t addr = segment->vaddr, stop = segment->vaddr + segment->size;

	while (addr < stop) {
		struct unwind_rule told, known;
		struct cfi_range range;
		uint8_t code[INSN_MAX];
		struct insn insn;
		uint64_t end;
		size_t size;

		if (!cfi_rule(library->reader, library->cfi, addr, &known, &range)) {
			addr++;
			continue;
		}
		size = insn_read(code, read_library(library, addr, code, sizeof(code)), &insn);
		if (!size || known.type != RULE_FOLLOW || known.signal || known.ra.offset != -8 ||
		    known.cfa_how != RULE_CFA_PLAIN) {
			addr = size ? addr + size : range.end;
			continue;
		}
		if (!epilogue_rule(read_library, library, addr, &told, &end)) {
			none++;
		} else if (told.cfa_how == known.cfa_how && told.cfa_base == known.cfa_base &&
		           told.cfa_offset == known.cfa_offset) {
			same++;
			regs += value_equal(&told.fp, &known.fp) &&
			        value_equal(&told.extra, &known.extra);
		} else if (known.cfa_base != RULE_FP || told.cfa_base != RULE_SP) {
			other++;
		} else { /* both will do: frame pointers are used in all of some distributions */
			fp++;
		}
		addr += size;
	}
	print_message("%lu the same, %lu with all registers; %lu by frame pointer; %lu other; "
	              "%lu none\n",
	              same, regs, fp, other, none);
	/* Behind calls that do not return. */
	assert_true(same > 10000 && same / 10 > other + none);
	assert_true(regs > same - same / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_pointer_kept_in_a_register),
		cmocka_unit_test(stack_pointer_kept_and_pushed),
		cmocka_unit_test(stack_pointer_kept_in_memory),
		cmocka_unit_test(ways_to_the_end),
		cmocka_unit_test(ways_without_an_end),
		cmocka_unit_test(what_nobody_can_follow),
		cmocka_unit_test(endless_code),
		cmocka_unit_test(random_code),
		TEST(agrees_with_call_frame_information),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* such code is known by its link register elsewhere */
}

#endif
