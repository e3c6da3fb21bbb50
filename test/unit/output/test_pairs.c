/* Samples that are where earlier ones were, and the pieces of code that frames are in. */
#include "cases.h"
#include "trace_world.h"

#include "output/profile/frame_pieces.h"
#include "output/profile/profile.h"
#include "trace/trace_file.h"

/* --- pairs ------------------------------------------------------------------------------------ */

enum { NR_PATHS = 12, NR_LEAVES = 9 };

/* Samples at few pairs, some of which come late. */
static struct trace *few_pairs(struct world *w, size_t nr)
{
	uint64_t paths[NR_PATHS][8];

	for (unsigned i = 0; i < NR_PATHS * 8; i++)
		paths[i / 8][i % 8] = (uint64_t)2 << 32 | (rnd(w, 3) + i % 8 * 16);
	for (size_t i = 0; i < nr; i++) {
		struct hmb_sample sample = {
			.kind = rnd(w, 4) == 0,
			.time = (10000 + i * 300 - rnd(w, 5) * 250) << TIME_SHIFT,
			.thread = (uint32_t)rnd(w, 6),
			.cpu = (uint32_t)rnd(w, NR_CPUS),
			.leaf = (1 + rnd(w, 3)) << 32 | rnd(w, NR_LEAVES),
			.path = paths[rnd(w, NR_PATHS)],
			.path_size = 8,
			.level = lambda(rnd(w, 1 << 20)),
			.step = 97081,
		};

		sample.path_size = rnd(w, 20) ? 8 : 0;
		hmb_put(w->hmb, &sample);
	}
	return world_written(w);
}

static void the_same_pair_means_the_same(void **state)
{
	struct trace_walk *walk;
	struct trace_sample sample, *latest;
	struct trace *trace;
	struct world w;
	size_t nr = 0, again = 0;

	(void)state;
	world_open(&w, 4 << 20);
	trace = few_pairs(&w, 60000);
	walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	latest = calloc(trace_walk_pairs(walk), sizeof(*latest));
	for (; trace_walk_next(walk, &sample) == 1; nr++) {
		if (sample.pair == UINT32_MAX)
			continue;
		assert_true(sample.pair < trace_walk_pairs(walk));
		if (sample.again) {
			assert_int_equal(latest[sample.pair].event, sample.event);
			assert_true(latest[sample.pair].leaf == sample.leaf);
			assert_int_equal(latest[sample.pair].context, sample.context);
			assert_int_equal(latest[sample.pair].memory, sample.memory);
			again++;
		}
		latest[sample.pair] = sample;
	}
	assert_true(again > nr / 8);
	free(latest);
	trace_walk_free(walk);
	trace_close(trace);
	world_close(&w);
}

/* How often the walk turns from one list to another; each sample is counted in sums. */
static size_t turns_of(struct trace_walk *walk, uint64_t *sums)
{
	struct trace_sample sample;
	uint32_t list = UINT32_MAX;
	size_t turns = 0;

	while (trace_walk_next(walk, &sample) == 1) {
		turns += (sample.event << 8 | sample.level) != list;
		list = sample.event << 8 | sample.level;
		sums[0]++;
		sums[1] += sample.time * (sample.thread + 1);
		sums[2] += sample.weight * (sample.event + 1);
		sums[3] += sample.leaf ^ sample.context;
	}
	trace_walk_free(walk);
	return turns;
}

static void without_order_samples_come_list_after_list(void **state)
{
	uint64_t in_turns[4] = {0}, unordered[4] = {0};
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 4 << 20);
	trace = few_pairs(&w, 10000);
	assert_true(turns_of(trace_walk_new(trace, TRACE_ALL_EVENTS), in_turns) > 1000);
	assert_true(turns_of(trace_walk_unordered(trace, TRACE_ALL_EVENTS), unordered) < 100);
	assert_int_equal(unordered[0], 10000);
	assert_memory_equal(unordered, in_turns, sizeof(in_turns));
	trace_close(trace);
	world_close(&w);
}

static uint64_t self_of(const struct trace *trace, const struct profile_config *config,
                        uint64_t leaf, uint32_t thread)
{
	struct trace_walk *walk = trace_walk_new(trace, config->event);
	struct trace_sample sample;
	uint64_t self = 0;

	while (trace_walk_next(walk, &sample) == 1)
		if (sample.leaf == leaf && selection_has(config->selection, &sample) &&
		    (thread == PROFILE_NONE || thread == sample.thread))
			self += sample.weight;
	trace_walk_free(walk);
	return self;
}

static void check_window(const struct trace *trace, uint64_t from, uint64_t to, unsigned keys)
{
	const struct selection selection = {.from = from, .to = to};
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL | keys, .selection = &selection};
	struct profile *profile = profile_new(trace, &config);
	uint64_t all = 0;

	assert_non_null(profile);
	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		const struct profile_row *row = &profile->rows[i];

		all += row->self;
		assert_int_equal(row->self,
		                 self_of(trace, &config, profile->names.names[row->name].frame,
		                         profile->subsets[row->subset].thread));
	}
	assert_int_equal(all, profile->total);
	profile_free(profile);
}

/* What is left out may be the first that tells a pair, or come between two that count. */
static void parts_of_a_run_are_told_apart(void **state)
{
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 1 << 16);
	trace = few_pairs(&w, 4000);
	for (unsigned i = 0; i < ROUNDS(40); i++) {
		uint64_t from = (10000 + rnd(&w, 4000) * 300) << TIME_SHIFT;
		uint64_t to = from + ((rnd(&w, 1000) * 300) << TIME_SHIFT);

		check_window(trace, from, to, i % 2 ? PROFILE_BY_THREAD : 0);
	}
	check_window(trace, 0, UINT64_MAX, PROFILE_BY_THREAD);
	trace_close(trace);
	world_close(&w);
}

/* --- pieces ----------------------------------------------------------------------------------- */

enum { MOST = 200 };

struct code {
	struct trace trace;
	struct trace_symbol symbols[MOST];
	struct trace_line lines[MOST];
};

static void fill_section(struct section *section, const void *at, uint32_t nr, uint32_t size)
{
	*section = (struct section){.at = at, .nr = nr, .entry_size = size, .found = true};
}

/* Functions side by side and apart, and lines in and between them, up to the last address. */
static void make_code(struct world *w, struct code *code)
{
	uint32_t nr_symbols = (uint32_t)rnd(w, MOST), nr_lines = (uint32_t)rnd(w, MOST), nr = 0;
	uint32_t step = rnd(w, 2) ? 40 : UINT32_MAX / 60;
	uint64_t at = 0, line = 0;

	for (uint32_t module = 1; nr < nr_symbols; nr++) {
		uint64_t lo = at + (rnd(w, 2) ? rnd(w, step) : 0), hi = lo + 1 + rnd(w, step);

		if (hi > UINT32_MAX || !rnd(w, 50)) {
			module += 1 + (rnd(w, 10) ? 0 : (uint32_t)rnd(w, 70000));
			lo = 0, hi = rnd(w, 20) ? 1 + rnd(w, step) : UINT32_MAX;
		}
		code->symbols[nr] = (struct trace_symbol){module, (uint32_t)lo, (uint32_t)hi, nr};
		at = hi;
	}
	for (nr = 0; nr < nr_lines; nr++) {
		line += 1 + (rnd(w, 20) ? rnd(w, step / 2) : rnd(w, (uint64_t)1 << 33));
		code->lines[nr] = (struct trace_line){(uint32_t)(line >> 32), (uint32_t)line, 0};
	}
	fill_section(&code->trace.sections[TRACE_SYMBOLS], code->symbols, nr_symbols,
	             sizeof(*code->symbols));
	fill_section(&code->trace.sections[TRACE_LINES], code->lines, nr_lines,
	             sizeof(*code->lines));
}

struct whose {
	uint32_t symbol, line;
	bool known;
};

static void check_frame(const struct code *code, const struct frame_pieces *pieces,
                        struct whose *whose, uint64_t frame)
{
	struct frame_piece *piece = frame_pieces_find(pieces, frame);
	uint32_t symbol = trace_find_symbol(&code->trace, frame);
	uint32_t line = trace_find_line(&code->trace, frame, symbol);

	assert_true((piece == NULL) == (symbol == UINT32_MAX));
	if (!piece)
		return;
	whose += piece - pieces->pieces;
	if (!whose->known)
		*whose = (struct whose){symbol, line, true};
	assert_int_equal(whose->symbol, symbol);
	assert_int_equal(whose->line, line);
}

static void frames_of_a_piece_are_alike(void **state)
{
	struct code *code = calloc(1, sizeof(*code));
	struct frame_pieces pieces;
	struct whose *whose;
	struct world w = {.seed = 3};

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		make_code(&w, code);
		assert_int_equal(frame_pieces_init(&pieces, &code->trace), 0);
		whose = calloc(pieces.nr + 1UL, sizeof(*whose));
		for (uint32_t k = 0; k < code->trace.sections[TRACE_SYMBOLS].nr; k++) {
			const struct trace_symbol *symbol = &code->symbols[k];
			uint64_t module = symbol->module & 0xffff;
			uint32_t edges[] = {symbol->lo, symbol->lo - 1, symbol->hi, symbol->hi - 1,
			                    (uint32_t)rnd(&w, UINT32_MAX)};

			for (unsigned e = 0; e < 5; e++)
				check_frame(code, &pieces, whose, module << 32 | edges[e]);
		}
		for (uint32_t k = 0; k < code->trace.sections[TRACE_LINES].nr; k++) {
			uint64_t at = (uint64_t)code->lines[k].module << 32 | code->lines[k].offset;

			check_frame(code, &pieces, whose, at);
			check_frame(code, &pieces, whose, at - 1);
		}
		free(whose);
		frame_pieces_fini(&pieces);
	}
	free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_pair_means_the_same),
		cmocka_unit_test(without_order_samples_come_list_after_list),
		cmocka_unit_test(parts_of_a_run_are_told_apart),
		cmocka_unit_test(frames_of_a_piece_are_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
