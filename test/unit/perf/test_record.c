#include "raw_ring.h"

#include <errno.h>

#define PLAIN (RECORD_ALWAYS | PERF_SAMPLE_IP)

enum { NR_REGS = 17, STACK_SIZE = 256, SHIFT = 1000 };

static const struct record_format plain = {.sample_type = PLAIN};
static const struct record_format full = {
	.sample_type =
		PLAIN | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	.nr_regs = NR_REGS,
	.clock_shift = SHIFT,
};

/* Decodes a copy in memory of exactly its size. */
static int decode(struct record *record, const struct raw *raw, size_t size,
                  const struct record_format *format, void **copy)
{
	*copy = malloc(size);
	assert_non_null(*copy);
	memcpy(*copy, raw->words, size);
	return record_decode(record, *copy, size, format);
}

/* What is said of a record into which nobody looks. */
static int judge(const struct raw *raw, const struct record_format *format)
{
	struct record record;
	void *copy;
	int err = decode(&record, raw, raw->nr * 8, format, &copy);

	free(copy);
	return err;
}

static bool within(const void *at, size_t length, const void *raw, size_t size)
{
	const char *start = at, *first = raw;

	return start >= first && length <= size && start + length <= first + size;
}

/* Reads everything that a decoded record points to. */
static void assert_inside(const struct record *record, const void *raw, size_t size)
{
	const char *text = record->type == RECORD_COMM   ? record->comm.comm
	                   : record->type == RECORD_MMAP ? record->mmap.path
	                                                 : NULL;

	if (text)
		assert_true(within(text, strlen(text) + 1, raw, size));
	if (record->type == RECORD_MMAP) {
		assert_true(record->mmap.build_id_size <= RECORD_BUILD_ID_MAX);
		assert_true(record->mmap.start <= record->mmap.end);
	}
	if (record->type != RECORD_SAMPLE)
		return;
	if (record->sample.chain_size)
		assert_true(within(record->sample.chain, record->sample.chain_size * 8, raw, size));
	if (record->sample.regs)
		assert_true(within(record->sample.regs, NR_REGS * 8, raw, size));
	if (record->sample.nr_counts)
		assert_true(within(record->sample.counts,
		                   record->sample.nr_counts * record->sample.count_stride * 8, raw,
		                   size));
	if (record->sample.stack_size)
		assert_true(within(record->sample.stack, record->sample.stack_size, raw, size));
}

static void raw_sample(struct raw *raw, const struct record_format *format, uint64_t stack_size,
                       uint64_t copied)
{
	raw_start(raw, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	raw_word(raw, 77);
	raw_word(raw, 0x401000);
	raw_pair(raw, 10, 11);
	raw_word(raw, 123456789);
	if (format->sample_type & PERF_SAMPLE_CALLCHAIN) {
		raw_word(raw, 3);
		raw_word(raw, PERF_CONTEXT_USER);
		raw_word(raw, 0x401000);
		raw_word(raw, 0x402000);
	}
	if (format->sample_type & PERF_SAMPLE_REGS_USER) {
		raw_word(raw, PERF_SAMPLE_REGS_ABI_64);
		for (unsigned i = 0; i < NR_REGS; i++)
			raw_word(raw, 1000 + i);
	}
	if (format->sample_type & PERF_SAMPLE_STACK_USER) {
		raw_word(raw, stack_size);
		for (unsigned i = 0; i < stack_size / 8; i++)
			raw_word(raw, UINT64_C(0x1111111111111111) * (i % 10));
		if (stack_size)
			raw_word(raw, copied);
	}
	raw_end(raw);
}

static void samples(void **state)
{
	struct record record;
	struct raw raw;
	void *copy;

	(void)state;
	raw_sample(&raw, &full, STACK_SIZE, 200);
	raw.words[0] -= (uint64_t)(PERF_RECORD_MISC_USER - PERF_RECORD_MISC_KERNEL) << 32;
	raw.words[5 + 4] = PERF_SAMPLE_REGS_ABI_32;
	assert_int_equal(decode(&record, &raw, raw.nr * 8, &full, &copy), 0);
	assert_true(record.sample.in_kernel);
	assert_true(record.sample.regs_32);
	free(copy);
	raw_sample(&raw, &full, STACK_SIZE, 200);
	assert_int_equal(decode(&record, &raw, raw.nr * 8, &full, &copy), 0);
	assert_int_equal(record.type, RECORD_SAMPLE);
	assert_int_equal(record.id, 77);
	assert_int_equal(record.pid, 10);
	assert_int_equal(record.tid, 11);
	assert_int_equal(record.time, 123456789 + SHIFT);
	assert_int_equal(record_time(copy, raw.nr * 8, &full), 123456789 + SHIFT);
	assert_int_equal(record.sample.ip, 0x401000);
	assert_false(record.sample.in_kernel);
	assert_int_equal(record.sample.chain_size, 3);
	assert_int_equal(record.sample.chain[2], 0x402000);
	assert_int_equal(record.sample.regs[NR_REGS - 1], 1000 + NR_REGS - 1);
	assert_false(record.sample.regs_32);
	assert_int_equal(record.sample.stack_size, 200);
	assert_false(record.sample.stack_cut);
	assert_int_equal(record.sample.stack[8], 0x11);
	free(copy);
}

static void samples_without_a_user_stack(void **state)
{
	struct record record;
	struct raw raw;
	void *copy;

	(void)state;
	raw_sample(&raw, &plain, 0, 0);
	raw_end(&raw);
	assert_int_equal(decode(&record, &raw, raw.nr * 8, &plain, &copy), 0);
	assert_null(record.sample.regs);
	assert_null(record.sample.stack);
	assert_int_equal(record.sample.chain_size, 0);
	free(copy);
	/* A kernel thread: ABI none, no registers, a stack of size 0. */
	raw_sample(&raw, &plain, 0, 0);
	raw_word(&raw, 0);
	raw_word(&raw, PERF_SAMPLE_REGS_ABI_NONE);
	raw_word(&raw, 0);
	raw_end(&raw);
	assert_int_equal(decode(&record, &raw, raw.nr * 8, &full, &copy), 0);
	assert_null(record.sample.regs);
	assert_null(record.sample.stack);
	free(copy);
}

static void stack_sizes(void **state)
{
	struct record record;
	struct raw raw;
	void *copy;

	(void)state;
	raw_sample(&raw, &full, STACK_SIZE, STACK_SIZE);
	assert_int_equal(decode(&record, &raw, raw.nr * 8, &full, &copy), 0);
	assert_true(record.sample.stack_cut);
	free(copy);
	raw_sample(&raw, &full, STACK_SIZE, STACK_SIZE + 1);
	assert_int_equal(judge(&raw, &full), -EBADMSG);
	raw_sample(&raw, &full, STACK_SIZE, 100);
	raw.words[raw.nr - 2 - STACK_SIZE / 8] = STACK_SIZE + 4;
	assert_int_equal(judge(&raw, &full), -EBADMSG);
}

/* More callers than there are bytes for, in numbers that overflow when they are multiplied. */
static void impossible_chains(void **state)
{
	static const uint64_t numbers[] = {100, UINT64_MAX, UINT64_MAX / 8 + 1, UINT64_MAX / 8 + 4};
	struct raw raw;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		raw_sample(&raw, &full, 0, 0);
		raw.words[5] = numbers[i];
		assert_int_equal(judge(&raw, &full), -EBADMSG);
	}
}

/* Where the stack ends with the address space, its size is what the stack pointer makes of it. */
static void stacks_of_odd_sizes(void **state)
{
	static const struct record_format more = {
		.sample_type =
			PLAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT,
		.nr_regs = NR_REGS,
	};
	struct record record;
	struct raw raw;

	(void)state;
	for (size_t size = STACK_SIZE - 7; size < STACK_SIZE; size++) {
		uint64_t behind[] = {size - 1, 4711};
		unsigned char *stack, *copy;
		size_t at;

		raw_sample(&raw, &more, STACK_SIZE, 0);
		at = (raw.nr - 1) * 8 - STACK_SIZE;
		stack = (unsigned char *)raw.words + at;
		memcpy(stack - 8, &size, 8);
		copy = malloc(at + size + sizeof(behind));
		assert_non_null(copy);
		memcpy(copy, raw.words, at + size);
		memcpy(copy + at + size, behind, sizeof(behind));
		assert_int_equal(record_decode(&record, copy, at + size + sizeof(behind), &more),
		                 0);
		assert_int_equal(record.sample.stack_size, size - 1);
		assert_memory_equal(record.sample.stack, stack, size);
		assert_int_equal(record.sample.latency, 4711);
		assert_int_equal(record_decode(&record, copy, at + size + 15, &more), -EBADMSG);
		free(copy);
	}
}

static const struct record_format access = {
	.sample_type = PLAIN | PERF_SAMPLE_ADDR | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT |
                       PERF_SAMPLE_DATA_SRC,
};

static void raw_access(struct raw *raw, uint64_t nr_branches, unsigned given)
{
	raw_start(raw, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	raw_word(raw, 77);
	raw_word(raw, 0x401000);
	raw_pair(raw, 10, 11);
	raw_word(raw, 123456789);
	raw_word(raw, 0x7fff12345678);
	raw_word(raw, nr_branches);
	for (unsigned i = 0; i < given; i++) {
		raw_word(raw, 0x402000 + i);
		raw_word(raw, 0x403000 + i);
		raw_word(raw, 0);
	}
	raw_word(raw, 345);
	raw_word(raw, 0x68100142);
	raw_end(raw);
}

static void memory_accesses_and_branches(void **state)
{
	struct record record;
	struct raw raw;
	void *copy;

	(void)state;
	raw_access(&raw, 2, 2);
	assert_int_equal(decode(&record, &raw, raw.nr * 8, &access, &copy), 0);
	assert_int_equal(record_time(copy, raw.nr * 8, &access), 123456789);
	assert_int_equal(record.sample.address, 0x7fff12345678);
	assert_int_equal(record.sample.latency, 345);
	assert_int_equal(record.sample.data_src, 0x68100142);
	assert_int_equal(record.sample.nr_branches, 2);
	assert_true(within(record.sample.branches, 2 * 24, copy, raw.nr * 8));
	assert_int_equal(record.sample.branches[1].from, 0x402001);
	assert_int_equal(record.sample.branches[1].to, 0x403001);
	for (size_t size = 8; size < raw.nr * 8; size += 8) {
		struct record cut;
		void *part;

		assert_int_equal(decode(&cut, &raw, size, &access, &part), -EBADMSG);
		free(part);
	}
	free(copy);
	raw_access(&raw, 0, 0);
	assert_int_equal(decode(&record, &raw, raw.nr * 8, &access, &copy), 0);
	assert_int_equal(record.sample.nr_branches, 0);
	free(copy);
}

/* More branches than there are bytes for, in numbers that overflow when they are multiplied. */
static void impossible_branches(void **state)
{
	static const uint64_t numbers[] = {3,
	                                   1000,
	                                   UINT64_MAX,
	                                   UINT64_MAX / 24 + 1,
	                                   (UINT64_MAX / 8 + 1) / 3 + 1,
	                                   UINT64_MAX / 3 + 1};
	struct raw raw;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		raw_access(&raw, numbers[i], 2);
		assert_int_equal(judge(&raw, &access), -EBADMSG);
	}
}

static void raw_mmap(struct raw *raw, uint16_t misc, uint64_t start, uint64_t length)
{
	raw_start(raw, PERF_RECORD_MMAP2, misc);
	raw_pair(raw, 20, 21);
	raw_word(raw, start);
	raw_word(raw, length);
	raw_word(raw, 0x2000);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		raw_word(raw, 0x04030201000000ff); /* a size of 255 */
		raw_word(raw, 0x0c0b0a0908070605);
		raw_word(raw, 0x14131211100f0e0d);
	} else {
		raw_pair(raw, 8, 1);
		raw_word(raw, 4711);
		raw_word(raw, 99);
	}
	raw_pair(raw, 5, 2);
	raw_text(raw, "/usr/lib/libx.so");
	raw_trailer(raw, 1, 2, 555, 7);
	raw_end(raw);
}

static void mappings(void **state)
{
	struct record record;
	struct raw raw;
	void *copy;

	(void)state;
	raw_mmap(&raw, 0, 0x7000, 0x1000);
	assert_int_equal(decode(&record, &raw, raw.nr * 8, &full, &copy), 0);
	assert_int_equal(record.type, RECORD_MMAP);
	assert_int_equal(record.time, 555 + SHIFT);
	assert_int_equal(record_time(copy, raw.nr * 8, &full), 555 + SHIFT);
	assert_int_equal(record.id, 7);
	assert_int_equal(record.pid, 20);
	assert_int_equal(record.tid, 21);
	assert_int_equal(record.mmap.start, 0x7000);
	assert_int_equal(record.mmap.end, 0x8000);
	assert_int_equal(record.mmap.pgoff, 0x2000);
	assert_int_equal(record.mmap.dev_major, 8);
	assert_int_equal(record.mmap.dev_minor, 1);
	assert_int_equal(record.mmap.ino, 4711);
	assert_int_equal(record.mmap.ino_generation, 99);
	assert_int_equal(record.mmap.build_id_size, 0);
	assert_string_equal(record.mmap.path, "/usr/lib/libx.so");
	free(copy);
	raw_mmap(&raw, PERF_RECORD_MISC_MMAP_BUILD_ID, 0x7000, 0x1000);
	assert_int_equal(decode(&record, &raw, raw.nr * 8, &full, &copy), 0);
	assert_int_equal(record.mmap.build_id_size, RECORD_BUILD_ID_MAX);
	assert_int_equal(record.mmap.build_id[0], 1);
	assert_int_equal(record.mmap.build_id[19], 0x14);
	free(copy);
	raw.words[5] -= 0xff - 16;
	assert_int_equal(decode(&record, &raw, raw.nr * 8, &full, &copy), 0);
	assert_int_equal(record.mmap.build_id_size, 16);
	free(copy);
}

static void impossible_mappings(void **state)
{
	struct raw raw;

	(void)state;
	raw_mmap(&raw, 0, UINT64_MAX - 100, 0x1000);
	assert_int_equal(judge(&raw, &full), -EBADMSG);
	/* No NUL in the path. */
	raw_mmap(&raw, 0, 0x7000, 0x1000);
	for (size_t i = 9; i < raw.nr; i++)
		raw.words[i] = UINT64_MAX;
	assert_int_equal(judge(&raw, &full), -EBADMSG);
}

static void tasks(void **state)
{
	struct record record;
	struct raw raw;

	(void)state;
	raw_start(&raw, PERF_RECORD_FORK, 0);
	raw_pair(&raw, 31, 30);
	raw_pair(&raw, 33, 32);
	raw_word(&raw, 1);
	raw_trailer(&raw, 30, 32, 666, 7);
	assert_int_equal(record_decode(&record, raw.words, raw_end(&raw), &full), 0);
	assert_int_equal(record.type, RECORD_FORK);
	assert_int_equal(record.pid, 31);
	assert_int_equal(record.tid, 33);
	assert_int_equal(record.fork.parent_pid, 30);
	assert_int_equal(record.fork.parent_tid, 32);
	assert_int_equal(record.time, 666 + SHIFT);
	raw.words[0] -= PERF_RECORD_FORK - PERF_RECORD_EXIT;
	assert_int_equal(record_decode(&record, raw.words, raw.nr * 8, &full), 0);
	assert_int_equal(record.type, RECORD_EXIT);
	assert_int_equal(record.tid, 33);

	raw_start(&raw, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	raw_pair(&raw, 40, 41);
	raw_text(&raw, "make");
	raw_trailer(&raw, 1, 2, 1, 7); /* whoever named it */
	assert_int_equal(record_decode(&record, raw.words, raw_end(&raw), &full), 0);
	assert_int_equal(record.type, RECORD_COMM);
	assert_int_equal(record.pid, 40);
	assert_int_equal(record.tid, 41);
	assert_string_equal(record.comm.comm, "make");
	assert_true(record.comm.exec);
	raw_start(&raw, PERF_RECORD_COMM, PERF_RECORD_MISC_USER);
	raw_pair(&raw, 40, 41);
	raw_text(&raw, "worker");
	raw_trailer(&raw, 40, 41, 1, 7);
	assert_int_equal(record_decode(&record, raw.words, raw_end(&raw), &full), 0);
	assert_false(record.comm.exec);

	raw_start(&raw, PERF_RECORD_READ, 0);
	raw_pair(&raw, 50, 51);
	raw_word(&raw, 123);
	raw_trailer(&raw, 1, 2, 3, 5);
	assert_int_equal(record_decode(&record, raw.words, raw_end(&raw), &full), 0);
	assert_int_equal(record.type, RECORD_READ);
	assert_int_equal(record.pid, 50);
	assert_int_equal(record.tid, 51);
	assert_int_equal(record.read.value, 123);

	raw_start(&raw, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
	raw_trailer(&raw, 60, 61, 3, 5);
	assert_int_equal(record_decode(&record, raw.words, raw_end(&raw), &full), 0);
	assert_int_equal(record.type, RECORD_STOP);
	assert_int_equal(record.pid, 60);
	assert_int_equal(record.tid, 61);
	assert_int_equal(record.time, 3 + SHIFT);
	raw_start(&raw, PERF_RECORD_SWITCH, 0);
	raw_trailer(&raw, 60, 61, 3, 5);
	assert_int_equal(record_decode(&record, raw.words, raw_end(&raw), &full), 0);
	assert_int_equal(record.type, RECORD_RUN);
}

static void losses(void **state)
{
	struct record record;
	struct raw raw;

	(void)state;
	raw_start(&raw, PERF_RECORD_LOST, 0);
	raw_word(&raw, 8);
	raw_word(&raw, 1234);
	raw_trailer(&raw, 1, 2, 3, 5);
	assert_int_equal(record_decode(&record, raw.words, raw_end(&raw), &full), 0);
	assert_int_equal(record.type, RECORD_LOST);
	assert_int_equal(record.id, 8);
	assert_int_equal(record.lost.count, 1234);

	raw_start(&raw, PERF_RECORD_THROTTLE, 0);
	raw_word(&raw, 99);
	raw_word(&raw, 8);
	raw_word(&raw, 8);
	raw_trailer(&raw, 1, 2, 3, 5);
	assert_int_equal(record_decode(&record, raw.words, raw_end(&raw), &full), 0);
	assert_int_equal(record.type, RECORD_THROTTLE);
	assert_int_equal(record.id, 8);

	raw_start(&raw, PERF_RECORD_KSYMBOL, 0);
	raw_word(&raw, 0xffffffffc0001000);
	raw_word(&raw, (uint64_t)PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER << 48 |
	                       (uint64_t)PERF_RECORD_KSYMBOL_TYPE_BPF << 32 | 0x123);
	raw_text(&raw, "bpf_prog_1_f");
	raw_trailer(&raw, 1, 2, 3, 5);
	assert_int_equal(record_decode(&record, raw.words, raw_end(&raw), &full), 0);
	assert_int_equal(record.type, RECORD_CODE);
	assert_int_equal(record.code.start, 0xffffffffc0001000);
	assert_int_equal(record.code.size, 0x123);
	assert_true(record.code.gone);
	assert_string_equal(record.code.name, "bpf_prog_1_f");

	raw_start(&raw, 0xffff, 0);
	raw_trailer(&raw, 1, 2, 3, 5);
	assert_int_equal(record_decode(&record, raw.words, raw_end(&raw), &full), 0);
	assert_int_equal(record.type, RECORD_OTHER);
	assert_int_equal(record.time, 3 + SHIFT);
}

/* Every prefix of every record: an error, or something that lies within it. */
static void truncations(void **state)
{
	struct raw raws[4];

	(void)state;
	raw_sample(&raws[0], &full, STACK_SIZE, 200);
	raw_mmap(&raws[1], 0, 0x7000, 0x1000);
	raw_mmap(&raws[2], PERF_RECORD_MISC_MMAP_BUILD_ID, 0x7000, 0x1000);
	raw_start(&raws[3], PERF_RECORD_COMM, 0);
	raw_pair(&raws[3], 1, 1);
	raw_text(&raws[3], "a-long-command");
	raw_trailer(&raws[3], 1, 2, 3, 5);
	for (unsigned i = 0; i < 4; i++) {
		for (size_t size = 8; size < raws[i].nr * 8; size += 8) {
			struct record record;
			void *copy;
			int err = decode(&record, &raws[i], size, &full, &copy);

			assert_true(err == 0 || err == -EBADMSG);
			if (size < (i ? 1 + 3 : 5) * sizeof(uint64_t)) /* no room for one */
				assert_int_equal(record_time(copy, size, &full), 0);
			else
				record_time(copy, size, &full);
			if (!err)
				assert_inside(&record, copy, size);
			if (!i) /* a sample is complete or wrong */
				assert_int_equal(err, -EBADMSG);
			free(copy);
		}
	}
}

/* The counts of a group stand between the time and the call chain. */
static void raw_group(struct raw *raw, uint64_t nr, uint64_t read_format)
{
	raw_start(raw, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	raw_word(raw, 77);
	raw_word(raw, 0x401000);
	raw_pair(raw, 10, 11);
	raw_word(raw, 123456789);
	raw_word(raw, nr);
	raw_word(raw, 900);
	raw_word(raw, 800);
	for (unsigned i = 0; i < 3; i++) {
		raw_word(raw, 1000 + i);
		if (read_format & RECORD_LOST_COUNTS)
			raw_word(raw, 0);
	}
	raw_word(raw, 1);
	raw_word(raw, 0x401000);
	raw_end(raw);
}

static void groups(void **state)
{
	static const uint64_t formats[] = {RECORD_COUNTS, RECORD_COUNTS | RECORD_LOST_COUNTS};
	static const uint64_t too_many[] = {40,
	                                    1 << 20,
	                                    UINT64_MAX,
	                                    UINT64_MAX / 2 + 1,
	                                    UINT64_MAX / 2 + 4,
	                                    UINT64_MAX / 3 + 1};
	struct record_format format = {.sample_type =
	                                       PLAIN | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN};
	struct record record;
	struct raw raw;
	void *copy;

	(void)state;
	for (unsigned f = 0; f < 2; f++) {
		format.read_format = formats[f];
		raw_group(&raw, 3, formats[f]);
		assert_int_equal(decode(&record, &raw, raw.nr * 8, &format, &copy), 0);
		assert_int_equal(record.sample.nr_counts, 3);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(record.sample.counts[i * record.sample.count_stride],
			                 1000 + i);
		assert_int_equal(record.sample.chain_size, 1);
		assert_int_equal(record.sample.chain[0], 0x401000);
		assert_int_equal(record_time(copy, raw.nr * 8, &format), 123456789);
		free(copy);
		for (unsigned i = 0; i < sizeof(too_many) / sizeof(*too_many); i++) {
			raw_group(&raw, too_many[i], formats[f]);
			assert_int_equal(decode(&record, &raw, raw.nr * 8, &format, &copy),
			                 -EBADMSG);
			free(copy);
		}
	}
}

static void odd_sizes(void **state)
{
	struct record record;
	struct raw raw;

	(void)state;
	raw_sample(&raw, &full, STACK_SIZE, 200);
	for (size_t size = 0; size < 8; size++)
		assert_int_equal(record_decode(&record, raw.words, size, &full), -EBADMSG);
	assert_int_equal(record_decode(&record, raw.words, raw.nr * 8 - 1, &full), -EBADMSG);
	assert_int_equal(record_decode(&record, raw.words, raw.nr * 8 - 4, &full), -EBADMSG);
	raw_mmap(&raw, 0, 0x7000, 0x1000);
	assert_int_equal(record_decode(&record, raw.words, raw.nr * 8 - 4, &full), -EBADMSG);
}

static void garbage(void **state)
{
	static const uint32_t types[] = {
		PERF_RECORD_SAMPLE, PERF_RECORD_MMAP2,    PERF_RECORD_COMM,
		PERF_RECORD_FORK,   PERF_RECORD_EXIT,     PERF_RECORD_READ,
		PERF_RECORD_LOST,   PERF_RECORD_THROTTLE, PERF_RECORD_SWITCH,
	};
	uint64_t seed = 4;
	unsigned accepted = 0;

	(void)state;
	for (unsigned round = 0; round < 100000; round++) {
		struct record_format format = full;
		struct record record;
		struct raw raw;
		size_t nr = 1 + raw_random(&seed) % 64;
		void *copy;

		raw_start(&raw, types[raw_random(&seed) % (sizeof(types) / sizeof(types[0]))],
		          (uint16_t)raw_random(&seed));
		while (raw.nr < nr) /* small numbers are more dangerous than large ones */
			raw_word(&raw, raw_random(&seed) >> raw_random(&seed) % 64);
		if (round % 3 == 0)
			format.sample_type &= raw_random(&seed) | PLAIN;
		if (round % 2) {
			format.sample_type |= PERF_SAMPLE_READ;
			format.read_format = RECORD_COUNTS;
			if (raw_random(&seed) % 2)
				format.read_format |= RECORD_LOST_COUNTS;
		}
		if (!decode(&record, &raw, nr * 8, &format, &copy)) {
			assert_inside(&record, copy, nr * 8);
			accepted++;
		}
		record_time(copy, nr * 8, &format);
		free(copy);
	}
	assert_true(accepted > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples),
		cmocka_unit_test(samples_without_a_user_stack),
		cmocka_unit_test(stack_sizes),
		cmocka_unit_test(stacks_of_odd_sizes),
		cmocka_unit_test(impossible_chains),
		cmocka_unit_test(memory_accesses_and_branches),
		cmocka_unit_test(impossible_branches),
		cmocka_unit_test(mappings),
		cmocka_unit_test(impossible_mappings),
		cmocka_unit_test(tasks),
		cmocka_unit_test(losses),
		cmocka_unit_test(truncations),
		cmocka_unit_test(groups),
		cmocka_unit_test(odd_sizes),
		cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
