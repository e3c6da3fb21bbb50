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
#define MOST_DELAY    4    /* × the time of a sample: caches are cold, and other ranks wait */
#define EARLY_DELAY   0.4  /* of a delay passes before the sample's time is read */
#define LEAST_COUNTED 16   /* iterations of which a median is taken for the delay */

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
	                 (struct fold_iteration){.begin = time->begin, .end = time->end});
}

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return ORDER(*x, *y);
}

/* Returns the time of an iteration without that of its samples. */
static uint64_t time_of(const struct fold_process *process, const struct fold_iteration *iteration)
{
	uint64_t time = iteration->end - iteration->begin;
	uint64_t delay = process->delay * iteration->samples; /* < 2^63: see delay_of() */

	return time > delay ? time - delay : 0;
}

/* Returns the median time of the iterations with at most so many samples, and at least; 0: few. */
static uint64_t median_time(const struct fold_process *process, uint32_t least, uint32_t most,
                            size_t enough, uint64_t *times)
{
	size_t nr = 0;

	for (size_t i = 0; i < process->nr; i++) {
		uint32_t samples = process->iterations[i].samples;

		if (samples >= least && samples <= most)
			times[nr++] = time_of(process, &process->iterations[i]);
	}
	if (!nr || nr < enough)
		return 0;
	ARRAY_SORT(times, nr, compare_times);
	return times[nr / 2];
}

/*
 * Returns by how much iterations with one sample are longer than those without. Where there are too
 * few of either it is the time of a sample, as the recorder measured it.
 */
static uint64_t delay_of(const struct fold_process *process, const struct trace *trace,
                         uint64_t *times)
{
	uint64_t price = trace_run(trace)->sample_price, most;
	uint64_t without = median_time(process, 0, 0, LEAST_COUNTED, times);
	uint64_t with = median_time(process, 1, 1, LEAST_COUNTED, times);

	price = price < UINT32_MAX / MOST_DELAY ? price : 0; /* one s: no sample takes that */
	most = price * MOST_DELAY;
	if (!without || !with)
		return price;
	if (with <= without)
		return 0;
	return with - without < most ? with - without : most;
}

/* Leaves those that took about as long as most. */
static int keep_usual(struct fold_process *process, const struct trace *trace)
{
	uint64_t *times = calloc(process->nr + 1, sizeof(*times));
	size_t nr = 0;

	if (!times)
		return -ENOMEM;
	process->delay = delay_of(process, trace, times);
	process->median = median_time(process, 0, UINT32_MAX, 0, times);
	free(times);
	for (size_t i = 0; i < process->nr; i++) {
		double time = (double)time_of(process, &process->iterations[i]);

		if (time > 0 && time <= (double)process->median * NEAR_MEDIAN &&
		    time * NEAR_MEDIAN >= (double)process->median)
			process->iterations[nr++] = process->iterations[i];
	}
	process->nr = nr;
	return 0;
}

/* --- the place of a sample ----------------------------------------------------------------------
 */

struct place {
	struct fold_process *process; /* NULL: in no iteration */
	size_t iteration;
	double at; /* in it, from 0 to 1 */
};

static bool is_of_loop(const struct fold_process *process, const struct trace_sample *sample)
{
	return sample->thread == process->phase->thread;
}

static struct place iteration_of(const struct fold *fold, const struct trace_sample *sample)
{
	uint32_t number = map64_get(&fold->by_process, trace_owner(fold->trace, sample->thread));
	struct fold_process *process;
	size_t behind;

	if (number >= fold->nr_processes)
		return (struct place){0};
	process = &fold->processes[number];
	behind = ARRAY_PARTITION(process->iterations, process->nr, entry,
	                         entry->begin <= sample->time);
	if (!behind || sample->time >= process->iterations[behind - 1].end)
		return (struct place){0};
	return (struct place){.process = process, .iteration = behind - 1};
}

/* Returns how many samples of the loop's thread were before this one in its iteration. */
static uint32_t samples_before(const struct place *place, const struct trace_sample *sample)
{
	struct fold_process *process = place->process;
	uint32_t before;

	if (process->latest != place->iteration + 1)
		process->before = 0;
	process->latest = place->iteration + 1;
	before = process->before;
	process->before += is_of_loop(process, sample);
	return before;
}

static void begin_walk(struct fold *fold)
{
	for (uint32_t i = 0; i < fold->nr_processes; i++)
		fold->processes[i].latest = 0;
}

/* Samples of a walk, in its order. */
static struct place place_of(const struct fold *fold, const struct trace_sample *sample)
{
	struct place place = iteration_of(fold, sample);
	const struct fold_iteration *in;
	double delay;

	if (!place.process)
		return place;
	in = &place.process->iterations[place.iteration];
	delay = (double)place.process->delay *
	        (samples_before(&place, sample) + is_of_loop(place.process, sample) * EARLY_DELAY);
	if (!selection_has(fold->selection, sample))
		return (struct place){0};
	place.at =
		((double)(sample->time - in->begin) - delay) / (double)time_of(place.process, in);
	place.at = fmin(fmax(place.at, 0), 1);
	return place;
}

static unsigned part_of(double at, unsigned nr)
{
	unsigned part = (unsigned)(at * nr);

	return part < nr ? part : nr - 1;
}

/* --- the iterations that are folded -------------------------------------------------------------
 */

static int count_in_iteration(void *arg, const struct trace_sample *sample)
{
	struct place place = iteration_of(arg, sample);

	if (place.process && is_of_loop(place.process, sample))
		place.process->iterations[place.iteration].samples++;
	return 0;
}

static int find_iterations(struct fold *fold, const struct view_query *query)
{
	int err = 0;

	for (uint32_t i = 0; i < fold->nr_processes && !err; i++) {
		struct fold_process *process = &fold->processes[i];

		err = iterations_walk(&fold->found, fold->trace, query, process->phase,
		                      add_iteration, process);
		fold->seen += process->phase->durations.nr;
	}
	return err;
}

static int choose_iterations(struct fold *fold)
{
	int err = trace_each_sample(trace_walk_unordered(fold->trace, fold->event),
	                            count_in_iteration, fold);

	for (uint32_t i = 0; i < fold->nr_processes && !err; i++) {
		err = keep_usual(&fold->processes[i], fold->trace);
		fold->folded += fold->processes[i].nr;
	}
	return err;
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

	fold->selected += selection_has(fold->selection, sample);
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
	begin_walk(fold);
	err = trace_each_sample(trace_walk_new(fold->trace, fold->event), count_sample, &counting);
	tick_sizes_end(&counting.sizes);
	if (err)
		return err;
	if (!fold->samples)
		return -ENOMSG;
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

/* Adds the time between two places of one iteration, of `time` ns, to the bins, in s. */
static void cover(const struct fold *fold, double *covered, uint64_t time, double from, double to)
{
	double bin_time = (double)time / fold->nr_bins * 1e-9;

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
		cover(fold, covered, time_of(to->process, &iterations[i]),
		      i == from->iteration ? from->at : 0, i == to->iteration ? to->at : 1);
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
	begin_walk(fold);
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
		err = choose_iterations(fold);
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
