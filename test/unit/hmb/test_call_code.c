#include "cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "hmb/call_put.h"
#include "random_bins.h"

enum { MAX_CALLS = 4096, TIME_SHIFT = 4, NR_LIKES = 40 };

struct kept {
	struct call call;
	struct call_part parts[CALL_CODE_PARTS];
};

/* --- anything --------------------------------------------------------------------------------- */

static struct call_part random_part(unsigned bits)
{
	struct call_part part;
	unsigned fields;

	memset(&part, 0, sizeof(part));
	part.type = (uint8_t)(rnd() % NR_CALL_PARTS);
	fields = call_part_fields(part.type);
	if (fields & PART_COMM)
		part.comm = (uint32_t)rnd_bits(bits % 33);
	if (fields & PART_PEER)
		part.peer = (int32_t)rnd_bits(bits % 33);
	if (fields & PART_TAG)
		part.tag = -(int32_t)(uint32_t)rnd_bits(bits % 32);
	if (fields & PART_BYTES)
		part.bytes = rnd_bits(bits);
	if (fields & PART_BYTES_IN)
		part.bytes_in = rnd_bits(bits);
	if (fields & PART_REQUEST)
		part.request = rnd_bits(bits);
	return part;
}

/* The same with another peer, or of another size. */
static void vary_part(struct call_part *part, unsigned bits)
{
	unsigned fields = call_part_fields(part->type);

	if (fields & PART_PEER && rnd() % 2)
		part->peer = (int32_t)rnd_bits(bits % 33);
	if (fields & PART_TAG && rnd() % 2)
		part->tag = (int32_t)rnd_bits(bits % 33);
	if (fields & PART_BYTES && rnd() % 2)
		part->bytes = rnd_bits(bits);
	if (fields & PART_BYTES_IN && rnd() % 2)
		part->bytes_in = rnd_bits(bits);
}

static void random_call(struct kept *kept, const struct kept *last, unsigned bits, uint64_t *time)
{
	struct call *call = &kept->call;

	memset(kept, 0, sizeof(*kept));
	if (last && rnd() % 4) { /* much like the last one */
		*kept = *last;
		call->parts = kept->parts;
		if (call->nr_parts && rnd() % 4 == 0)
			kept->parts[rnd() % call->nr_parts] = random_part(bits);
		for (uint32_t i = 0; i < call->nr_parts; i++)
			vary_part(&kept->parts[i], bits);
	} else {
		call->thread = (uint32_t)rnd_bits(bits % 33);
		call->region = (uint32_t)rnd_bits(bits % 33);
		call->depth = (uint32_t)rnd_bits(bits % 33);
		call->site = rnd() % 2 ? (uint32_t)rnd_bits(bits % 33) : 0;
		call->flags = (uint32_t)(rnd() % 4);
		call->nr_parts = (uint32_t)(rnd() % (CALL_CODE_PARTS + 1));
		call->parts = kept->parts;
		for (uint32_t i = 0; i < call->nr_parts; i++)
			kept->parts[i] = random_part(bits);
	}
	if (last && rnd() % 4 == 0)
		return; /* the same times */
	*time += rnd_bits(bits % 40);
	call->leave = *time;
	call->enter = *time - rnd_bits(bits % 40) % (*time + 1);
}

static void check_call(const struct call *got, const struct kept *kept, unsigned shift)
{
	assert_int_equal(got->enter, kept->call.enter >> shift << shift);
	assert_int_equal(got->leave, kept->call.leave >> shift << shift);
	assert_int_equal(got->thread, kept->call.thread);
	assert_int_equal(got->region, kept->call.region);
	assert_int_equal(got->flags, kept->call.flags);
	assert_int_equal(got->depth, kept->call.depth);
	assert_int_equal(got->site, kept->call.site);
	assert_int_equal(got->nr_parts, kept->call.nr_parts);
	for (uint32_t i = 0; i < got->nr_parts; i++) {
		const struct call_part *a = &got->parts[i], *b = &kept->parts[i];

		assert_int_equal(a->type, b->type);
		assert_int_equal(a->comm, b->comm);
		assert_int_equal(a->peer, b->peer);
		assert_int_equal(a->tag, b->tag);
		assert_int_equal(a->bytes, b->bytes);
		assert_int_equal(a->bytes_in, b->bytes_in);
		assert_int_equal(a->request, b->request);
	}
}

static void check_bin(const struct bin *bin, const struct kept *kept, size_t nr)
{
	struct call_cursor *cursor = malloc(sizeof(*cursor));
	struct call call;

	assert_int_equal(call_code_open(cursor, bin, bin_size(bin)), 0);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(call_code_next(cursor, &call), 1);
		check_call(&call, &kept[i], bin->time_shift);
	}
	assert_int_equal(call_code_next(cursor, &call), 0);
	free(cursor);
}

static void test_round_trip(void **state)
{
	struct kept *kept = calloc(MAX_CALLS, sizeof(*kept));
	struct call_encoder *encoder = calloc(1, sizeof(*encoder));

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct bin *bin = new_bin(8 + (unsigned)(rnd() % 7), BIN_CALLS);
		uint64_t time = rnd_bits(50);
		unsigned bits = 1 + (unsigned)(rnd() % 64);
		size_t nr = 0;

		call_code_begin(encoder, bin, time, (unsigned)(rnd() % 11));
		while (bin_room(bin) >= CALL_CODE_MAX_RECORD && nr < MAX_CALLS) {
			uint32_t before = bin->record_bytes;

			random_call(&kept[nr], nr ? &kept[nr - 1] : NULL, bits, &time);
			call_code_put(encoder, bin, &kept[nr++].call);
			assert_true(bin->record_bytes - before <=
			            CALL_CODE_ROOM(kept[nr - 1].call.nr_parts));
		}
		check_bin(bin, kept, nr);
		free(bin);
	}
	free(encoder);
	free(kept);
}

/* Calls of a few kinds, in which requests are mostly those that are expected. */
static void like_call(struct kept *kept, struct kept *likes, uint64_t *time, uint64_t requests[2])
{
	struct call *call = &kept->call;
	unsigned like = (unsigned)(rnd() % NR_LIKES);

	*kept = likes[like];
	call->parts = kept->parts;
	call->alike = like + 1;
	call->thread = rnd() % 50 ? 3 : 4;
	call->enter = *time += rnd_bits(12);
	call->leave = *time += rnd_bits(rnd() % 20 ? 12 : 40);
	if (rnd() % 30 == 0)
		call->enter -= call->enter < 5000 ? 0 : 5000;
	for (uint32_t i = 0; i < call->nr_parts; i++) {
		unsigned fields = call_part_fields(kept->parts[i].type);
		uint64_t *last = &requests[!(fields & PART_POSTS)];

		if (!(fields & PART_REQUEST))
			continue;
		kept->parts[i].request = *last + 1 + (rnd() % 20 ? 0 : rnd_bits(8));
		if (!(fields & PART_ASKS))
			*last = kept->parts[i].request;
	}
}

/* What is written without a look at the parts says the same. */
static void test_alike(void **state)
{
	struct kept *kept = calloc(MAX_CALLS, sizeof(*kept)), likes[NR_LIKES];
	struct call_encoder *encoder = calloc(1, sizeof(*encoder));
	unsigned nr_alike = 0;

	(void)state;
	for (unsigned round = 0; round < 100; round++) {
		struct bin *bin = new_bin(8 + (unsigned)(rnd() % 7), BIN_CALLS);
		uint64_t time = rnd_bits(50), first = time, requests[2] = {0};
		size_t nr = 0;

		for (unsigned i = 0; i < NR_LIKES; i++) {
			random_call(&likes[i], i % 4 ? &likes[i - 1] : NULL, 4, &time);
			likes[i].call.flags = 0;
			for (unsigned j = 0; i % 4 && j < likes[i].call.nr_parts; j++)
				if (likes[i].parts[j].bytes)
					likes[i].parts[j].bytes = rnd_bits(12);
		}
		call_code_begin(encoder, bin, first, (unsigned)(rnd() % 11));
		while (bin_room(bin) >= CALL_CODE_MAX_RECORD && nr < MAX_CALLS) {
			like_call(&kept[nr], likes, &time, requests);
			if (call_put_alike(encoder, bin, &kept[nr].call))
				nr_alike++;
			else
				call_code_put(encoder, bin, &kept[nr].call);
			nr++;
		}
		check_bin(bin, kept, nr);
		free(bin);
	}
	assert_true(nr_alike > 1000);
	free(encoder);
	free(kept);
}

/* The largest of everything still fits. */
static void test_largest(void **state)
{
	struct call_encoder *encoder = calloc(1, sizeof(*encoder));
	struct kept kept[2];

	(void)state;
	memset(kept, 0, sizeof(kept));
	for (unsigned n = 0; n < 2; n++) {
		struct call *call = &kept[n].call;

		call->thread = call->region = call->depth = call->site = UINT32_MAX - n;
		call->nr_parts = CALL_CODE_PARTS;
		call->parts = kept[n].parts;
		call->leave = (uint64_t)n << 62;
		for (unsigned i = 0; i < CALL_CODE_PARTS; i++)
			kept[n].parts[i] = (struct call_part){.type = CALL_COLLECTIVE_DONE,
			                                      .comm = UINT32_MAX,
			                                      .peer = INT32_MIN,
			                                      .bytes = UINT64_MAX,
			                                      .bytes_in = UINT64_MAX,
			                                      .request = UINT64_MAX / 2};
	}
	for (unsigned n = 0; n < 2; n++) {
		struct bin *bin = new_bin(8, BIN_CALLS);

		call_code_begin(encoder, bin, 0, 0);
		call_code_put(encoder, bin, &kept[n].call);
		check_bin(bin, &kept[n], 1);
		free(bin);
	}
	free(encoder);
}

/* --- what programs do ------------------------------------------------------------------------- */

/* Neighbours exchange messages of changing sizes: irecv, send, wait; now and then a sum. */
static void neighbour_call(struct kept *kept, size_t n, uint64_t *time)
{
	struct call_part *part = kept->parts;
	size_t step = n / 3;
	int peer = (int)(step % 6);

	memset(kept, 0, sizeof(*kept));
	*part = (struct call_part){
		.comm = 1, .peer = peer, .tag = 0, .bytes = 800 + rnd() % 64 * 8};
	kept->call = (struct call){.region = (uint32_t)(n % 3), .nr_parts = 1, .parts = part};
	if (n % 3 == 0)
		*part = (struct call_part){.type = CALL_RECEIVE_POSTED, .request = step + 1};
	if (n % 3 == 1)
		part->type = CALL_SEND;
	if (n % 3 == 2)
		*part = (struct call_part){.type = CALL_RECEIVE_DONE,
		                           .comm = 1,
		                           .peer = peer,
		                           .bytes = 800 + rnd() % 64 * 8,
		                           .request = step + 1};
	kept->call.enter = *time += 100 + rnd() % 2000;
	kept->call.leave = *time += 80 + rnd() % 1500;
}

static void test_bytes(void **state)
{
	struct kept *kept = calloc(MAX_CALLS, sizeof(*kept));
	struct call_encoder *encoder = calloc(1, sizeof(*encoder));
	struct bin *bin = new_bin(14, BIN_CALLS);
	uint64_t time = 1234567890123;
	size_t nr = 0;

	(void)state;
	call_code_begin(encoder, bin, time, TIME_SHIFT);
	while (bin_room(bin) >= CALL_CODE_MAX_RECORD && nr < MAX_CALLS) {
		neighbour_call(&kept[nr], nr, &time);
		call_code_put(encoder, bin, &kept[nr++].call);
	}
	check_bin(bin, kept, nr);
	print_message("%.2f bytes a call\n", (double)bin->record_bytes / (double)nr);
	assert_true(bin->record_bytes <= 6 * nr);
	free(bin);
	free(encoder);
	free(kept);
}

/* Sizes that change are told by their differences from the fifth on, peers from the 65th on. */
static void test_differences(void **state)
{
	enum { NR = 300 };
	struct kept *kept = calloc(NR, sizeof(*kept));
	struct call_encoder *encoder = calloc(1, sizeof(*encoder));

	(void)state;
	for (unsigned peers = 0; peers < 2; peers++) {
		struct bin *bin = new_bin(14, BIN_CALLS);

		call_code_begin(encoder, bin, 0, 0);
		for (unsigned n = 0; n < NR; n++) {
			struct call_part *parts = kept[n].parts;

			parts[0] = (struct call_part){.type = CALL_SEND, .bytes = rnd_bits(20)};
			if (peers)
				parts[0].peer = (int32_t)(n * 7 % NR),
				parts[0].tag = (int32_t)rnd();
			parts[1] = (struct call_part){.type = CALL_COLLECTIVE,
			                              .bytes = rnd_bits(20),
			                              .bytes_in = rnd_bits(20)};
			parts[2] = (struct call_part){.type = CALL_VALUE, .bytes = rnd_bits(64)};
			kept[n].call = (struct call){.nr_parts = 3, .parts = parts};
			call_code_put(encoder, bin, &kept[n].call);
		}
		assert_int_equal(encoder->model.nr_shapes, peers ? 65 : 5);
		check_bin(bin, kept, NR);
		free(bin);
	}
	free(encoder);
	free(kept);
}

/* Shapes that come when all numbers are taken are written out each time. */
static void test_many_shapes(void **state)
{
	enum { NR = CALL_CODE_SHAPES + 100 };
	struct kept *kept = calloc(2 * NR, sizeof(*kept));
	struct call_encoder *encoder = calloc(1, sizeof(*encoder));
	struct bin *bin = new_bin(15, BIN_CALLS);

	(void)state;
	call_code_begin(encoder, bin, 0, 0);
	for (uint32_t n = 0; n < 2 * NR; n++) {
		kept[n].call.region = n % NR;
		call_code_put(encoder, bin, &kept[n].call);
	}
	assert_int_equal(encoder->model.nr_shapes, CALL_CODE_SHAPES);
	check_bin(bin, kept, 2 * NR);
	free(bin);
	free(encoder);
	free(kept);
}

/* --- in the buffer ---------------------------------------------------------------------------- */

static struct hmb *make_buffer(size_t share)
{
	return buffer_new((struct hmb_config){
		.size = 64 << 10,
		.nr_kinds = 2,
		.kinds[1] = {.content = HMB_CALLS, .time_shift = TIME_SHIFT, .share = share},
		.max_path = 4});
}

static void see_parts(struct call_cursor *cursor, const struct bin *bin, uint32_t *seen)
{
	struct call call;

	assert_int_equal(call_code_open(cursor, bin, bin_size(bin)), 0);
	while (call_code_next(cursor, &call) == 1) {
		assert_int_equal(call.enter, 1600);
		assert_int_equal(call.leave, 3200);
		for (uint32_t i = 0; i < call.nr_parts; i++)
			assert_int_equal(call.parts[i].request, ++*seen);
		assert_int_equal(!(call.flags & CALL_CONTINUED), *seen == 100);
	}
}

/* A wait for many requests is one call, in as many records as it needs. */
static void test_many_parts(void **state)
{
	struct call_part parts[100];
	struct call call = {.enter = 1600, .leave = 3200, .parts = parts, .nr_parts = 100};
	struct call_cursor *cursor = malloc(sizeof(*cursor));
	uint32_t seen = 0;
	struct hmb *hmb = make_buffer(0);

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		parts[i] = (struct call_part){.type = CALL_SEND_DONE, .request = i + 1};
	assert_true(hmb_put_call(hmb, 1, 0, &call));
	assert_int_equal(hmb_stored(hmb, 1), 1);
	assert_int_equal(hmb->ledger->taken[1], 1);
	see_parts(cursor, bin_at(&hmb->arena, hmb->kinds[1].levels[0].sub_bins.first), &seen);
	see_parts(cursor, hmb->kinds[1].levels[0].open, &seen);
	assert_int_equal(seen, 100);
	free(cursor);
	buffer_free(hmb);
}

static void test_share(void **state)
{
	struct kept kept;
	uint64_t time = 0, stored = 0;
	struct hmb *hmb = make_buffer(32 << 10);

	(void)state;
	for (size_t n = 0; n < 20000; n++) {
		neighbour_call(&kept, n, &time);
		if (hmb_put_call(hmb, 1, n % 2, &kept.call))
			stored++;
	}
	assert_true(stored > 2500 && stored < 20000);
	assert_int_equal(hmb_stored(hmb, 1), 0);
	assert_int_equal(hmb_floor(hmb, 1), NR_LEVELS);
	assert_int_equal(hmb->ledger->taken[1], 20000);
	assert_int_equal(hmb->ledger->reductions[1][0].cause, HMB_CAUSE_SHARE);
	buffer_free(hmb);
}

/* --- bytes from anywhere ---------------------------------------------------------------------- */

static void test_hostile(void **state)
{
	struct call_cursor *cursor = malloc(sizeof(*cursor));
	struct call_encoder *encoder = calloc(1, sizeof(*encoder));
	struct kept kept;
	struct call call;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		struct bin *bin = new_bin(10, BIN_CALLS);
		uint64_t time = rnd_bits(60);
		size_t nr = 0;
		int got;

		call_code_begin(encoder, bin, time, 3);
		while (bin_room(bin) >= CALL_CODE_MAX_RECORD) {
			random_call(&kept, NULL, 1 + (unsigned)(rnd() % 40), &time);
			call_code_put(encoder, bin, &kept.call);
		}
		for (unsigned i = 0; i < 1 + round % 64; i++)
			bin_records(bin)[rnd() % bin->record_bytes] = (unsigned char)rnd();
		bin->nr_records = UINT32_MAX;
		assert_int_equal(call_code_open(cursor, bin, bin_size(bin)), 0);
		while ((got = call_code_next(cursor, &call)) == 1) {
			assert_true(call.enter <= call.leave && call.nr_parts <= CALL_CODE_PARTS);
			assert_true(++nr <= bin->record_bytes);
		}
		assert_int_equal(got, -EBADMSG);
		free(bin);
	}
	free(encoder);
	free(cursor);
}

/* Bytes of so many records; how many can be read, or -EBADMSG. */
static int read_bytes(const unsigned char *bytes, size_t size, uint32_t nr)
{
	struct call_cursor *cursor = malloc(sizeof(*cursor));
	struct bin *bin = new_bin(10, BIN_CALLS);
	struct call call;
	int got, read = 0;

	bin->nr_records = nr;
	bin->record_bytes = (uint32_t)size;
	bin->time_shift = TIME_SHIFT;
	memcpy(bin_records(bin), bytes, size);
	bin->base_time = UINT64_MAX >> TIME_SHIFT;
	assert_int_equal(call_code_open(cursor, bin, bin_size(bin)), 0);
	assert_int_equal(call_code_open(cursor, bin, bin_size(bin) - 1), -EBADMSG);
	bin->base_time++;
	assert_int_equal(call_code_open(cursor, bin, bin_size(bin)), -EBADMSG);
	bin->base_time = 0;
	assert_int_equal(call_code_open(cursor, bin, bin_size(bin)), 0);
	while ((got = call_code_next(cursor, &call)) == 1)
		read++;
	free(bin);
	free(cursor);
	return got ? got : read;
}

/* Everything that a record names must be there, and every time a time. */
static void test_refused(void **state)
{
	enum {
		KNOWN = CONTROL_THREAD,
		THREAD = CONTROL_NEW_THREAD,
		NEW = CONTROL_NEW,
		MORE = SHAPE_MORE,
		BACK = SHAPE_BACK,
		GOES_ON = CALL_CONTINUED,
		KIND = NR_CALL_PARTS,
	};
	static const struct {
		unsigned char bytes[24];
		uint8_t size, nr;
		bool right;
	} rows[] = {
		{{THREAD, 7, NEW, 0, 0, 0, 0, 0, 0}, 9, 1, true},
		{{THREAD, 7, NEW, 0, 0, 0, 0, 0, 0, 0}, 10, 1},
		{{THREAD, 7, NEW, 0, 0, 0, 0, 0}, 8, 1},
		{{NEW, 0, 0, 0, 0, 0, 0}, 7, 1},                     /* of no thread */
		{{KNOWN, 0, NEW, 0, 0, 0, 0, 0, 0}, 9, 1},           /* of one that was not named */
		{{THREAD, 7, THREAD, 7, NEW, 0, 0, 0, 0, 0}, 11, 1}, /* of two */
		{{THREAD, 7, KNOWN, 0, NEW, 0, 0, 0, 0, 0}, 11, 1},
		{{THREAD, 7, 0, 0, 0}, 5, 1}, /* of a shape that is not known */
		{{THREAD, 7, NEW, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 12, 2, true},
		{{THREAD, 7, NEW, 0, 0, 0, 0, 0, 0, 1, 0, 0}, 12, 2},
		{{THREAD, 7, NEW, 0, 0, 0, 0, 0, 0, KNOWN, 0, 0, 0, 0}, 14, 2, true},
		{{THREAD, 7, NEW, 0, 0, 0, 0, 0, 0, KNOWN, 1, 0, 0, 0}, 14, 2},
		{{THREAD, 255, 255, 255, 255, 15, NEW, 0, 0, 0, 0, 0, 0}, 13, 1, true},
		{{THREAD, 255, 255, 255, 255, 16, NEW, 0, 0, 0, 0, 0, 0}, 13, 1},
		{{THREAD, 7, NEW, SHAPE_SITE, 0, 0, 1, 0, 0, 0}, 10, 1, true},
		{{THREAD, 7, NEW, SHAPE_SITE, 0, 0, 0, 0, 0}, 9, 1},
		{{THREAD, 7, NEW, 0, 0, 0, 1, KIND, 0, 0}, 10, 1},
		{{THREAD, 7, NEW, MORE, 0, 0, 0}, 7, 1}, /* of nothing */
		{{THREAD, 7, NEW, 0, 0, 0, 0, 0, 0, NEW, MORE, 0, 0, 0}, 14, 2},
		{{THREAD, 7, NEW, GOES_ON, 0, 0, 0, 0, 0, NEW, MORE, 0, 0, 0}, 14, 2, true},
		{{THREAD, 7, NEW, BACK, 0, 0, 0, 0, 0}, 9, 1, true},
		{{THREAD, 7, NEW, BACK, 0, 0, 0, 1, 0}, 9, 1}, /* before time began */
		/* and when it ends, of which a bin has 60 bits */
		{{THREAD, 7, NEW, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 15},
	         17,
	         1,
	         true},
		{{THREAD, 7, NEW, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 255, 15},
	         17,
	         1},
		{{THREAD, 7, NEW, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 16, 0},
	         17,
	         1},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(read_bytes(rows[i].bytes, rows[i].size, rows[i].nr),
		                 rows[i].right ? rows[i].nr : -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_largest),
		cmocka_unit_test(test_bytes),       cmocka_unit_test(test_many_parts),
		cmocka_unit_test(test_share),       cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_alike),       cmocka_unit_test(test_refused),
		cmocka_unit_test(test_differences), cmocka_unit_test(test_many_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
