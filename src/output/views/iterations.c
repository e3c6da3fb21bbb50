#include "output/views/iterations.h"

#include "base/array.h"
#include "output/views/call_events.h"
#include "trace/call_sources.h"
#include "trace/trace_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TIMES = 1 << 14,      /* of a thread's latest calls */
	LEAST_ITERATIONS = 8, /* of a phase */
	MOST_PHASES = 4096,
	ROW = 32,          /* iterations of another pattern in a row are a new phase … */
	MOST_SPLITS = 8,   /* … so often */
	MOST_UNIT = 16384, /* calls of an iteration that is a unit */
};

/* An iteration with its times. */
struct timed {
	struct segment_iteration of;
	uint64_t begin, end;
};

struct thread_level {
	struct iteration_phase *phase; /* NULL: none yet */
	uint32_t number;               /* of the segmenter's phase, from 1 */
	uint8_t usual;                 /* pattern that had a row, + 1 */
	unsigned splits;
	uint64_t upper_to; /* up to this call the loop around it has iterations, or may have */
	struct timed last; /* iteration */
	struct iteration_phase *loose; /* its iterations belong to this phase or to the next one */
	struct timed begun[ROW];       /* of another pattern than the usual one */
	unsigned nr_begun;
};

/* Receives the iterations of one phase. */
struct receiver {
	const struct iteration_phase *phase;
	iteration_fn *fn;
	void *arg;
};

struct thread_state {
	struct iterations *of;
	const struct receiver *receiver; /* or NULL */
	uint32_t thread;
	int32_t rank;
	uint64_t start, end; /* of the time that is shown */
	struct segmenter *segmenter;
	struct map64 numbers;
	uint64_t nr;
	uint64_t times[TIMES]; /* a ring */
	struct thread_level levels[SEGMENT_LEVELS];
	int err;
};

/* --- one phase ----------------------------------------------------------------------------------
 */

const struct iteration_pattern *iteration_main_pattern(const struct iteration_phase *phase)
{
	const struct iteration_pattern *most = phase->patterns;

	for (unsigned i = 1; i < SEGMENT_PATTERNS; i++)
		if (phase->patterns[i].iterations > most->iterations)
			most = &phase->patterns[i];
	return most;
}

uint64_t iteration_calls(const struct iteration_phase *phase)
{
	const struct iteration_pattern *most = iteration_main_pattern(phase);

	return most->iterations ? (most->calls + most->iterations / 2) / most->iterations : 0;
}

uint32_t iteration_patterns(const struct iteration_phase *phase)
{
	uint32_t nr = 0;

	for (unsigned i = 0; i < SEGMENT_PATTERNS; i++)
		nr += phase->patterns[i].iterations != 0;
	return nr;
}

uint64_t iteration_slow(const struct iteration_phase *phase)
{
	return durations_above(&phase->durations, 2 * durations_quantile(&phase->durations, 0.5));
}

static unsigned bin_of(uint64_t time, uint64_t start, uint64_t end)
{
	uint64_t whole = end - start, at;

	if (time < start || !whole)
		return 0;
	at = (uint64_t)((double)(time - start) / (double)whole * ITERATION_BINS);
	return at < ITERATION_BINS ? (unsigned)at : ITERATION_BINS - 1;
}

void iteration_phase_add(struct iteration_phase *phase, const struct found_iteration *iteration,
                         uint64_t start, uint64_t end)
{
	uint64_t time = iteration->end - iteration->begin;
	struct iteration_pattern *pattern = &phase->patterns[iteration->pattern];
	unsigned bin = bin_of(iteration->begin, start, end);

	if (!phase->durations.nr) {
		phase->from = iteration->begin;
		phase->first_ordinal = iteration->ordinal;
	}
	phase->to = iteration->end;
	phase->last_ordinal = iteration->ordinal;
	durations_add(&phase->durations, time);
	pattern->iterations++;
	pattern->calls += iteration->calls;
	phase->line[bin].nr++;
	phase->line[bin].sum += time;
}

static void add_iteration(const struct thread_state *state, struct iteration_phase *phase,
                          const struct timed *iteration)
{
	const struct segment_iteration *of = &iteration->of;
	const struct found_iteration found = {
		.begin = iteration->begin,
		.end = iteration->end,
		.ordinal = of->ordinal,
		.calls = of->end - of->begin,
		.pattern = of->pattern,
	};

	if (!phase->durations.nr)
		phase->first_call = of->begin;
	phase->end_call = of->end;
	iteration_phase_add(phase, &found, state->start, state->end);
}

static void merge_phases(struct iteration_phase *phase, const struct iteration_phase *from)
{
	if (!phase->durations.nr) {
		phase->from = from->from;
		phase->first_call = from->first_call;
		phase->first_ordinal = from->first_ordinal;
	}
	phase->to = from->to;
	phase->end_call = from->end_call;
	phase->last_ordinal = from->last_ordinal;
	durations_merge(&phase->durations, &from->durations);
	for (unsigned i = 0; i < SEGMENT_PATTERNS; i++) {
		phase->patterns[i].iterations += from->patterns[i].iterations;
		phase->patterns[i].calls += from->patterns[i].calls;
	}
	for (unsigned i = 0; i < ITERATION_BINS; i++) {
		phase->line[i].nr += from->line[i].nr;
		phase->line[i].sum += from->line[i].sum;
	}
}

/* --- the phases of a level ----------------------------------------------------------------------
 */

/* Adds a phase to the list. Returns NULL where there is no room. */
static struct iteration_phase *add_phase(struct thread_state *state)
{
	struct iterations *of = state->of;
	struct iteration_phase *phase;

	if (of->nr == MOST_PHASES) {
		of->left_out++;
		return NULL;
	}
	phase = malloc(sizeof(*phase));
	if (phase && !ARRAY_ADD(of->phases, of->nr, phase))
		return phase;
	free(phase);
	state->err = -ENOMEM;
	return NULL;
}

/* Begins another phase, in the memory of the one before if that was none. */
static struct iteration_phase *new_phase(struct thread_state *state, struct thread_level *level)
{
	if (!level->phase || level->phase->durations.nr >= LEAST_ITERATIONS)
		level->phase = add_phase(state);
	if (level->phase)
		*level->phase = (struct iteration_phase){
			.thread = state->thread,
			.rank = state->rank,
			.level = (uint32_t)(level - state->levels),
		};
	return level->phase;
}

/* Iterations of another pattern than the usual one were few: they belong to its phase. */
static void add_begun(struct thread_state *state, struct thread_level *level)
{
	for (unsigned i = 0; i < level->nr_begun && level->phase; i++)
		add_iteration(state, level->phase, &level->begun[i]);
	level->nr_begun = 0;
}

/* Loose iterations belong to the phase. */
static void add_loose(struct thread_level *level)
{
	if (!level->loose || !level->loose->durations.nr)
		return;
	if (level->phase)
		merge_phases(level->phase, level->loose);
	level->loose->durations.nr = 0;
}

static void begin_phase(struct thread_state *state, struct thread_level *level, uint32_t number)
{
	add_begun(state, level);
	level->usual = 0;
	level->splits = 0;
	level->upper_to = 0;
	level->number = number;
	new_phase(state, level);
	add_loose(level);
}

/* Many iterations of one pattern in a row: with the same anchors it is another loop from now on. */
static void end_row(struct thread_state *state, struct thread_level *level, uint8_t usual)
{
	bool is_same = !level->phase || level->phase->durations.nr < LEAST_ITERATIONS ||
	               iteration_main_pattern(level->phase) == &level->phase->patterns[usual - 1];

	level->usual = usual;
	if (!is_same && level->splits++ < MOST_SPLITS)
		new_phase(state, level);
	add_begun(state, level);
}

static void add_to_level(struct thread_state *state, struct thread_level *level,
                         const struct timed *iteration)
{
	uint8_t usual = (uint8_t)(iteration->of.pattern + 1);

	if (level->usual == usual || iteration->of.begin < level->upper_to ||
	    iteration->of.row > ROW) {
		add_begun(state, level);
		if (level->phase)
			add_iteration(state, level->phase, iteration);
		return;
	}
	if (iteration->of.row == 1)
		add_begun(state, level);
	level->begun[level->nr_begun++] = *iteration;
	if (level->nr_begun == ROW)
		end_row(state, level, usual);
}

static void add_to_loose(struct thread_state *state, struct thread_level *level,
                         const struct timed *iteration)
{
	if (!level->loose)
		level->loose = calloc(1, sizeof(*level->loose));
	if (!level->loose) {
		state->err = -ENOMEM;
		return;
	}
	if (!level->loose->durations.nr)
		*level->loose = (struct iteration_phase){
			.thread = state->thread,
			.rank = state->rank,
			.level = (uint32_t)(level - state->levels),
		};
	add_iteration(state, level->loose, iteration);
}

/* Phases of a level that were told apart are one if they are inner loops of the next level's. */
static void join_phases(struct thread_state *state, unsigned number, uint64_t from)
{
	struct thread_level *level = &state->levels[number];
	struct iterations *of = state->of;
	struct iteration_phase *first = NULL;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < of->nr; i++) {
		struct iteration_phase *phase = of->phases[i];
		bool joins = phase->thread == state->thread && phase->level == number &&
		             phase->from >= from && phase->durations.nr;

		if (joins && first) {
			merge_phases(first, phase);
			if (level->phase == phase)
				level->phase = first;
			free(phase);
			continue;
		}
		if (joins)
			first = phase;
		of->phases[nr++] = phase;
	}
	of->nr = nr;
}

/* The level below has an inner loop of these iterations, and of those that will follow soon. */
static void note_upper(struct thread_state *state, const struct timed *iteration)
{
	unsigned number = iteration->of.level, below = number - 1;
	struct thread_level *level = &state->levels[number];
	struct thread_level *inner = &state->levels[below];

	if (!inner->upper_to && inner->splits)
		join_phases(state, below, iteration->begin);
	inner->upper_to = iteration->of.end + 8 * (iteration->of.end - iteration->of.begin);
	if (level->phase)
		level->phase->is_outer = segmenter_is_inner(state->segmenter, below) &&
		                         (!below || (inner->phase && inner->phase->is_outer));
}

/* --- iterations of a thread ---------------------------------------------------------------------
 */

/* Returns when a call was entered; of those long ago only where iterations begin or end. */
static uint64_t time_of(const struct thread_state *state, uint64_t event)
{
	if (state->nr - event <= TIMES)
		return state->times[event % TIMES];
	for (unsigned i = 0; i < SEGMENT_LEVELS; i++) {
		const struct timed *last = &state->levels[i].last;

		if (last->of.end == event)
			return last->end;
		if (last->of.begin == event)
			return last->begin;
	}
	return 0;
}

static void emit_iteration(struct thread_state *state, const struct timed *iteration)
{
	const struct receiver *receiver = state->receiver;
	const struct iteration_phase *phase = receiver->phase;
	bool is_main = &phase->patterns[iteration->of.pattern] == iteration_main_pattern(phase);

	if (iteration->of.level == phase->level && iteration->begin >= phase->from &&
	    iteration->end <= phase->to && !state->err)
		state->err = receiver->fn(
			receiver->arg,
			&(struct iteration_time){iteration->begin, iteration->end, is_main});
}

static void take_iteration(void *arg, const struct segment_iteration *of)
{
	struct thread_state *state = arg;
	struct thread_level *level = &state->levels[of->level];
	struct timed iteration = {*of, time_of(state, of->begin), time_of(state, of->end)};

	if (!iteration.begin || iteration.end < iteration.begin)
		iteration.begin = iteration.end;
	if (state->receiver)
		emit_iteration(state, &iteration);
	if (level->number != of->phase)
		begin_phase(state, level, of->phase);
	level->last = iteration;
	if (of->is_loose) {
		add_begun(state, level);
		add_to_loose(state, level, &iteration);
	} else {
		add_loose(level);
		add_to_level(state, level, &iteration);
	}
	if (of->level)
		note_upper(state, &iteration);
}

static void put_event(struct thread_state *state, uint64_t time, uint16_t event, bool wide)
{
	state->times[state->nr++ % TIMES] = time;
	segmenter_put(state->segmenter, event, wide);
}

static void end_thread(struct thread_state *state)
{
	for (unsigned i = 0; i < SEGMENT_LEVELS; i++) {
		add_begun(state, &state->levels[i]);
		add_loose(&state->levels[i]);
	}
}

static void state_free(struct thread_state *state)
{
	if (!state)
		return;
	for (unsigned i = 0; i < SEGMENT_LEVELS; i++)
		free(state->levels[i].loose);
	map64_fini(&state->numbers);
	free(state->segmenter);
	free(state);
}

static struct thread_state *state_new(struct iterations *of, const struct trace *trace,
                                      uint32_t thread)
{
	struct thread_state *state = calloc(1, sizeof(*state));
	void *memory = aligned_alloc(16, (segmenter_bytes() + 15) / 16 * 16);

	if (!state || !memory) {
		free(state);
		free(memory);
		return NULL;
	}
	state->of = of;
	state->thread = thread;
	state->rank = trace_rank(trace, thread);
	state->segmenter = segmenter_init(memory, false, take_iteration, state);
	return state;
}

/* --- all threads --------------------------------------------------------------------------------
 */

/* One reading of the calls, for some of the threads. */
struct reading {
	struct iterations *of;
	const struct trace *trace;
	const struct selection *selection;
	const struct receiver *receiver; /* NULL: all threads are read for their phases */
	struct call_index **index;
	struct call_regions regions;
	struct thread_state *state; /* of the thread that is read; NULL: it had no call yet */
};

static struct thread_state *state_of(struct reading *reading, uint32_t thread)
{
	struct thread_state *state = reading->state;

	if (state)
		return state;
	state = state_new(reading->of, reading->trace, thread);
	if (!state)
		return NULL;
	state->start = selection_start(trace_run(reading->trace), reading->selection);
	state->end = selection_end(trace_run(reading->trace), reading->selection);
	state->receiver = reading->receiver;
	return reading->state = state;
}

static int take_call(void *arg, const struct trace_call *taken)
{
	struct reading *reading = arg;
	const struct call *call = &taken->call;
	struct thread_state *state;
	int event;

	if (!selection_has_call(reading->selection, call) || call->enter < reading->of->from ||
	    call->leave > reading->of->to || !trace_thread(reading->trace, call->thread))
		return 0;
	state = state_of(reading, call->thread);
	if (!state)
		return -ENOMEM;
	reading->of->calls++;
	event = call_event(&reading->regions, &state->numbers, call);
	if (event > 0)
		put_event(state, call->enter, (uint16_t)event,
		          call_is_wide(&reading->regions, call));
	return event < 0 ? event : state->err;
}

static void end_state(struct reading *reading)
{
	if (!reading->state)
		return;
	end_thread(reading->state);
	state_free(reading->state);
	reading->state = NULL;
}

static bool is_read(const struct reading *reading, uint32_t thread)
{
	return !reading->receiver || reading->receiver->phase->thread == thread;
}

/* Thread after thread: a walk over all threads has the order of each level's calls only. */
static int read_calls(struct reading *reading)
{
	static const struct scratch nowhere = {.fd = -1};
	struct call_index *index = *reading->index;
	int err = 0;

	if (!index)
		index = *reading->index = call_index_new(reading->trace, &nowhere);
	if (!index)
		return -errno;
	for (uint32_t i = 0; i < index->nr_threads && !err; i++) {
		if (index->nr[i] && is_read(reading, i))
			err = trace_each_call(call_walk_thread(index, i), take_call, reading);
		end_state(reading);
	}
	return err;
}

static int read_threads(struct reading *reading)
{
	int err = call_regions_init(&reading->regions, reading->trace);

	if (!err)
		err = read_calls(reading);
	call_regions_fini(&reading->regions);
	return err;
}

/* --- what is shown ------------------------------------------------------------------------------
 */

/* These policies leave what is complete in itself: other classes, and calls around those dropped.
 */
static bool leaves_loops(uint32_t policy)
{
	return policy == TRACE_POLICY_CLASS || policy == TRACE_POLICY_DEPTH;
}

/* Where any calls of a kind were dropped, only the time is looked at in which none was. */
static void find_complete(struct iterations *iterations, const struct trace *trace)
{
	const struct trace_event *kind;
	const struct trace_instrument *instrument;

	iterations->to = UINT64_MAX;
	for (uint32_t i = 0; (instrument = trace_instrument(trace, i)); i++) {
		kind = trace_kind(trace, instrument->event);
		if (!kind || kind->unit != TRACE_CALLS)
			continue;
		iterations->seen += kind->taken;
		iterations->stored += kind->stored;
		if (kind->stored >= kind->taken || leaves_loops(instrument->policy))
			continue;
		if (instrument->from > iterations->from)
			iterations->from = instrument->from;
		if (instrument->to < iterations->to)
			iterations->to = instrument->to;
	}
}

/* Drops what has too few iterations for a loop. */
static void drop_small(struct iterations *iterations)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < iterations->nr; i++) {
		if (iterations->phases[i]->durations.nr >= LEAST_ITERATIONS)
			iterations->phases[nr++] = iterations->phases[i];
		else
			free(iterations->phases[i]);
	}
	iterations->nr = nr;
}

static int compare_phases(const void *a, const void *b)
{
	const struct iteration_phase *x = *(struct iteration_phase *const *)a;
	const struct iteration_phase *y = *(struct iteration_phase *const *)b;

	return ORDER(x->rank, y->rank) ?: ORDER(x->thread, y->thread) ?: ORDER(x->from, y->from)
	       ?: ORDER(y->level, x->level);
}

static uint64_t common_calls(const struct iteration_phase *a, const struct iteration_phase *b)
{
	uint64_t first = a->first_call > b->first_call ? a->first_call : b->first_call;
	uint64_t end = a->end_call < b->end_call ? a->end_call : b->end_call;

	return a->thread == b->thread && end > first ? end - first : 0;
}

/* Whether units of upper levels have at least half of a phase's calls. */
static bool is_covered(const struct iterations *iterations, const struct iteration_phase *phase)
{
	uint64_t covered = 0;

	for (uint32_t i = 0; i < iterations->nr; i++) {
		const struct iteration_phase *unit = iterations->phases[i];

		if (unit->unit && unit->level > phase->level)
			covered += common_calls(unit, phase);
	}
	return covered && 2 * covered >= phase->end_call - phase->first_call;
}

/* Units are the loops around all inner loops, and those that are in no other. */
static void choose_units(struct iterations *iterations)
{
	for (unsigned level = SEGMENT_LEVELS; level-- > 0;) {
		for (uint32_t i = 0; i < iterations->nr; i++) {
			struct iteration_phase *phase = iterations->phases[i];

			if (phase->level == level && (!level || phase->is_outer) &&
			    iteration_calls(phase) <= MOST_UNIT)
				phase->unit = !is_covered(iterations, phase);
		}
	}
}

/* A loop around a small part of a unit is not the step of that part alone. */
static void drop_partial_units(struct iterations *iterations)
{
	for (uint32_t i = 0; i < iterations->nr; i++) {
		struct iteration_phase *phase = iterations->phases[i];

		for (uint32_t j = 0; j < iterations->nr && phase->unit; j++) {
			const struct iteration_phase *below = iterations->phases[j];

			phase->unit = !below->unit || below->level >= phase->level ||
			              !common_calls(below, phase);
		}
	}
}

int iterations_init(struct iterations *iterations, const struct trace *trace,
                    const struct view_query *query)
{
	struct reading reading = {iterations, trace, query->selection, NULL, &iterations->index};
	int err;

	*iterations = (struct iterations){0};
	if (!trace_has_calls(trace))
		return -ENODATA;
	find_complete(iterations, trace);
	iterations->recorded = trace_nr(trace, TRACE_ITERATIONS) != 0;
	err = iterations->recorded ? iterations_read_records(iterations, trace, query)
	                           : read_threads(&reading);
	if (err)
		return err;
	drop_small(iterations);
	ARRAY_SORT(iterations->phases, iterations->nr, compare_phases);
	if (!iterations->recorded) {
		choose_units(iterations);
		drop_partial_units(iterations);
	}
	return 0;
}

int iterations_walk(struct iterations *iterations, const struct trace *trace,
                    const struct view_query *query, const struct iteration_phase *phase,
                    iteration_fn *fn, void *arg)
{
	const struct receiver receiver = {phase, fn, arg};
	struct iterations again = {.from = iterations->from, .to = iterations->to};
	struct reading reading = {&again, trace, query->selection, &receiver, &iterations->index};
	int err;

	if (iterations->recorded)
		return iterations_walk_records(iterations, phase, fn, arg);
	err = read_threads(&reading);
	iterations_fini(&again);
	return err;
}

void iterations_fini(struct iterations *iterations)
{
	for (uint32_t i = 0; i < iterations->nr; i++)
		free(iterations->phases[i]);
	free(iterations->phases);
	call_index_free(iterations->index);
	iteration_index_fini(&iterations->records);
	*iterations = (struct iterations){0};
}
