/* Samples that a thread decodes ahead in batches, against a walk that takes one after the other. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>

#include "seal.h"
#include "trace_world.h"

#include "trace/read_ahead.h"

#define NR_SAMPLES 60000 /* more than there are in the batches that can be ahead */

#define MOST 100 /* samples at once: no part of a batch */

/* The bin of a trace whose samples begin last. */
static struct bin *last_bin(unsigned char *bytes)
{
	const struct trace_header *header = (const void *)bytes;
	const struct trace_entry *entry = (const void *)(header + 1);
	struct bin *last = NULL;

	while (entry->section != TRACE_BINS)
		entry++;
	for (uint64_t at = 0; at < entry->size; at += entry->entry_size) {
		struct bin *bin = (void *)(bytes + entry->offset + at);

		if (bin->use == BIN_SAMPLES && (1U << bin->size_shift) == entry->entry_size &&
		    bin->nr_records && (!last || bin->base_time > last->base_time))
			last = bin;
	}
	assert_non_null(last);
	return last;
}

static void damage(const char *path)
{
	int fd = open(path, O_RDWR);
	off_t size = lseek(fd, 0, SEEK_END);
	unsigned char *bytes = malloc((size_t)size);

	assert_int_equal(pread(fd, bytes, (size_t)size, 0), size);
	last_bin(bytes)->record_bytes--;
	seal(bytes, (size_t)size);
	assert_int_equal(pwrite(fd, bytes, (size_t)size, 0), size);
	free(bytes);
	close(fd);
}

static struct trace *record(struct world *w, bool damaged)
{
	world_open(w, 64 << 20);
	put_many(w, NR_SAMPLES);
	assert_int_equal(trace_write(w->path, w->tables, NULL, NULL, NULL), 0);
	if (damaged)
		damage(w->path);
	return open_good(w->path);
}

static void check_sample(const struct trace_sample *got, const struct trace_sample *expected)
{
	assert_int_equal(got->time, expected->time);
	assert_int_equal(got->weight, expected->weight);
	assert_int_equal(got->leaf, expected->leaf);
	assert_int_equal(got->context, expected->context);
	assert_int_equal(got->thread, expected->thread);
	assert_int_equal(got->cpu, expected->cpu);
	assert_int_equal(got->event, expected->event);
	assert_int_equal(got->level, expected->level);
	assert_int_equal(got->pair, expected->pair);
	assert_int_equal(got->again, expected->again);
}

/* How many samples there were. */
static unsigned check_all(const struct trace *trace, int end)
{
	struct trace_walk *walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	struct read_ahead *ahead = read_ahead_new(trace, TRACE_ALL_EVENTS);
	const struct trace_sample *samples;
	struct trace_sample expected;
	unsigned nr = 0, some;
	int got;

	assert_non_null(ahead);
	assert_int_equal(read_ahead_pairs(ahead), trace_walk_pairs(walk));
	do {
		got = read_ahead_some(ahead, MOST, &samples, &some);
		assert_true(some <= MOST);
		for (unsigned i = 0; i < some; i++, nr++) {
			assert_int_equal(trace_walk_next(walk, &expected), 1);
			check_sample(&samples[i], &expected);
		}
	} while (got == 1);
	assert_int_equal(got, end);
	assert_int_equal(trace_walk_next(walk, &expected), end);
	assert_int_equal(read_ahead_some(ahead, MOST, &samples, &some), end);
	assert_int_equal(some, 0);
	read_ahead_free(ahead);
	trace_walk_free(walk);
	return nr;
}

/* The reader decodes. */
static unsigned check_alone(const struct trace *trace, int end)
{
	cpu_set_t before, one;
	unsigned nr;

	CPU_ZERO(&one);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (int i = 0; !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &before))
			CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	nr = check_all(trace, end);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	return nr;
}

static void all_samples_come_in_order(void **state)
{
	struct world w;
	struct trace *trace = record(&w, false);

	(void)state;
	assert_true(check_all(trace, 0) > 20000);
	assert_true(check_alone(trace, 0) > 20000);
	trace_close(trace);
	world_close(&w);
}

static void damage_comes_where_it_is(void **state)
{
	struct world w;
	struct trace *trace = record(&w, true);

	(void)state;
	assert_true(check_all(trace, -EBADMSG) > 1000);
	assert_true(check_alone(trace, -EBADMSG) > 1000);
	trace_close(trace);
	world_close(&w);
}

static void a_reader_may_leave_at_any_time(void **state)
{
	struct world w;
	struct trace *trace = record(&w, false);
	const struct trace_sample *samples;
	unsigned some;

	(void)state;
	for (unsigned nr = 0; nr < 40; nr++) {
		struct read_ahead *ahead = read_ahead_new(trace, 0);

		assert_non_null(ahead);
		for (unsigned i = 0; i < nr; i++)
			assert_true(read_ahead_some(ahead, UINT_MAX, &samples, &some) <= 1);
		read_ahead_free(ahead);
	}
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_samples_come_in_order),
		cmocka_unit_test(damage_comes_where_it_is),
		cmocka_unit_test(a_reader_may_leave_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
