#include "cli/watch/metric_state.h"

#include "base/frame.h"
#include "cli/live/watched.h"
#include "output/profile/frame_names.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define NAMELESS     (1U << METRICS_MAX_SHARES) /* a frame that has no name yet */
#define MOST_MATTERS 0.01 /* a smaller share without names is looked up later */

/* --- values ----------------------------------------------------------------------------------- */

void metric_add(struct metric_term *term, double value, bool forget)
{
	struct reading *reading = term->reading;
	bool first = reading->state != READING_NEW;

	reading->state = READING_NEW;
	reading->least = first || value < reading->least ? value : reading->least;
	reading->most = first || value > reading->most ? value : reading->most;
	if (!forget && term->median)
		median_add(term->median, value);
}

void metric_set(struct metric_term *term, double value)
{
	metric_add(term, value, false);
}

bool metric_history_rate(struct metric_history *history, uint64_t now, double total, double *rate)
{
	bool known = false;
	unsigned at;

	/* The recording was reset. */
	if (history->nr && total < history->totals[(history->nr - 1) % HISTORY_SIZE])
		history->nr = 0;
	at = history->nr++ % HISTORY_SIZE;
	history->times[at] = now;
	history->totals[at] = total;
	for (unsigned back = 1; back < HISTORY_SIZE && back < history->nr && !known; back++) {
		unsigned i = (at + HISTORY_SIZE - back) % HISTORY_SIZE;

		if (now < history->times[i] + METRIC_WINDOW_NS)
			continue;
		*rate = (total - history->totals[i]) / ((double)(now - history->times[i]) / 1e9);
		known = true;
	}
	return known;
}

/* --- making and freeing ----------------------------------------------------------------------- */

static unsigned count_terms(const struct condition *conditions, unsigned nr)
{
	unsigned nr_terms = 0;

	for (unsigned i = 0; i < nr; i++)
		nr_terms += conditions[i].nr_terms;
	return nr_terms;
}

static int add_term(struct metrics *metrics, const struct condition_term *term)
{
	const unsigned number = metrics->nr_terms++;
	struct metric_term *to = &metrics->terms[number];

	to->term = term;
	to->reading = &metrics->readings[number];
	metrics->has[term->metric] = true;
	if (term->bound_type == BOUND_MEDIAN) {
		to->median = calloc(1, sizeof(*to->median));
		if (!to->median)
			return -ENOMEM;
	}
	if (term->metric == METRIC_SHARE) {
		to->share = metrics->nr_shares++;
		if (term->bound_type == BOUND_NUMBER && term->bound / 2 < metrics->matters)
			metrics->matters = term->bound / 2;
	}
	return metrics->nr_shares > METRICS_MAX_SHARES ? -E2BIG : 0;
}

static int add_terms(struct metrics *metrics, const struct condition *conditions, unsigned nr)
{
	int err = 0;

	for (unsigned i = 0; i < nr; i++) {
		metrics->first[i] = metrics->nr_terms;
		for (unsigned t = 0; t < conditions[i].nr_terms && !err; t++)
			err = add_term(metrics, &conditions[i].terms[t]);
	}
	return err;
}

struct metrics *metrics_new(const struct condition *conditions, unsigned nr)
{
	const unsigned nr_terms = count_terms(conditions, nr);
	struct metrics *metrics = calloc(1, sizeof(*metrics));
	int err = -ENOMEM;

	if (!metrics)
		return NULL;
	metrics->matters = MOST_MATTERS;
	metrics->terms = calloc(nr_terms + 1, sizeof(*metrics->terms));
	metrics->readings = calloc(nr_terms + 1, sizeof(*metrics->readings));
	metrics->first = calloc(nr + 1, sizeof(*metrics->first));
	if (metrics->terms && metrics->readings && metrics->first)
		err = add_terms(metrics, conditions, nr);
	if (!err)
		return metrics;
	metrics_free(metrics);
	errno = -err;
	return NULL;
}

void metrics_free(struct metrics *metrics)
{
	if (!metrics)
		return;
	for (unsigned i = 0; metrics->terms && i < metrics->nr_terms; i++)
		free(metrics->terms[i].median);
	metric_calls_fini(&metrics->calls);
	map64_fini(&metrics->frames);
	free(metrics->terms);
	free(metrics->readings);
	free(metrics->first);
	free(metrics);
}

const struct reading *metrics_readings(const struct metrics *metrics, unsigned condition)
{
	return metrics->readings + metrics->first[condition];
}

/* --- samples ---------------------------------------------------------------------------------- */

static const char *missing_event(const struct trace *trace, const struct condition_term *term)
{
	if (term->metric != METRIC_RATE && term->metric != METRIC_RATIO)
		return NULL;
	if (trace_find_event(trace, term->name) == TRACE_ALL_EVENTS)
		return term->name;
	return term->other && trace_find_event(trace, term->other) == TRACE_ALL_EVENTS ? term->other
	                                                                               : NULL;
}

const char *metrics_missing_event(const struct metrics *metrics, const struct trace *trace)
{
	const char *missing = NULL;

	for (unsigned i = 0; i < metrics->nr_terms && !missing; i++)
		missing = missing_event(trace, metrics->terms[i].term);
	return missing;
}

static bool has_of_calls(const struct metrics *metrics)
{
	return metrics->has[METRIC_MPI] || metrics->has[METRIC_TIME] || metrics->has[METRIC_VALUE];
}

bool metrics_lack_calls(const struct metrics *metrics, const struct trace *trace)
{
	return has_of_calls(metrics) && !trace_nr(trace, TRACE_INSTRUMENTS);
}

/* The pattern may be of the whole name, or of what is before the parameters. */
static bool matches(const char *pattern, const char *name)
{
	char base[FRAME_TEXT_SIZE];
	size_t size = strcspn(name, "(");

	if (!fnmatch(pattern, name, 0))
		return true;
	if (!size || !name[size] || size >= sizeof(base))
		return false;
	memcpy(base, name, size);
	base[size] = '\0';
	return !fnmatch(pattern, base, 0);
}

static uint32_t find_bits(const struct metrics *metrics, uint64_t frame)
{
	char text[FRAME_TEXT_SIZE];
	const char *name = frame_symbol(metrics->trace, frame, text);
	uint32_t bits = 0;

	for (unsigned i = 0; i < metrics->nr_terms; i++) {
		const struct metric_term *term = &metrics->terms[i];

		if (term->term->metric == METRIC_SHARE && matches(term->term->name, name))
			bits |= 1U << term->share;
	}
	return bits;
}

/* A frame that has no name yet is looked up. */
static uint32_t bits_of(struct metrics *metrics, uint64_t frame)
{
	uint32_t bits = map64_get(&metrics->frames, frame);

	if (bits != UINT32_MAX)
		return bits;
	bits = find_bits(metrics, frame);
	if (frame_module(frame) && trace_find_symbol(metrics->trace, frame) == UINT32_MAX) {
		watched_add_nameless(metrics->watched, frame);
		bits |= NAMELESS;
	}
	map64_add(&metrics->frames, frame, bits);
	return bits;
}

/* Returns the first moment that is later than a time. */
static unsigned moment_after(const struct metrics *metrics, uint64_t time)
{
	unsigned low = 0, high = metrics->nr_moments;

	while (low < high) {
		const unsigned middle = (low + high) / 2;

		if (metrics->moments[middle] > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The moments whose windows have a sample: from the first to before the end. */
struct span {
	unsigned first, end;
};

/* So far a sum is the difference to the one before it. */
static void add_weight(double sums[METRIC_MOMENTS + 1], struct span span, uint64_t weight)
{
	sums[span.first] += (double)weight;
	sums[span.end] -= (double)weight;
}

static int add_sample(void *arg, const struct trace_sample *sample)
{
	struct metrics *metrics = arg;
	const struct span span = {moment_after(metrics, sample->time),
	                          moment_after(metrics, sample->time + METRIC_WINDOW_NS)};
	uint32_t bits;

	if (span.first >= span.end || sample->event >= HMB_MAX_KINDS)
		return 0;
	add_weight(metrics->weights[sample->event], span, sample->weight);
	if (sample->event || !metrics->nr_shares)
		return 0;
	bits = bits_of(metrics, sample->leaf);
	if (bits & NAMELESS && span.end == metrics->nr_moments)
		metrics->nameless += (double)sample->weight;
	bits &= ~NAMELESS;
	for (unsigned i = 0; bits; i++, bits >>= 1)
		if (bits & 1)
			add_weight(metrics->shares[i], span, sample->weight);
	return 0;
}

/* Weights are whole numbers below 2^53, so that nothing is rounded. */
static void sum_up(double sums[METRIC_MOMENTS + 1], unsigned nr)
{
	for (unsigned m = 1; m < nr; m++)
		sums[m] += sums[m - 1];
}

static double weight_of(const struct metrics *metrics, const char *event)
{
	uint32_t number = trace_find_event(metrics->trace, event);

	return number < HMB_MAX_KINDS ? metrics->weights[number][metrics->moment] : 0;
}

/* Returns the seconds of the window in which an event was sampled. */
static double sampled_seconds(const struct metrics *metrics, const char *event)
{
	uint32_t number = event ? trace_find_event(metrics->trace, event) : 0;

	const uint64_t to = metrics->moments[metrics->moment];

	return (double)trace_sampled_time(metrics->trace, number, to - METRIC_WINDOW_NS, to) / 1e9;
}

const char *metric_clock(const struct trace *trace)
{
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++)
		if (event->unit == TRACE_NS)
			return trace_string(trace, event->name);
	return NULL;
}

/* The last value of a look counts for the median. */
static void set_at_moment(const struct metrics *metrics, struct metric_term *to, double value)
{
	metric_add(to, value, metrics->moment + 1 < metrics->nr_moments);
}

/* Sampled time has no gaps where processes come and go. */
static void read_cpu(const struct metrics *metrics, struct metric_term *to)
{
	const char *clock = metric_clock(metrics->trace);
	const double seconds = clock ? sampled_seconds(metrics, clock) : 0;

	if (seconds <= 0.1)
		return;
	metric_find_limit(to, trace_run(metrics->trace)->pid);
	set_at_moment(metrics, to, weight_of(metrics, clock) / seconds / 1e9);
}

static void read_term(const struct metrics *metrics, struct metric_term *to)
{
	const struct condition_term *term = to->term;
	double seconds, weight;

	switch (term->metric) {
	case METRIC_RATE:
		seconds = sampled_seconds(metrics, term->name);
		if (seconds > 0.1)
			set_at_moment(metrics, to, weight_of(metrics, term->name) / seconds);
		break;
	case METRIC_SHARE:
		weight = metrics->weights[0][metrics->moment];
		if (weight > 0)
			set_at_moment(metrics, to,
			              metrics->shares[to->share][metrics->moment] / weight);
		break;
	case METRIC_RATIO:
		weight = weight_of(metrics, term->other);
		if (weight > 0)
			set_at_moment(metrics, to, weight_of(metrics, term->name) / weight);
		break;
	case METRIC_CPU:
		read_cpu(metrics, to);
		break;
	default:
		break;
	}
}

static int walk_windows(struct metrics *metrics)
{
	const uint64_t first = metrics->moments[0];
	int err;

	memset(metrics->weights, 0, sizeof(metrics->weights));
	memset(metrics->shares, 0, sizeof(metrics->shares));
	metrics->nameless = 0;
	watched_choose(metrics->watched, first > METRIC_WINDOW_NS ? first - METRIC_WINDOW_NS : 0,
	               UINT64_MAX);
	err = trace_each_sample(trace_walk_unordered(metrics->trace, TRACE_ALL_EVENTS), add_sample,
	                        metrics);
	for (unsigned e = 0; e < HMB_MAX_KINDS; e++)
		sum_up(metrics->weights[e], metrics->nr_moments);
	for (unsigned i = 0; i < metrics->nr_shares; i++)
		sum_up(metrics->shares[i], metrics->nr_moments);
	return err;
}

/*
 * A share may depend on the names of much of the window, which are therefore looked up at once. A
 * look-up takes far longer than a look, and the next look waits longer after it.
 */
static bool look_up(struct metrics *metrics)
{
	const bool much =
		metrics->nameless > metrics->matters * metrics->weights[0][metrics->nr_moments - 1];

	return watched_look_up(metrics->watched, much ? NAMING_NOW : NAMING_SELDOM);
}

/* Names are looked up together, and what they match is found out anew. */
static int walk_named(struct metrics *metrics)
{
	int err = walk_windows(metrics);

	if (err || !look_up(metrics))
		return err;
	map64_fini(&metrics->frames);
	metrics->frames = (struct map64){0};
	return walk_windows(metrics);
}

static bool is_sampled(const struct metrics *metrics, enum metric_type metric)
{
	return metric == METRIC_RATE || metric == METRIC_SHARE || metric == METRIC_RATIO ||
	       (metric == METRIC_CPU && metric_clock(metrics->trace));
}

static bool has_sampled(const struct metrics *metrics)
{
	bool has = false;

	for (unsigned m = 0; m < NR_METRICS; m++)
		has |= metrics->has[m] && is_sampled(metrics, m);
	return has;
}

/* Metrics that are not sampled have one value at all moments of a look. */
static void read_moment(struct metrics *metrics)
{
	for (unsigned i = 0; i < metrics->nr_terms; i++) {
		struct metric_term *term = &metrics->terms[i];

		if (!is_sampled(metrics, term->term->metric))
			continue;
		term->reading->state = READING_UNKNOWN;
		read_term(metrics, term);
	}
}

/* --- all of them ------------------------------------------------------------------------------ */

static void begin_readings(struct metrics *metrics)
{
	for (unsigned i = 0; i < metrics->nr_terms; i++) {
		struct metric_term *term = &metrics->terms[i];
		bool series =
			term->term->metric == METRIC_TIME || term->term->metric == METRIC_VALUE;

		term->reading->state = series ? READING_SAME : READING_UNKNOWN;
		term->reading->median = term->median ? median_get(term->median) : 0;
		term->reading->nr = term->median ? term->median->nr : 0;
	}
}

static uint64_t shorter(uint64_t ns, uint64_t other)
{
	return ns < other ? ns : other;
}

/* Returns the end of the last window that was read before; 0: of those there may be there is none.
 */
static uint64_t last_moment(const struct metrics *metrics, uint64_t start, uint64_t to)
{
	const uint64_t last = metrics->nr_moments ? metrics->moments[metrics->nr_moments - 1] : 0;

	return last >= start + METRIC_WINDOW_NS && last < to ? last : 0;
}

/*
 * Divides the time since the last look into moments. In the first second no window is whole, and
 * its functions only get their names.
 */
static void find_moments(struct metrics *metrics)
{
	const struct trace_run *run = trace_run(metrics->trace);
	const bool whole = run->end >= run->start + METRIC_WINDOW_NS + METRIC_DELAY_NS;
	const uint64_t length = run->end > run->start ? run->end - run->start : 0;
	const uint64_t to = run->end - shorter(length, METRIC_DELAY_NS);
	const uint64_t last = whole ? last_moment(metrics, run->start, to) : 0;
	const uint64_t nr = last ? (to - last + METRIC_STEP_NS - 1) / METRIC_STEP_NS : 1;

	metrics->whole = whole;
	metrics->nr_moments = nr < METRIC_MOMENTS ? (unsigned)nr : METRIC_MOMENTS;
	for (unsigned m = 0; m < metrics->nr_moments; m++)
		metrics->moments[m] = to - (to - (last ? last : to)) *
		                                   (metrics->nr_moments - 1 - m) /
		                                   metrics->nr_moments;
}

unsigned metrics_moments(const struct metrics *metrics)
{
	return metrics->nr_moments;
}

uint64_t metrics_choose(struct metrics *metrics, unsigned moment)
{
	metrics->moment = moment;
	if (metrics->whole)
		read_moment(metrics);
	return metrics->moments[moment];
}

int metrics_read(struct metrics *metrics, struct watched *watched)
{
	int err = 0;

	metrics->watched = watched;
	metrics->trace = watched_trace(watched);
	begin_readings(metrics);
	find_moments(metrics);
	if (has_sampled(metrics))
		err = walk_named(metrics);
	if (!err && has_of_calls(metrics))
		err = metric_calls_read(metrics);
	if (!err && (metrics->has[METRIC_RSS] || metrics->has[METRIC_CPU]))
		err = metric_processes_read(metrics);
	return err;
}
