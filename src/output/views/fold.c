#include "output/views/fold.h"

#include "base/array.h"
#include "output/profile/ticks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NEAR_MEDIAN   1.1 /* of the durations that are folded */
#define LEAST_SAMPLES 100 /* of a bin, on average */
#define Z95           1.96
#define KS_1_PERCENT  1.63 /* of the largest difference of distributions × √samples */
#define MOST_SPANNED  64   /* iterations between two samples that tell something of counters */
#define CLOCK_ERROR   0.1  /* of a stream that ran without interruption */

/* --- the phases ---------------------------------------------------------------------------------
 */

static const struct iteration_phase *longest_steps(const struct iterations *found)
{
	const struct iteration_phase *longest = NULL;

	for (uint32_t i = 0; i < found->nr; i++) {
		const struct iteration_phase *phase = found->phases[i];

		if (phase->unit && (!longest || phase->durations.sum > longest->durations.sum))
			longest = phase;
	}
	return longest;
}

/* Whether two ranks go through the same loop at the same time. */
static bool is_same_loop(const struct iteration_phase *a, const struct iteration_phase *b)
{
	uint64_t from = a->from > b->from ? a->from : b->from, to = a->to < b->to ? a->to : b->to;
	uint64_t nr = a->durations.nr, other = b->durations.nr;
	uint64_t difference = nr > other ? nr - other : other - nr;

	return b->unit && a->level == b->level && difference <= 1 + nr / 100 && to > from &&
	       (double)(to - from) > 0.9 * (double)(a->to - a->from);
}

static int add_process(struct fold *fold, const struct iteration_phase *phase)
{
	uint32_t process = trace_owner(fold->trace, phase->thread);
	uint32_t known = fold->nr_processes, number = map64_number(&fold->by_process, process);

	if (number < known)
		return 0;
	if (number == UINT32_MAX)
		return -ENOMEM;
	return ARRAY_ADD(fold->processes, fold->nr_processes,
	                 (struct fold_process){.process = process, .phase = phase});
}

static int choose_phases(struct fold *fold, const struct view_query *query)
{
	const struct iterations *found = &fold->found;
	const struct iteration_phase *first;
	int err;

	if (query->phase > found->nr)
		return -ENODATA;
	first = query->phase ? found->phases[query->phase - 1] : longest_steps(found);
	if (!first)
		return -ENODATA;
	while (found->phases[fold->phase++] != first)
		;
	err = add_process(fold, first);
	for (uint32_t i = 0; i < found->nr && !query->phase && !err; i++)
		if (is_same_loop(first, found->phases[i]))
			err = add_process(fold, found->phases[i]);
	return err;
}

/* --- their iterations ---------------------------------------------------------------------------
 */

static int add_iteration(void *arg, const struct iteration_time *time)
{
	struct fold_process *process = arg;

	if (!time->main || time->end <= time->begin)
		return 0;
	if (process->nr && time->begin < process->iterations[process->nr - 1].end)
		return 0;
	return ARRAY_ADD(process->iterations, process->nr,
	                 (struct fold_iteration){time->begin, time->end});
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return ORDER(*x, *y);
}

/* Leaves those that took about as long as most. */
static int keep_usual(struct fold_process *process)
{
	uint64_t *times = calloc(process->nr + 1, sizeof(*times));
	size_t nr = 0;

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < process->nr; i++)
		times[i] = process->iterations[i].end - process->iterations[i].begin;
	ARRAY_SORT(times, process->nr, compare_times);
	process->median = times[process->nr / 2];
	free(times);
	for (size_t i = 0; i < process->nr; i++) {
		double time = (double)(process->iterations[i].end - process->iterations[i].begin);

		if (time <= (double)process->median * NEAR_MEDIAN &&
		    time * NEAR_MEDIAN >= (double)process->median)
			process->iterations[nr++] = process->iterations[i];
	}
	process->nr = nr;
	return 0;
}

static int find_iterations(struct fold *fold, const struct view_query *query)
{
	int err = 0;

	for (uint32_t i = 0; i < fold->nr_processes && !err; i++) {
		struct fold_process *process = &fold->processes[i];

		err = iterations_walk(&fold->found, fold->trace, query, process->phase,
		                      add_iteration, process);
		if (!err)
			err = keep_usual(process);
		fold->seen += process->phase->durations.nr;
		fold->folded += process->nr;
	}
	return err;
}

/* --- the place of a sample ----------------------------------------------------------------------
 */

struct place {
	const struct fold_process *process; /* NULL: in no iteration */
	size_t iteration;
	double at; /* in it, from 0 to 1 */
};

static struct place place_of(const struct fold *fold, const struct trace_sample *sample)
{
	uint32_t number = map64_get(&fold->by_process, trace_owner(fold->trace, sample->thread));
	const struct fold_process *process;
	const struct fold_iteration *in;
	size_t behind;

	if (number >= fold->nr_processes || !selection_has(fold->selection, sample))
		return (struct place){0};
	process = &fold->processes[number];
	behind = ARRAY_PARTITION(process->iterations, process->nr, entry,
	                         entry->begin <= sample->time);
	if (!behind || sample->time >= process->iterations[behind - 1].end)
		return (struct place){0};
	in = &process->iterations[behind - 1];
	return (struct place){process, behind - 1,
	                      (double)(sample->time - in->begin) / (double)(in->end - in->begin)};
}

static unsigned part_of(double at, unsigned nr)
{
	unsigned part = (unsigned)(at * nr);

	return part < nr ? part : nr - 1;
}

/* --- counting -----------------------------------------------------------------------------------
 */

struct counting {
	struct fold *fold;
	struct ticks ticks;
	struct tick_sizes sizes;
	unsigned nr_counters;
};

static int count_sample(void *arg, const struct trace_sample *sample)
{
	struct counting *counting = arg;
	struct fold *fold = counting->fold;
	struct place place = place_of(fold, sample);

	if (!place.process)
		return 0;
	fold->samples++;
	fold->in_cells[part_of(place.at, FOLD_CELLS)]++;
	if (ticks_known(&counting->ticks))
		tick_sizes_add(&counting->sizes, ticks_at(&counting->ticks, sample->time));
	if (sample->nr_counters > counting->nr_counters)
		counting->nr_counters = sample->nr_counters;
	return 0;
}

static int count_samples(struct fold *fold, unsigned *nr_counters)
{
	struct counting counting = {.fold = fold};
	int err;

	ticks_init(&counting.ticks, fold->trace, fold->event);
	err = trace_each_sample(trace_walk_new(fold->trace, fold->event), count_sample, &counting);
	tick_sizes_end(&counting.sizes);
	if (err)
		return err;
	if (!fold->samples)
		return -ENODATA;
	fold->nr_bins = (unsigned)fmin((double)fold->samples / LEAST_SAMPLES, FOLD_MOST_BINS);
	fold->nr_bins = fold->nr_bins ? fold->nr_bins : 1;
	fold->samples_in_tick = fmax(counting.sizes.squares / (double)fold->samples, 1);
	*nr_counters = counting.nr_counters;
	return 0;
}

/* --- counters -----------------------------------------------------------------------------------
 */

/* The latest sample of a stream. */
struct latest {
	uint64_t time;
	size_t iteration;
	double at;
	const struct fold_process *process;
};

struct filling {
	struct fold *fold;
	struct latest *latest; /* by stream */
	uint32_t nr_streams;
	bool by_cpu, by_time; /* streams; the event counts ns */
};

/* Adds the time between two places of one iteration to the bins, in s. */
static void cover(const struct fold *fold, double *covered, const struct fold_iteration *iteration,
                  double from, double to)
{
	double bin_time = (double)(iteration->end - iteration->begin) / fold->nr_bins * 1e-9;

	for (unsigned bin = part_of(from, fold->nr_bins); bin < fold->nr_bins; bin++) {
		double low = fmax(from * fold->nr_bins, bin),
		       high = fmin(to * fold->nr_bins, bin + 1.0);

		if (high <= low)
			return;
		covered[bin] += (high - low) * bin_time;
	}
}

/* Covers all of the way from one place to the other. Returns false where not all is folded. */
static bool cover_way(const struct fold *fold, double *covered, const struct latest *from,
                      const struct place *to)
{
	const struct fold_iteration *iterations = to->process->iterations;

	if (to->iteration - from->iteration > MOST_SPANNED)
		return false;
	for (size_t i = from->iteration; i <= to->iteration; i++) {
		if (i > from->iteration && iterations[i].begin != iterations[i - 1].end)
			return false;
		cover(fold, covered, &iterations[i], i == from->iteration ? from->at : 0,
		      i == to->iteration ? to->at : 1);
	}
	return true;
}

/* A stream that was interrupted did not advance all the time. */
static bool was_running(const struct filling *filling, const struct latest *from,
                        const struct trace_sample *sample)
{
	double time = (double)(sample->time - from->time);

	return !filling->by_time || fabs((double)sample->counters[0] - time) <= CLOCK_ERROR * time;
}

static void add_counters(struct filling *filling, const struct trace_sample *sample,
                         const struct place *place)
{
	uint32_t stream = filling->by_cpu ? sample->cpu : sample->thread;
	struct latest *latest;

	if (stream >= filling->nr_streams || !sample->nr_counters)
		return;
	latest = &filling->latest[stream];
	if (place->process && latest->process == place->process && sample->time > latest->time &&
	    place->iteration >= latest->iteration && was_running(filling, latest, sample)) {
		double covered[FOLD_MOST_BINS] = {0};

		if (cover_way(filling->fold, covered, latest, place))
			fold_counters_add(&filling->fold->counters, covered, sample->counters);
	}
	*latest = (struct latest){sample->time, place->iteration, place->at, place->process};
}

/* --- filling the bins ---------------------------------------------------------------------------
 */

struct rows {
	struct map64 *numbers; /* by function */
	struct fold_function **rows;
	uint32_t *nr;
};

/* A function that called itself is counted once a sample. 0 or -ENOMEM. */
static int count_function(const struct fold *fold, const struct rows *to, uint32_t function,
                          unsigned bin)
{
	const struct fold_function fresh = {.function = function};
	uint32_t number = map64_number(to->numbers, function);
	struct fold_function *row;

	if (number == UINT32_MAX || (number == *to->nr && ARRAY_ADD(*to->rows, *to->nr, fresh)))
		return -ENOMEM;
	row = &(*to->rows)[number];
	if (row->last == fold->counted)
		return 0;
	row->last = fold->counted;
	row->in_bins[bin]++;
	row->samples++;
	return 0;
}

static int add_sample(void *arg, const struct trace_sample *sample)
{
	struct filling *filling = arg;
	struct fold *fold = filling->fold;
	struct place place = place_of(fold, sample);
	const struct rows self = {&fold->rows, &fold->functions, &fold->nr_functions};
	const struct rows total = {&fold->total_rows, &fold->totals, &fold->nr_totals};
	uint32_t path;
	unsigned bin;

	add_counters(filling, sample, &place);
	if (!place.process)
		return 0;
	path = paths_find(&fold->paths, sample);
	if (path == PATH_NONE)
		return -ENOMEM;
	bin = part_of(place.at, fold->nr_bins);
	fold->in_bins[bin]++;
	fold->counted++;
	if (count_function(fold, &self, paths_leaf(&fold->paths, path), bin))
		return -ENOMEM;
	for (; path != PATH_NONE; path = paths_caller(&fold->paths, path))
		if (count_function(fold, &total, paths_leaf(&fold->paths, path), bin))
			return -ENOMEM;
	return 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct fold_function *x = a, *y = b;

	return ORDER(y->samples, x->samples) ?: ORDER(x->function, y->function);
}

static int fill_bins(struct fold *fold)
{
	const struct trace *trace = fold->trace;
	const struct trace_event *event = trace_event(trace, fold->event);
	struct filling filling = {
		.fold = fold,
		.by_cpu = trace_run(trace)->flags & TRACE_RUN_CGROUP,
		.by_time = event && event->unit == TRACE_NS,
	};
	int err;

	filling.nr_streams = filling.by_cpu ? trace_nr_cpus(trace) : trace_nr(trace, TRACE_THREADS);
	filling.latest = calloc(filling.nr_streams + 1UL, sizeof(*filling.latest));
	err = filling.latest
	              ? trace_each_sample(trace_walk_new(trace, fold->event), add_sample, &filling)
	              : -ENOMEM;
	free(filling.latest);
	ARRAY_SORT(fold->functions, fold->nr_functions, compare_functions);
	ARRAY_SORT(fold->totals, fold->nr_totals, compare_functions);
	return err;
}

/* --- the whole ----------------------------------------------------------------------------------
 */

int fold_init(struct fold *fold, const struct trace *trace, const struct view_query *query)
{
	unsigned nr_counters = 0;
	int err;

	*fold = (struct fold){
		.trace = trace,
		.selection = query->selection,
		.event = query->event == TRACE_ALL_EVENTS ? 0 : query->event,
	};
	err = iterations_init(&fold->found, trace, query);
	if (!err)
		err = choose_phases(fold, query);
	if (!err)
		err = find_iterations(fold, query);
	if (!err)
		err = paths_init(&fold->paths, trace,
		                 query->no_inline ? PATHS_BY_OUTERMOST : PATHS_BY_FUNCTION);
	if (!err)
		err = count_samples(fold, &nr_counters);
	if (!err)
		err = fold_counters_init(&fold->counters, fold->nr_bins, nr_counters);
	return err ? err : fill_bins(fold);
}

void fold_fini(struct fold *fold)
{
	for (uint32_t i = 0; i < fold->nr_processes; i++)
		free(fold->processes[i].iterations);
	free(fold->processes);
	free(fold->functions);
	free(fold->totals);
	map64_fini(&fold->by_process);
	map64_fini(&fold->rows);
	map64_fini(&fold->total_rows);
	paths_fini(&fold->paths);
	fold_counters_fini(&fold->counters);
	iterations_fini(&fold->found);
	*fold = (struct fold){0};
}

uint32_t fold_nr_functions(const struct fold *fold, double least)
{
	return (uint32_t)ARRAY_PARTITION(fold->functions, fold->nr_functions, entry,
	                                 (double)entry->samples >= least * (double)fold->samples);
}

/* Wilson's interval does not leave [0, 1], and is right for shares near its ends. */
static void put_share(const struct fold *fold, const struct fold_function *function, unsigned bin,
                      struct fold_band *shares)
{
	double nr = (double)fold->in_bins[bin] / fold->samples_in_tick;
	double share = (double)function->in_bins[bin] / (double)fold->in_bins[bin];
	double z2 = Z95 * Z95, middle, half;

	shares->value[bin] = shares->low[bin] = shares->high[bin] = NAN;
	if (!fold->in_bins[bin])
		return;
	middle = (share + z2 / (2 * nr)) / (1 + z2 / nr);
	half = Z95 / (1 + z2 / nr) * sqrt(share * (1 - share) / nr + z2 / (4 * nr * nr));
	shares->value[bin] = share;
	shares->low[bin] = fmin(fmax(middle - half, 0), share);
	shares->high[bin] = fmax(fmin(middle + half, 1), share);
}

void fold_shares(const struct fold *fold, const struct fold_function *function,
                 struct fold_band *shares)
{
	for (unsigned i = 0; i < fold->nr_bins; i++)
		put_share(fold, function, i, shares);
}

bool fold_is_even(const struct fold *fold)
{
	double samples = (double)fold->samples, largest = 0;
	uint64_t before = 0;

	for (unsigned i = 0; i < FOLD_CELLS; i++) {
		before += fold->in_cells[i];
		largest = fmax(largest, fabs((double)before / samples - (i + 1.0) / FOLD_CELLS));
	}
	return largest * sqrt(samples / fold->samples_in_tick) < KS_1_PERCENT;
}
