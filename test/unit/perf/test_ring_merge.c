#include "raw_ring.h"

#include "perf/sampler/ring_merge.h"

enum { NR_RINGS = 5, SIZE = 4096, MOST = 4000 };

static const struct record_format format = {.sample_type = RECORD_ALWAYS | PERF_SAMPLE_IP};

struct rings {
	struct merged_ring rings[NR_RINGS];
	struct raw_ring raws[NR_RINGS];
	struct ring_merge merge;
};

static int setup(void **state)
{
	struct rings *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	for (unsigned i = 0; i < NR_RINGS; i++) {
		raw_ring_init(&r->raws[i], &r->rings[i].ring, SIZE, 64 * i);
		/* All rings have one room for what wraps, as a sampler's. */
		r->rings[i].ring.wrapped = r->raws[0].wrapped;
		r->rings[i].format = &format;
		r->rings[i].cpu = i;
	}
	assert_int_equal(ring_merge_init(&r->merge, r->rings, NR_RINGS), 0);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rings *r = *state;

	for (unsigned i = 0; i < NR_RINGS; i++)
		raw_ring_fini(&r->raws[i]);
	ring_merge_fini(&r->merge);
	free(r);
	return 0;
}

/* A sample or another record at this time, with a number to know it by. */
static bool put(struct rings *r, unsigned ring, uint64_t time, uint64_t number)
{
	struct raw raw;

	raw_start(&raw, number % 3 ? PERF_RECORD_SAMPLE : PERF_RECORD_FORK, 0);
	if (number % 3) {
		raw_word(&raw, number);
		raw_word(&raw, 0x401000);
		raw_pair(&raw, 1, 1);
		raw_word(&raw, time);
		raw_word(&raw, 0);
	} else {
		raw_pair(&raw, 1, 2);
		raw_pair(&raw, 1, 2);
		raw_word(&raw, 0);
		raw_trailer(&raw, 1, 1, time, number);
	}
	return raw_ring_write(&r->raws[ring], raw.words, raw_end(&raw));
}

static bool next(struct rings *r, struct record *record)
{
	const struct merged_ring *from;
	size_t size;
	const void *raw = ring_merge_next(&r->merge, &size, &from);

	if (!raw)
		return false;
	assert_ptr_equal(from, &r->rings[from->cpu]);
	assert_int_equal(record_decode(record, raw, size, from->format), 0);
	return true;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Many drains of rings that are written meanwhile come out as one sorted sequence. */
static void as_sorted(void **state)
{
	struct rings *r = *state;
	uint64_t *written = calloc(MOST, sizeof(*written)), seed = 1, time = 1000, last = 0;
	bool *seen = calloc(MOST, sizeof(*seen));
	size_t nr = 0, out = 0;
	struct record record;

	while (out < MOST) {
		for (unsigned n = (unsigned)(raw_random(&seed) % 60); n-- > 0 && nr < MOST;) {
			time += raw_random(&seed) % 3; /* equal ones too */
			if (put(r, (unsigned)(raw_random(&seed) % NR_RINGS), time, nr))
				written[nr++] = time;
		}
		ring_merge_begin(&r->merge, nr == MOST ? UINT64_MAX : time - time % 7);
		while (next(r, &record)) {
			assert_true(record.time >= last);
			assert_int_equal(record.time, written[record.id]);
			assert_false(seen[record.id]);
			seen[record.id] = true;
			last = record.time;
			out++;
		}
	}
	assert_int_equal(nr, MOST);
	assert_int_equal(r->merge.late, 0);
	for (unsigned i = 0; i < NR_RINGS; i++)
		assert_int_equal(r->raws[i].page->data_tail, r->raws[i].page->data_head);
	free(written);
	free(seen);
}

/* One drain against a sort, with rings of very different fill. */
static void one_drain(void **state)
{
	struct rings *r = *state;
	uint64_t times[300], seed = 9, start[NR_RINGS] = {0};
	struct record record;
	size_t nr = 0;

	while (nr < 300) {
		unsigned ring = raw_random(&seed) % 8 ? 0 : (unsigned)(raw_random(&seed) % 3);
		uint64_t time = start[ring] += 1 + raw_random(&seed) % (ring ? 1000 : 10);

		if (!put(r, ring, time, nr))
			break;
		times[nr++] = time;
	}
	assert_true(nr > 50);
	qsort(times, nr, sizeof(*times), compare);
	ring_merge_begin(&r->merge, UINT64_MAX);
	for (size_t i = 0; i < nr; i++) {
		assert_true(next(r, &record));
		assert_int_equal(record.time, times[i]);
	}
	assert_false(next(r, &record));
	assert_false(next(r, &record));
}

static void horizon(void **state)
{
	struct rings *r = *state;
	struct record record;

	put(r, 0, 10, 1);
	put(r, 0, 20, 2);
	put(r, 1, 15, 4);
	put(r, 1, 30, 5);
	ring_merge_begin(&r->merge, 20);
	assert_true(next(r, &record));
	assert_int_equal(record.time, 10);
	assert_true(next(r, &record));
	assert_int_equal(record.time, 15);
	assert_false(next(r, &record)); /* what is at the horizon stays */
	ring_merge_begin(&r->merge, 20);
	assert_false(next(r, &record));
	ring_merge_begin(&r->merge, 31);
	assert_true(next(r, &record));
	assert_int_equal(record.time, 20);
	assert_true(next(r, &record));
	assert_int_equal(record.time, 30);
	assert_false(next(r, &record));
}

/* Behind the front: delivered all the same, and counted. */
static void late_records(void **state)
{
	struct rings *r = *state;
	struct record record;

	put(r, 0, 100, 1);
	ring_merge_begin(&r->merge, UINT64_MAX);
	while (next(r, &record))
		continue;
	put(r, 1, 50, 2);
	put(r, 2, 120, 4);
	put(r, 2, 110, 5); /* out of order in one ring, as a nested interrupt writes them */
	ring_merge_begin(&r->merge, UINT64_MAX);
	assert_true(next(r, &record));
	assert_int_equal(record.time, 50);
	assert_int_equal(r->merge.late, 1);
	assert_true(next(r, &record));
	assert_int_equal(record.time, 120);
	assert_true(next(r, &record));
	assert_int_equal(record.time, 110);
	assert_false(next(r, &record));
	assert_int_equal(r->merge.late, 2);
	put(r, 1, 115, 7); /* behind the latest, if not behind the last */
	ring_merge_begin(&r->merge, UINT64_MAX);
	assert_true(next(r, &record));
	assert_int_equal(r->merge.late, 3);
}

/* The kernel gets room back in the course of a long drain, not only after it. */
static void room_comes_back_early(void **state)
{
	struct rings *r = *state;
	struct record record;
	uint64_t number = 1;

	while (put(r, 0, number, number))
		number += 3;
	ring_merge_begin(&r->merge, UINT64_MAX);
	for (unsigned i = 0; i < 20; i++)
		assert_true(next(r, &record));
	assert_true(put(r, 0, number, number));
	while (next(r, &record))
		continue;
}

/* A ring that makes no sense is skipped to its head, and does not hold up the others. */
static void broken_ring(void **state)
{
	struct rings *r = *state;
	struct record record;
	uint64_t nonsense = 0;

	put(r, 0, 10, 1);
	raw_ring_write(&r->raws[0], &nonsense, sizeof(nonsense));
	put(r, 0, 11, 2);
	put(r, 1, 12, 4);
	ring_merge_begin(&r->merge, UINT64_MAX);
	assert_true(next(r, &record));
	assert_int_equal(record.time, 10);
	assert_true(next(r, &record));
	assert_int_equal(record.time, 12);
	assert_false(next(r, &record));
	assert_int_equal(r->merge.broken, 1);
	put(r, 0, 20, 5);
	ring_merge_begin(&r->merge, UINT64_MAX);
	assert_true(next(r, &record));
	assert_int_equal(record.time, 20);
	assert_int_equal(r->merge.broken, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(as_sorted),
		TEST(one_drain),
		TEST(horizon),
		TEST(late_records),
		TEST(room_comes_back_early),
		TEST(broken_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
