/* A recording that is looked at while it goes on, against the trace that it would write then. */
#include "trace_world.h"

#include "trace/live/live_trace.h"
#include "trace/live/tables_layout.h"

#include <errno.h>

enum { BUDGET = 256 << 10 };

/* The recorder says how far it is with its first sample. */
static void say_end(struct world *w)
{
	tables_run(w->tables)->end = ((uint64_t)1000 + w->nr * 300) << TIME_SHIFT;
}

static void world_begin(struct world *w)
{
	world_open(w, BUDGET);
	put_many(w, 500);
	say_end(w);
}

static struct live_trace *open_live(const struct world *w)
{
	struct live_trace *live = live_trace_open(w->path);

	assert_non_null(live);
	assert_int_equal(live_trace_update(live), 0);
	assert_int_equal(live_trace_state(live), LIVE_RECORDING);
	return live;
}

static void same_sample(const struct trace *a, const struct trace_sample *x, const struct trace *b,
                        const struct trace_sample *y)
{
	uint64_t x_frames[MAX_DEPTH + 2], y_frames[MAX_DEPTH + 2];
	size_t depth = trace_stack(a, x, x_frames, MAX_DEPTH + 2);

	assert_int_equal(x->time, y->time);
	assert_int_equal(x->weight, y->weight);
	assert_int_equal(x->event, y->event);
	assert_int_equal(x->level, y->level);
	assert_int_equal(x->thread, y->thread);
	assert_int_equal(x->cpu, y->cpu);
	assert_int_equal(depth, trace_stack(b, y, y_frames, MAX_DEPTH + 2));
	assert_memory_equal(x_frames, y_frames, depth * sizeof(*x_frames));
}

static void same_samples(const struct trace *a, const struct trace *b)
{
	struct trace_walk *of_a = trace_walk_new(a, TRACE_ALL_EVENTS);
	struct trace_walk *of_b = trace_walk_new(b, TRACE_ALL_EVENTS);
	struct trace_sample x, y;
	int got;

	do {
		got = trace_walk_next(of_a, &x);
		assert_int_equal(got, trace_walk_next(of_b, &y));
		if (got == 1)
			same_sample(a, &x, b, &y);
	} while (got == 1);
	assert_int_equal(got, 0);
	trace_walk_free(of_a);
	trace_walk_free(of_b);
}

static void same_tables(const struct trace *a, const struct trace *b)
{
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		assert_int_equal(trace_event(a, i)->taken, trace_event(b, i)->taken);
		assert_int_equal(trace_event(a, i)->stored, trace_event(b, i)->stored);
		assert_int_equal(trace_event(a, i)->floor, trace_event(b, i)->floor);
	}
	assert_int_equal(trace_nr(a, TRACE_THREADS), trace_nr(b, TRACE_THREADS));
	assert_string_equal(trace_string(a, trace_run(a)->command),
	                    trace_string(b, trace_run(b)->command));
}

static void same_as_written(const struct world *w, const struct live_trace *live)
{
	char why[TRACE_WHY_SIZE];
	struct trace *written = trace_open_tables(w->tables, NULL, why);

	assert_non_null(written);
	same_tables(live_trace_of(live), written);
	same_samples(live_trace_of(live), written);
	trace_close(written);
}

static void a_recording_that_goes_on(void **state)
{
	struct live_trace *live;
	struct world w;

	(void)state;
	world_begin(&w);
	live = open_live(&w);
	for (int i = 0; i < 40; i++) {
		same_as_written(&w, live);
		put_many(&w, (size_t)1 << i % 14);
		say_end(&w);
		assert_int_equal(live_trace_update(live), 0);
	}
	assert_true(hmb_floor(w.hmb, 0) > 2); /* bins came to other lists */
	same_as_written(&w, live);
	live_trace_close(live);
	world_close(&w);
}

/* Floors fall when kinds are cleared, and bins of before are dead all the same. */
static void a_recording_that_is_cleared(void **state)
{
	struct live_trace *live;
	struct world w;

	(void)state;
	world_begin(&w);
	put_many(&w, 5000);
	say_end(&w);
	live = open_live(&w);
	for (unsigned i = 0; i < 30; i++) {
		assert_int_equal(live_trace_update(live), 0);
		same_as_written(&w, live);
		hmb_clear(w.hmb, i % 3 != 0);
		put_many(&w, (size_t)1 << i % 11);
		say_end(&w);
	}
	live_trace_close(live);
	world_close(&w);
}

/* A raised floor gives what a longer period would have sampled. */
static void the_highest_levels(void **state)
{
	struct live_trace *live;
	const struct trace *trace;
	struct trace_walk *walk;
	struct trace_sample sample;
	uint64_t nr = 0, weight = 0, chosen = 0, chosen_weight = 0;
	struct world w;

	(void)state;
	world_begin(&w);
	put_many(&w, 3000);
	say_end(&w);
	live = open_live(&w);
	trace = live_trace_of(live);
	walk = trace_walk_new(trace, 0);
	for (; trace_walk_next(walk, &sample) == 1; nr++)
		weight += sample.weight;
	trace_walk_free(walk);
	live_trace_choose(live, 0, nr / 3);
	walk = trace_walk_new(trace, 0);
	for (; trace_walk_next(walk, &sample) == 1; chosen++)
		chosen_weight += sample.weight;
	trace_walk_free(walk);
	assert_in_range(chosen, nr / 8, nr / 3);
	assert_in_range(chosen_weight, weight * 8 / 10, weight * 12 / 10);
	live_trace_close(live);
	world_close(&w);
}

static uint64_t samples_since(const struct trace *trace, uint64_t from, uint64_t *read)
{
	struct trace_walk *walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	struct trace_sample sample;
	uint64_t nr = 0;

	for (*read = 0; trace_walk_next(walk, &sample) == 1; ++*read)
		nr += sample.time >= from;
	trace_walk_free(walk);
	return nr;
}

/* Walks since a time see all samples since then, and few others. */
static void samples_since_a_time(void **state)
{
	struct live_trace *live;
	struct world w;

	(void)state;
	world_begin(&w);
	put_many(&w, 20000);
	say_end(&w);
	live = open_live(&w);
	for (uint64_t part = 1; part < 40; part++) {
		uint64_t end = trace_run(live_trace_of(live))->end, read, all;
		uint64_t from = end - end / 400 * part * part / 4;
		uint64_t right;

		live_trace_choose(live, 0, UINT64_MAX);
		right = samples_since(live_trace_of(live), from, &all);
		live_trace_choose(live, from, UINT64_MAX);
		assert_int_equal(samples_since(live_trace_of(live), from, &read), right);
		assert_true(part > 5 || read < all / 2);
	}
	live_trace_close(live);
	world_close(&w);
}

/* Returns whether there is one more sample at or after a time. */
static bool next_since(struct trace_walk *walk, uint64_t from, struct trace_sample *sample)
{
	int got;

	do
		got = trace_walk_next(walk, sample);
	while (got == 1 && sample->time < from);
	assert_in_range(got, 0, 1);
	return got;
}

/* Returns the latest time of samples since a time, which must be the same in both. */
static uint64_t same_since(const struct trace *a, const struct trace *b, uint64_t from)
{
	struct trace_walk *of_a = trace_walk_new(a, TRACE_ALL_EVENTS);
	struct trace_walk *of_b = trace_walk_new(b, TRACE_ALL_EVENTS);
	struct trace_sample x, y;
	uint64_t latest = from;

	while (next_since(of_a, from, &x)) {
		assert_true(next_since(of_b, from, &y));
		same_sample(a, &x, b, &y);
		latest = x.time;
	}
	assert_false(next_since(of_b, from, &y));
	trace_walk_free(of_a);
	trace_walk_free(of_b);
	return latest;
}

/* A walk goes on where the one before it ended, and sees what one from the start does. */
static void walks_that_go_on(void **state)
{
	uint64_t from = 1, seed = 3;
	struct live_trace *live, *fresh;
	struct world w;

	(void)state;
	world_begin(&w);
	live = open_live(&w);
	for (unsigned i = 0; i < 150; i++) {
		put_many(&w, random_below(&seed, 400));
		say_end(&w);
		assert_int_equal(live_trace_update(live), 0);
		fresh = open_live(&w);
		live_trace_choose(live, from, UINT64_MAX);
		live_trace_choose(fresh, from, UINT64_MAX);
		from = same_since(live_trace_of(live), live_trace_of(fresh), from) + 1;
		live_trace_close(fresh);
		if (i % 20 == 19)
			hmb_clear(w.hmb, i % 3 != 0);
		if (i % 7 == 6) /* some of them are wanted again */
			from -= from / 300;
		if (i % 11 == 10) {
			live_trace_choose(live, 0, 500);
			same_since(live_trace_of(live), live_trace_of(live), 0);
		}
	}
	assert_true(hmb_floor(w.hmb, 0) + hmb_floor(w.hmb, 1) > 2);
	live_trace_close(live);
	world_close(&w);
}

static void names_of_functions(void **state)
{
	static const char strings[] = "\0first\0second";
	const struct trace_symbol symbols[] = {
		{.module = 2, .lo = 0, .hi = 10, .name = LIVE_STRINGS + 1},
		{.module = 2, .lo = 10, .hi = 4000, .name = LIVE_STRINGS + 7},
	};
	const struct live_names names = {symbols, 2, strings, sizeof(strings)};
	const struct trace *trace;
	struct live_trace *live;
	struct world w;
	uint32_t symbol;

	(void)state;
	world_begin(&w);
	live = open_live(&w);
	trace = live_trace_of(live);
	assert_int_equal(trace_find_symbol(trace, (uint64_t)2 << 32 | 12), UINT32_MAX);
	assert_int_equal(live_trace_name(live, &names), 0);
	symbol = trace_find_symbol(trace, (uint64_t)2 << 32 | 12);
	assert_string_equal(trace_string(trace, trace_symbol(trace, symbol)->name), "second");
	assert_int_equal(live_trace_update(live), 0);
	assert_int_equal(trace_find_symbol(trace, (uint64_t)2 << 32 | 12), symbol);
	same_as_written(&w, live);
	live_trace_close(live);
	world_close(&w);
}

static void a_recorder_that_ends(void **state)
{
	struct live_trace *live;
	struct world w;

	(void)state;
	world_open(&w, BUDGET);
	live = live_trace_open(w.path);
	assert_non_null(live);
	assert_int_equal(live_trace_update(live), -EAGAIN); /* it has not begun */
	put_many(&w, 500);
	say_end(&w);
	assert_int_equal(live_trace_update(live), 0);
	put_many(&w, 500);
	world_close(&w);
	assert_int_equal(live_trace_update(live), 0);
	assert_int_equal(live_trace_state(live), LIVE_ENDED);
	assert_int_equal(trace_event(live_trace_of(live), 0)->taken +
	                         trace_event(live_trace_of(live), 1)->taken,
	                 1000);
	live_trace_close(live);
	assert_null(live_trace_open(w.path));
	assert_int_equal(errno, ENOENT);
}

/* --- an image that anybody wrote -------------------------------------------------------------- */

/* Overwrites some bytes of the image: of its header, tables and bins alike. */
static void scribble(struct world *w, uint64_t *seed)
{
	unsigned char *places[] = {
		(void *)w->tables->header,
		(void *)tables_ledger(w->tables),
		(void *)tables_run(w->tables),
		(void *)tables_event(w->tables, 0),
		(void *)tables_thread(w->tables, 0),
		tables_arena(w->tables),
		tables_arena(w->tables),
	};
	static const size_t sizes[] = {200, 200, 400, 100, 300, 4096, 60000};
	size_t place = random_below(seed, sizeof(sizes) / sizeof(*sizes));
	unsigned char *at = places[place] + random_below(seed, sizes[place]);
	size_t nr = 1 + random_below(seed, 8);

	for (size_t i = 0; i < nr; i++)
		at[i] = random_below(seed, 3) ? (unsigned char)random_below(seed, 256) : 255;
}

/* Reads all that there is; the reader may say that it makes no sense. */
static void read_all(const struct trace *trace)
{
	struct trace_walk *walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	uint64_t frames[64];
	struct trace_sample sample;

	assert_non_null(walk);
	for (int i = 0; i < 20000 && trace_walk_next(walk, &sample) == 1; i++) {
		trace_stack(trace, &sample, frames, 64);
		trace_thread(trace, sample.thread);
	}
	trace_walk_free(walk);
}

static void an_image_that_anybody_wrote(void **state)
{
	uint64_t seed = 11;
	unsigned read = 0;

	(void)state;
	for (int i = 0; i < 12; i++) {
		struct live_trace *live;
		struct world w;

		world_begin(&w);
		live = open_live(&w);
		for (int k = 0; k < 10; k++) {
			scribble(&w, &seed);
			if (live_trace_update(live))
				continue;
			live_trace_choose(live, random_below(&seed, 2) * 1000,
			                  random_below(&seed, 300));
			read_all(live_trace_of(live));
			read++;
		}
		live_trace_close(live);
		w.hmb->ledger->nr_bins = 0;
		world_close(&w);
	}
	assert_true(read > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_that_goes_on),
		cmocka_unit_test(a_recording_that_is_cleared),
		cmocka_unit_test(the_highest_levels),
		cmocka_unit_test(samples_since_a_time),
		cmocka_unit_test(walks_that_go_on),
		cmocka_unit_test(names_of_functions),
		cmocka_unit_test(a_recorder_that_ends),
		cmocka_unit_test(an_image_that_anybody_wrote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
