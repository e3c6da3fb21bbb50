#include "cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hmb/code_put.h"
#include "random_bins.h"

enum { MAX_SAMPLES = 16384 };

static uint64_t no_frame(const void *of, uint32_t context)
{
	(void)of;
	(void)context;
	return 0;
}

/* Of all sizes, so that leaves are at all distances from them; some contexts have no node. */
static uint64_t any_frame(const void *of, uint32_t context)
{
	uint64_t mix = context * 0x9e3779b97f4a7c15;

	(void)of;
	return context % 8 ? mix >> 16 >> context % 48 : 0;
}

static const struct code_nodes no_nodes = {.frame = no_frame}, any_nodes = {.frame = any_frame};

/* What a random program does. */
struct program {
	unsigned thread_bits, cpu_bits, leaf_bits, context_bits, time_bits;
	uint64_t time, salt;
	unsigned nr_counters;
	enum stream_owner owner;
	uint64_t *totals; /* of the samples so far, nr_counters each */
};

static struct program random_program(void)
{
	struct program program = {
		.thread_bits = (unsigned)(rnd() % 33),
		.cpu_bits = (unsigned)(rnd() % 33),
		.leaf_bits = (unsigned)(rnd() % 49),
		.context_bits = (unsigned)(rnd() % 33),
		.time_bits = (unsigned)(rnd() % 65),
		.time = rnd_bits(64),
		.salt = rnd(),
	};

	if (rnd() % 2) /* a usual one */
		program.thread_bits = program.cpu_bits = (unsigned)(rnd() % 6);
	return program;
}

/* A thread's step on a CPU stays the same; 0 for some: unknown. */
static uint64_t step_of(const struct program *program, uint32_t thread, uint32_t cpu)
{
	uint64_t mix = (program->salt ^ thread ^ (uint64_t)cpu << 32) * 0x9e3779b97f4a7c15;

	return mix % 3 ? mix >> (mix % 64) : 0;
}

static uint64_t field(unsigned bits)
{
	return bits ? rnd_bits(bits) : 7;
}

/* Mostly a little more than before, and sometimes anything. */
static void random_totals(struct program *program, unsigned nr)
{
	uint64_t *totals = &program->totals[(size_t)nr * COUNTER_MAX];

	for (unsigned i = 0; i < program->nr_counters; i++) {
		uint64_t before = nr ? totals[(int)i - COUNTER_MAX] : 0;

		totals[i] = rnd() % 8 ? before + rnd_bits(20) : rnd_bits(64);
	}
}

static struct code_sample random_sample(struct program *program)
{
	struct code_sample sample = {
		.thread = (uint32_t)field(program->thread_bits),
		.cpu = (uint32_t)field(program->cpu_bits),
		.leaf = field(program->leaf_bits),
		.context = (uint32_t)field(program->context_bits),
	};

	sample.step = step_of(program, sample.thread, sample.cpu);
	if (rnd() % 8)
		program->time += sample.step + field(program->time_bits);
	else
		program->time -= field(program->time_bits);
	sample.time = program->time;
	return sample;
}

static uint64_t put_totals[MAX_SAMPLES * COUNTER_MAX];
static uint8_t put_shifts[COUNTER_MAX];

static void begin(struct bin *bin, struct code_encoder *encoder, struct program *program,
                  unsigned time_shift)
{
	bool counters = rnd() % 2;

	program->owner = rnd() % 2 ? STREAM_OF_CPU : STREAM_OF_THREAD;
	code_begin(encoder, bin, program->time, time_shift, program->owner, any_nodes);
	program->totals = put_totals;
	program->nr_counters = counters ? 1 + (unsigned)(rnd() % COUNTER_MAX) : 0;
	for (unsigned i = 0; i < COUNTER_MAX; i++)
		put_shifts[i] = (uint8_t)(rnd() % 57);
	if (counters)
		code_begin_counters(encoder, bin, program->nr_counters, put_shifts);
}

/* In one of its ways: the usual is for bins without counters. */
static void put(struct bin *bin, struct code_encoder *encoder, const struct code_sample *sample)
{
	uint64_t who = code_who(sample->thread, sample->cpu);

	if (bin->nr_records && !bin->nr_counters && rnd() % 2 && code_site_expected(encoder, who))
		assert_true(code_put_expected(encoder, bin, sample->time, sample->context,
		                              sample->leaf));
	else
		code_put(encoder, bin, sample);
}

/* Fills a bin, keeping what was put. */
static unsigned fill(struct bin *bin, struct code_encoder *encoder, struct code_sample *samples,
                     unsigned time_shift)
{
	struct program program = random_program();
	unsigned nr = 0;
	size_t most;

	begin(bin, encoder, &program, time_shift);
	most = CODE_MAX_RECORD + counter_max_record(program.nr_counters);
	while (nr < MAX_SAMPLES && bin_room(bin) >= most) {
		uint32_t before = bin->record_bytes;

		samples[nr] = random_sample(&program);
		random_totals(&program, nr);
		samples[nr].counters = &program.totals[(size_t)nr * COUNTER_MAX];
		put(bin, encoder, &samples[nr]);
		nr++;
		assert_in_range(bin->record_bytes - before, 2, most);
		assert_int_equal(bin->nr_records, nr);
	}
	return nr;
}

/* To the nearest unit. */
static void check_totals(const struct bin *bin, const struct code_sample *put,
                         const struct code_sample *got)
{
	assert_int_equal(!got->counters, !bin->nr_counters);
	for (unsigned i = 0; i < bin->nr_counters; i++) {
		unsigned shift = put_shifts[i];
		uint64_t half = shift ? (uint64_t)1 << (shift - 1) : 0;
		uint64_t units = (put->counters[i] >> shift) + !!(put->counters[i] & half);

		/* What is behind the end of a 64-bit number is not rounded up. */
		if (put->counters[i] <= UINT64_MAX - half)
			assert_int_equal(got->counters[i], units << shift);
		else
			assert_int_equal(got->counters[i], put->counters[i] >> shift << shift);
	}
}

static void every_sample_comes_back(void **state)
{
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct code_sample *samples = malloc(MAX_SAMPLES * sizeof(*samples)), got;
	struct code_cursor *cursor = malloc(sizeof(*cursor));

	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		unsigned time_shift = (unsigned)(rnd() % 21), nr;
		uint64_t mask = ~(uint64_t)0 << time_shift;
		struct bin *bin = new_bin(8 + (unsigned)(rnd() % 7), BIN_SAMPLES);

		nr = fill(bin, encoder, samples, time_shift);
		assert_int_equal(code_open(cursor, bin, bin_size(bin), any_nodes), 0);
		for (unsigned i = 0; i < nr; i++) {
			assert_int_equal(code_next(cursor, &got), 1);
			assert_int_equal(got.time, samples[i].time & mask);
			assert_int_equal(got.leaf, samples[i].leaf);
			assert_int_equal(got.context, samples[i].context);
			assert_int_equal(got.thread, samples[i].thread);
			assert_int_equal(got.cpu, samples[i].cpu);
			check_totals(bin, &samples[i], &got);
		}
		assert_int_equal(code_next(cursor, &got), 0);
		free(bin);
	}
	free(encoder);
	free(samples);
	free(cursor);
}

/* The size that everything else is about: a known pair at about the expected time. */
static void usual_records_take_two_bytes(void **state)
{
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);
	struct code_sample sample = {.step = 200000, .leaf = 5, .context = 6, .thread = 7};

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_CPU, no_nodes);
	for (unsigned i = 0; i < 1000; i++) {
		uint32_t before = bin->record_bytes;

		sample.cpu = i % 4; /* four sites of execution in turn */
		sample.time = i / 4 * sample.step + 1500 * sample.cpu + rnd() % 1500;
		code_put(encoder, bin, &sample);
		if (i >= 8)
			assert_int_equal(bin->record_bytes - before, 2);
	}
	free(bin);
	free(encoder);
}

static uint32_t size_of(struct code_encoder *encoder, struct bin *bin, uint32_t context,
                        uint64_t leaf)
{
	struct code_sample sample = {.leaf = leaf, .context = context};
	uint32_t before = bin->record_bytes;

	code_put(encoder, bin, &sample);
	return bin->record_bytes - before;
}

/* A control byte, then what each way of saying where takes; all samples are of one time. */
static void each_way_takes_its_bytes(void **state)
{
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);
	uint64_t module = (uint64_t)3 << 32;

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_CPU, no_nodes);
	size_of(encoder, bin, 1000, module + 0x123450);
	/* a context nearby, and leaves: in a known block, in new ones, known, of another module */
	assert_int_equal(size_of(encoder, bin, 1001, module + 0x129999), 1 + 1 + 3);
	assert_int_equal(size_of(encoder, bin, 1002, module + 0x28f0000), 1 + 1 + 4);
	assert_int_equal(size_of(encoder, bin, 1007, module + 0xfff0000), 1 + 1 + 6);
	assert_int_equal(size_of(encoder, bin, 1003, module + 0x123450), 1 + 1 + 1);
	assert_int_equal(size_of(encoder, bin, 1004, 0x1234567), 1 + 1 + 6);
	/* the context of the last record, and a known one: near leaves, and known ones */
	assert_int_equal(size_of(encoder, bin, 1004, 0x1234560), 1 + 1 + 1);
	assert_int_equal(size_of(encoder, bin, 1000, module + 0x123999), 1 + 1 + 2);
	assert_int_equal(size_of(encoder, bin, 1001, module + 0x123999), 1 + 1 + 1);
	assert_int_equal(size_of(encoder, bin, 1001, module + 0x123999), 2);
	/* a new block of the module before the last, and one that took the place of a known one */
	assert_int_equal(size_of(encoder, bin, 1005, module + 0xff00000), 1 + 1 + 4);
	assert_int_equal(size_of(encoder, bin, 1006, module + 0xff00001), 1 + 1 + 3);
	assert_int_equal(size_of(encoder, bin, 1008, module + 0xf520000), 1 + 1 + 4);
	assert_int_equal(size_of(encoder, bin, 1009, module + 0x120001), 1 + 1 + 5);
	free(bin);
	free(encoder);
}

static uint64_t same_frame(const void *frame, uint32_t context)
{
	(void)context;
	return *(const uint64_t *)frame;
}

/* Up to 10 KiB away, and to 1.5 MiB, on both sides; whatever was seen there before. */
static void leaves_near_their_caller_take_a_byte_or_two_less(void **state)
{
	static const struct {
		int64_t distance;
		unsigned bytes;
	} leaves[] = {{0, 2},       {1, 2},       {-10240, 2},   {10239, 2},    {10240, 3},
	              {-10241, 3},  {1572863, 3}, {-1572864, 3}, {1572864, 4},  {-1572865, 4},
	              {1572865, 3}, {6 << 24, 6}, {0, 1},        {INT32_MAX, 7}};
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);
	uint64_t caller = (uint64_t)3 << 32 | 0x2800000;

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_CPU, (struct code_nodes){same_frame, &caller});
	size_of(encoder, bin, 1000, (uint64_t)3 << 32 | 0x2000000);
	for (uint32_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++)
		assert_int_equal(
			size_of(encoder, bin, 1001 + i, caller + (uint64_t)leaves[i].distance),
			1 + 1 + leaves[i].bytes);
	assert_int_equal(size_of(encoder, bin, 1015, (uint64_t)4 << 32 | 0x2800000), 1 + 1 + 6);
	free(bin);
	free(encoder);
}

/* Nodes that come one after another, and between them some from anywhere; one leaf, a byte. */
static void contexts_on_two_trails_take_a_byte(void **state)
{
	static const struct {
		uint32_t context;
		unsigned bytes;
	} contexts[] = {{6400128, 3},  {6400124, 1},    {70000, 3},   {6400120, 1},  {2000000, 3},
	                {6400104, 1},  {6400119, 1},    {2000015, 1}, {6400112, 1},  {6400064, 2},
	                {6400000, 2},  {1000, 3},       {6553600, 4}, {50331647, 4}, {1000004, 3},
	                {50331648, 5}, {UINT32_MAX, 5}, {1, 1},       {50331640, 4}};
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_CPU, no_nodes);
	size_of(encoder, bin, 10, 0x1230);
	for (unsigned i = 0; i < sizeof(contexts) / sizeof(*contexts); i++)
		assert_int_equal(size_of(encoder, bin, contexts[i].context, 0x1230),
		                 1 + contexts[i].bytes + 1);
	free(bin);
	free(encoder);
}

/* From all over 88 vicinities in a row; the next one takes the place of the first. */
static void contexts_of_known_vicinities_take_two_bytes(void **state)
{
	enum { FIRST = 88 << 8, NR = 88 };
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_CPU, no_nodes);
	size_of(encoder, bin, 10, 0x1230);
	for (uint32_t i = 1; i < NR; i++)
		assert_int_equal(size_of(encoder, bin, FIRST + (i << 8), 0x1230), 1 + 3 + 1);
	for (uint32_t i = 1; i < NR; i++)
		assert_int_equal(size_of(encoder, bin, FIRST + (i << 8 | 255), 0x1230), 1 + 2 + 1);
	assert_int_equal(size_of(encoder, bin, FIRST + (NR + 1) * 256, 0x1230), 1 + 3 + 1);
	assert_int_equal(size_of(encoder, bin, FIRST + 2 * 256 + 100, 0x1230), 1 + 2 + 1);
	assert_int_equal(size_of(encoder, bin, FIRST + 1 * 256 + 100, 0x1230), 1 + 3 + 1);
	free(bin);
	free(encoder);
}

/* Of 300 contexts the last 61 take two bytes when a leaf of theirs is new, and then change places.
 */
static void contexts_that_are_met_again_take_a_byte(void **state)
{
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_CPU, no_nodes);
	for (unsigned i = 0; i < 300; i++)
		size_of(encoder, bin, 1000 + i, 16 * i);
	for (unsigned i = 239; i < 300; i++)
		assert_int_equal(size_of(encoder, bin, 1000 + i, 16 * i + 1), 1 + 2 + 1);
	for (unsigned i = 61; i < 300; i++)
		assert_int_equal(size_of(encoder, bin, 1000 + i, 16 * i + 2), 1 + 1 + 1);
	/* theirs are the numbers that these had */
	assert_int_equal(size_of(encoder, bin, 1000, 1), 1 + 2 + 1);
	assert_int_equal(size_of(encoder, bin, 1000, 2), 1 + 1 + 1);
	free(bin);
	free(encoder);
}

static uint32_t size_at(struct code_encoder *encoder, struct bin *bin, uint64_t time,
                        uint32_t thread, uint32_t cpu)
{
	struct code_sample sample = {.time = time, .step = 1 << 20, .thread = thread, .cpu = cpu};
	uint32_t before = bin->record_bytes;

	code_put(encoder, bin, &sample);
	return bin->record_bytes - before;
}

/*
 * Two streams tick by turns: CPUs, whatever threads run there, or threads, wherever they run. A
 * switch to a site takes a byte, unless it is a new one of a thread that is not near the last new
 * one's, or on a CPU that is neither the last one, nor the one expected, nor its neighbour.
 */
static void tick_by_turns(enum stream_owner owner)
{
	/* all is new: the thread, the step, a leaf, the turn */
	const uint8_t first[] = {12, 6, 3};
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);

	code_begin(encoder, bin, 0, 6, owner, no_nodes);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t stream = i % 2, other = i / 10 % 5 * 2, size = 2;
		bool of_cpu = owner == STREAM_OF_CPU;

		if (i % 10 < 2)
			size = i >= 50 || of_cpu || i % 10 ? 3 : 5;
		if (i < 3)
			size = first[i];
		assert_int_equal(size_at(encoder, bin, (uint64_t)i << 19,
		                         1000 + (of_cpu ? other : stream), of_cpu ? stream : other),
		                 size);
	}
	free(bin);
	free(encoder);
}

static void threads_that_take_turns_are_on_time(void **state)
{
	(void)state;
	tick_by_turns(STREAM_OF_CPU);
}

static void inherited_events_go_on_in_their_threads(void **state)
{
	(void)state;
	tick_by_turns(STREAM_OF_THREAD);
}

/* What a switch takes to a thread that is so far from the last new one, beyond two bytes. */
static void expect_switch(struct code_encoder *encoder, struct bin *bin, uint32_t thread,
                          unsigned bytes)
{
	static uint64_t time;

	time += 1 << 20;
	assert_int_equal(size_at(encoder, bin, time, thread, 0), 2 + bytes);
}

/* Where streams are of threads, a new one goes on by itself, whoever had its number before. */
static void new_threads_go_on_by_themselves(void **state)
{
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);
	uint64_t time = 0;

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_THREAD, no_nodes);
	for (uint32_t i = 0; i < 600; i++) {
		uint32_t switched = size_at(encoder, bin, time += 1000, 1000 + i, 0);
		uint32_t stayed = size_at(encoder, bin, time += 1 << 20, 1000 + i, 0);

		if (i >= 256)
			assert_int_equal(switched, 3);
		if (i)
			assert_int_equal(stayed, 2);
	}
	free(bin);
	free(encoder);
}

/* Short-lived processes: new threads one after the other, and older ones that are met again. */
static void new_threads_take_a_byte(void **state)
{
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);
	uint32_t thread = 1000;

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_CPU, no_nodes);
	size_at(encoder, bin, 0, thread, 0);
	for (unsigned i = 0; i < 100; i++)
		expect_switch(encoder, bin, ++thread, 1);
	expect_switch(encoder, bin, thread += 12, 1);
	expect_switch(encoder, bin, thread -= 3, 1);
	expect_switch(encoder, bin, thread += 13, 2);
	expect_switch(encoder, bin, thread -= 4, 2);
	for (unsigned i = 0; i < 300; i++)
		expect_switch(encoder, bin, ++thread, 1);
	expect_switch(encoder, bin, thread - 29, 1);
	expect_switch(encoder, bin, thread - 30, 2);
	expect_switch(encoder, bin, thread - 255, 2);
	expect_switch(encoder, bin, thread - 256, 3); /* the oldest is known no more */
	free(bin);
	free(encoder);
}

/* New blocks of four modules in turn are near the last one of the same module; of five, none is. */
static void blocks_of_four_modules_take_a_byte_less(void **state)
{
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_CPU, no_nodes);
	for (unsigned i = 0; i < 20; i++) {
		uint64_t leaf = (uint64_t)(i % 4) << 32 | (20 + 2 * i) << 16;

		assert_int_equal(size_of(encoder, bin, 10 + i, leaf), i ? i < 4 ? 7 : 6 : 9);
	}
	for (unsigned i = 0; i < 20; i++) {
		uint64_t leaf = (uint64_t)(10 + i % 5) << 32 | (20 + 2 * i) << 16;

		assert_int_equal(size_of(encoder, bin, 30 + i, leaf), 7);
	}
	free(bin);
	free(encoder);
}

/* Of 300 pairs the last 60 take two bytes when they are met again, and then change places. */
static void pairs_that_are_met_again_take_a_byte(void **state)
{
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_CPU, no_nodes);
	for (unsigned i = 0; i < 300; i++)
		size_of(encoder, bin, 1000 + i, 16 * i);
	for (unsigned i = 240; i < 300; i++)
		assert_int_equal(size_of(encoder, bin, 1000 + i, 16 * i), 1 + 2);
	for (unsigned i = 60; i < 300; i++)
		assert_int_equal(size_of(encoder, bin, 1000 + i, 16 * i), 1 + 1);
	/* theirs are the numbers that these had */
	assert_int_equal(size_of(encoder, bin, 1000, 0), 1 + 2);
	assert_int_equal(size_of(encoder, bin, 1000, 0), 1 + 1);
	assert_int_equal(size_of(encoder, bin, 1060, 16 * 60), 1 + 2);
	free(bin);
	free(encoder);
}

static void read_on(struct code_cursor *cursor, uint32_t context, uint64_t leaf, unsigned pair,
                    bool again)
{
	struct code_sample got;

	assert_int_equal(code_next(cursor, &got), 1);
	assert_int_equal(got.context, context);
	assert_int_equal(got.leaf, leaf);
	assert_int_equal(got.pair, pair);
	assert_int_equal(got.again, again);
}

/* 4096 pairs have a number, of two bytes; the next one is written out whenever it is met. */
static void as_many_pairs_are_known_as_the_page_says(void **state)
{
	enum { NR = 4096 };
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct code_cursor *cursor = malloc(sizeof(*cursor));
	struct bin *bin = new_bin(15, BIN_SAMPLES);

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_CPU, no_nodes);
	for (unsigned i = 0; i <= NR; i++)
		size_of(encoder, bin, 1000 + i % 2, 16 * i);
	assert_int_equal(size_of(encoder, bin, 1001, 16 * (NR - 1)), 1 + 2);
	assert_int_equal(size_of(encoder, bin, 1001, 16 * (NR - 1)), 1 + 1);
	assert_int_equal(size_of(encoder, bin, 1000, 16 * NR), 1 + 1 + 3);
	assert_int_equal(size_of(encoder, bin, 1000, 16 * NR), 1 + 1 + 6);
	assert_int_equal(code_open(cursor, bin, bin_size(bin), no_nodes), 0);
	for (unsigned i = 0; i <= NR; i++)
		read_on(cursor, 1000 + i % 2, 16 * i, i, false);
	read_on(cursor, 1001, 16 * (NR - 1), NR - 1, true);
	read_on(cursor, 1001, 16 * (NR - 1), NR - 1, true);
	read_on(cursor, 1000, 16 * NR, CODE_MAX_PAIRS, false);
	read_on(cursor, 1000, 16 * NR, CODE_MAX_PAIRS, false);
	free(bin);
	free(cursor);
	free(encoder);
}

/*
 * What a time takes: of a stream that is overdue by how much later than the last record it is, and
 * of one that is not by how far from when it was due, in units of 64 ns.
 */
static void each_time_takes_its_bytes(void **state)
{
	static const struct {
		uint64_t residual;
		unsigned bytes;
	} times[] = {{48, 0},        {49, 1},        {2864, 1},      {2865, 2},     {68400, 2},
	             {68401, 2},     {133936, 2},    {133937, 3},    {16780080, 3}, {16780081, 4},
	             {268438320, 4}, {268438321, 5}, {1ULL << 40, 6}};
	const struct code_sample overdue = {.time = 0}, due = {.step = 1ULL << 48, .thread = 300};
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_SAMPLES);

	(void)state;
	code_begin(encoder, bin, 0, 6, STREAM_OF_THREAD, no_nodes);
	for (unsigned i = 0; i < 2; i++) {
		struct code_sample sample = i ? due : overdue;

		code_put(encoder, bin, &sample);
		for (unsigned j = 0; j < sizeof(times) / sizeof(*times); j++) {
			uint64_t residual = times[j].residual;
			uint32_t before = bin->record_bytes;

			sample.time += sample.step + ((i ? unzigzag(residual) : residual) << 6);
			code_put(encoder, bin, &sample);
			assert_int_equal(bin->record_bytes - before, 2 + times[j].bytes);
		}
	}
	free(bin);
	free(encoder);
}

/* Decodes whatever there is, in memory of exactly its size so that the sanitizer sees overruns. */
static unsigned decode(const void *bytes, size_t size, int *end)
{
	struct code_cursor *cursor = malloc(sizeof(*cursor));
	void *copy = aligned_alloc(8, (size + 7) / 8 * 8);
	struct code_sample got;
	unsigned nr = 0;

	memcpy(copy, bytes, size);
	*end = code_open(cursor, copy, size, any_nodes);
	if (!*end)
		while ((*end = code_next(cursor, &got)) == 1)
			assert_true(++nr <= size);
	assert_true(*end == 0 || *end == -EBADMSG);
	free(copy);
	free(cursor);
	return nr;
}

static void any_flipped_byte_is_survived(void **state)
{
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct code_sample *samples = malloc(MAX_SAMPLES * sizeof(*samples));
	int end;

	(void)state;
	for (unsigned round = 0; round < ROUNDS(8); round++) {
		struct bin *bin = new_bin(10, BIN_SAMPLES);
		unsigned char *bytes = (unsigned char *)bin;
		unsigned nr = fill(bin, encoder, samples, 6);

		assert_int_equal(decode(bin, 1024, &end), nr);
		assert_int_equal(end, 0);
		for (unsigned i = 0; i < 1024; i++) {
			unsigned char was = bytes[i];

			for (unsigned bit = 0; bit < 8; bit++) {
				bytes[i] = was ^ (unsigned char)(1 << bit);
				decode(bin, 1024, &end);
			}
			bytes[i] = (unsigned char)~was;
			decode(bin, 1024, &end);
			bytes[i] = was;
		}
		free(bin);
	}
	free(encoder);
	free(samples);
}

static void cut_everywhere(struct bin *bin, unsigned nr)
{
	uint32_t whole = bin->record_bytes;
	unsigned last = 0;
	int end;

	for (uint32_t size = 0; size < whole; size++) {
		unsigned got;

		bin->record_bytes = size;
		got = decode(bin, 2048, &end);
		assert_int_equal(end, -EBADMSG);
		assert_true(got >= last && got < nr);
		last = got;
	}
	assert_int_equal(last, nr - 1);
}

/* A record that was not complete when its writer died is an error behind all that were. */
static void a_cut_bin_gives_its_whole_records(void **state)
{
	struct code_encoder *encoder = malloc(sizeof(*encoder));
	struct code_sample *samples = malloc(MAX_SAMPLES * sizeof(*samples));
	bool seen[2] = {false}; /* without counters, with them */

	(void)state;
	while (!seen[0] || !seen[1]) {
		struct bin *bin = new_bin(11, BIN_SAMPLES);
		unsigned nr = fill(bin, encoder, samples, 6);

		seen[bin->nr_counters > 0] = true;
		cut_everywhere(bin, nr);
		free(bin);
	}
	free(encoder);
	free(samples);
}

static void garbage_is_survived(void **state)
{
	uint64_t words[128];
	struct bin *bin = (void *)words;
	int end;

	(void)state;
	for (unsigned round = 0; round < ROUNDS(30000); round++) {
		size_t size = rnd() % (sizeof(words) + 1);

		for (unsigned i = 0; i < 128; i++)
			words[i] = rnd();
		if (round % 4) { /* a header that may pass */
			bin->size_shift = (uint8_t)(rnd() % 11);
			bin->time_shift %= 41;
			bin->level %= 64;
			bin->nr_counters %= COUNTER_MAX + 2;
			bin->stream_owner %= 3;
			bin->record_bytes %= 1024;
			bin->node_bytes = bin->node_bytes % 8 * 16;
		}
		decode(words, size, &end);
	}
}

/* Bytes of so many records. */
static int end_of(const unsigned char *bytes, size_t size, uint32_t nr)
{
	struct bin *bin = new_bin(10, BIN_SAMPLES);
	int end;

	bin->nr_records = nr;
	bin->record_bytes = (uint32_t)size;
	memcpy(bin_records(bin), bytes, size);
	decode(bin, 1024, &end);
	free(bin);
	return end;
}

/* In a bin with one site, pair, context and leaf, and blocks of five modules. */
static void numbers_of_what_there_is_not_are_refused(void **state)
{
	enum {
		PAIR = WHERE_PAIR,
		CONTEXT = WHERE_CONTEXT,
		RAW = WHERE_RAW,
		SWITCH = WHERE_SWITCH,
		NEW_SITE = SITE_NEW << 2 | SWITCH,
		OLD_SITE = SITE_BYTE << 2 | SWITCH,
		LONG_TIME = TIME_VARINT << 2 | PAIR,
		ANY = LEAF_ANY_BLOCK,
		NEW = LEAF_NEW_BLOCK,
		FIFTH = LEAF_NEW_BLOCK + CODE_MODULES * LEAF_HIGH,
		PREFIX = 11,
	};
	static const struct {
		unsigned char bytes[16];
		uint8_t size;
		bool right;
	} rows[] = {
		{{PAIR, 0}, 2, true},
		{{PAIR, 1}, 2},
		{{SWITCH, PAIR, 0}, 3, true},
		{{1 << 2 | SWITCH, PAIR, 0}, 3},
		{{1 << 2 | SWITCH, PAIR}, 2},
		{{OLD_SITE, 0, PAIR, 0}, 4, true},
		{{OLD_SITE, 1, PAIR, 0}, 4},
		{{SWITCH, SWITCH, 0, 1}, 4},
		{{SWITCH, SWITCH}, 2},
		{{CONTEXT, 1, 1}, 3, true},
		{{CONTEXT, 2, 1}, 3},
		{{CONTEXT, 1, 3}, 3},
		{{RAW, 0, 0}, 3, true},
		{{RAW, 0, 1}, 3},
		{{RAW, 0, LEAF_BLOCK + 1, 0, 0}, 5, true},
		{{RAW, 0, LEAF_CALLER, 0}, 4},  /* no context */
		{{RAW, 32, LEAF_CALLER, 0}, 4}, /* one without a node */
		{{RAW, 4, LEAF_CALLER, 0}, 4, true},
		{{RAW, 4, LEAF_CALLER_2, 0, 0}, 5, true},
		{{RAW, 0, NEW, 0, 0, 0}, 6, true},
		{{RAW, 0, NEW + LEAF_HIGH, 0, 0, 0}, 6},
		{{LONG_TIME, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1, 0}, 12, true},
		{{LONG_TIME, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0}, 12},
	};
	static const unsigned char prefix[PREFIX] = {NEW_SITE, 1, 0, 0, RAW, 0, ANY, 0, 0, 0, 0};
	static const unsigned char modules[] = {RAW, 0, ANY, 1, 0,   0, 0,     RAW, 0, ANY, 2, 0,
	                                        0,   0, RAW, 0, ANY, 3, 0,     0,   0, RAW, 0, ANY,
	                                        4,   0, 0,   0, RAW, 0, FIFTH, 0,   0, 0};
	unsigned char bytes[PREFIX + sizeof(modules)];

	(void)state;
	assert_int_equal(end_of(prefix, PREFIX, 1), 0);
	assert_int_equal(end_of(prefix + 4, PREFIX - 4, 1), -EBADMSG); /* no site */
	memcpy(bytes, prefix, PREFIX);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memcpy(bytes + PREFIX, rows[i].bytes, rows[i].size);
		assert_int_equal(end_of(bytes, PREFIX + rows[i].size, 2),
		                 rows[i].right ? 0 : -EBADMSG);
		assert_int_equal(end_of(bytes, PREFIX + rows[i].size, 1), -EBADMSG);
	}
	memcpy(bytes + PREFIX, modules, sizeof(modules));
	assert_int_equal(end_of(bytes, sizeof(bytes) - 6, 5), 0);
	assert_int_equal(end_of(bytes, sizeof(bytes), 6), -EBADMSG);
}

static void headers_that_contradict_themselves_are_refused(void **state)
{
	static const struct bin bad[] = {
		{.size_shift = 0},
		{.size_shift = 5, .record_bytes = 32}, /* smaller than its own header */
		{.size_shift = 7},
		{.size_shift = 11}, /* behind the end */
		{.size_shift = 25},
		{.size_shift = 63},
		{.size_shift = 255},
		{.size_shift = 10, .record_bytes = 1024 - 39},
		{.size_shift = 10, .record_bytes = UINT32_MAX, .node_bytes = 16},
		{.size_shift = 10, .record_bytes = 970, .node_bytes = 16},
		{.size_shift = 10, .node_bytes = 8},
		{.size_shift = 10, .node_bytes = 1024},
		{.size_shift = 10, .time_shift = 64},
		{.size_shift = 10, .level = 64},
		{.size_shift = 10, .nr_counters = COUNTER_MAX + 1},
		{.size_shift = 10, .stream_owner = STREAM_OF_THREAD + 1},
	};
	static struct code_cursor cursor;
	struct bin *bin = new_bin(10, BIN_SAMPLES);

	(void)state;
	assert_int_equal(code_open(&cursor, bin, 1024, no_nodes), 0);
	assert_int_equal(code_open(&cursor, bin, 1023, no_nodes), -EBADMSG);
	assert_int_equal(code_open(&cursor, bin, 39, no_nodes), -EBADMSG);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		*bin = bad[i];
		assert_int_equal(code_open(&cursor, bin, 1024, no_nodes), -EBADMSG);
	}
	free(bin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_comes_back),
		cmocka_unit_test(usual_records_take_two_bytes),
		cmocka_unit_test(each_way_takes_its_bytes),
		cmocka_unit_test(leaves_near_their_caller_take_a_byte_or_two_less),
		cmocka_unit_test(contexts_on_two_trails_take_a_byte),
		cmocka_unit_test(contexts_of_known_vicinities_take_two_bytes),
		cmocka_unit_test(contexts_that_are_met_again_take_a_byte),
		cmocka_unit_test(threads_that_take_turns_are_on_time),
		cmocka_unit_test(inherited_events_go_on_in_their_threads),
		cmocka_unit_test(new_threads_go_on_by_themselves),
		cmocka_unit_test(new_threads_take_a_byte),
		cmocka_unit_test(blocks_of_four_modules_take_a_byte_less),
		cmocka_unit_test(pairs_that_are_met_again_take_a_byte),
		cmocka_unit_test(as_many_pairs_are_known_as_the_page_says),
		cmocka_unit_test(each_time_takes_its_bytes),
		cmocka_unit_test(any_flipped_byte_is_survived),
		cmocka_unit_test(a_cut_bin_gives_its_whole_records),
		cmocka_unit_test(garbage_is_survived),
		cmocka_unit_test(numbers_of_what_there_is_not_are_refused),
		cmocka_unit_test(headers_that_contradict_themselves_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
