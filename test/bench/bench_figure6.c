/*
 * The model of figure 6 of Wagner and Knüpfer (2017), replayed through the buffer with a simulated
 * clock: 10 kHz at the start, 4 hours, 100 MB, MPI events that are kept until they fill half of it.
 *
 *     scenario         A    B    C    D
 *     bytes a sample  48  102   48  102     timing, sample record, 2 or 8 counters, in OTF2
 *     events, kB/s     1    1   10   10
 *
 * First with the paper's sizes as opaque records, beside what its model says: its 100 MB are 10^8
 * bytes, for then the events go at "about 1:23 h", with MiB at 1:27. Then with samples as
 * this buffer codes them, without and with counters: of a program that goes from site to site, each
 * with its own rates, stays for some ms, and does a little more or less in every interval.
 */

#include <stdbool.h>

#include "bench.h"
#include "counter_series.h"
#include "program.h"
#include "raw_records.h"

enum { SAMPLES, EVENTS, NR_KINDS };
enum { EVENT_BYTES = 40, MAX_HALVINGS = 32 };

static const uint64_t SECOND = 1000000000, PERIOD = 100000;
static const double DURATION = 4 * 3600.0, START_HZ = 10000;

struct scenario {
	const char *name;
	unsigned sample_bytes, counters;
	double event_rate; /* bytes a second */
};

static const struct scenario scenarios[] = {
	{"A", 48, 2, 1000}, {"B", 102, 8, 1000}, {"C", 48, 2, 10000}, {"D", 102, 8, 10000}};

struct replay {
	struct hmb *hmb;
	const struct scenario *scenario;
	struct program *program; /* NULL: records of the paper's size */
	struct series *series;   /* NULL: no counters */
	uint64_t totals[COUNTER_MAX];
	struct stream stream;
	uint64_t time, event_time; /* ns */
	double used;               /* share of the budget before the newest record */
	unsigned halvings;
	bool events_removed;
};

static void replay_open(struct replay *r, const struct scenario *scenario, size_t size,
                        const struct program_config *mix, bool with_counters)
{
	struct hmb_config config = {
		.memory = bench_memory(size),
		.size = size,
		.nr_kinds = NR_KINDS,
		.max_path = 128,
		.truncated_frame = 1,
		.kinds = {{.time_shift = 6,
	                   .nr_counters = with_counters ? 1 + scenario->counters : 0},
	                  {.share = size / 2}},
	};

	*r = (struct replay){
		.hmb = hmb_new(&config),
		.scenario = scenario,
		.series = with_counters ? series_new(1) : NULL,
		.stream = {.n = 0, .shift = 0},
	};
	if (mix) {
		struct program_config exact = *mix;

		exact.period = PERIOD;
		r->program = program_new(&exact);
	}
}

static void replay_close(struct replay *r)
{
	munmap(r->hmb->arena.memory, r->hmb->arena.size);
	hmb_free(r->hmb);
	free(r->program);
	free(r->series);
}

static void put_events(struct replay *r)
{
	static const char record[EVENT_BYTES];
	uint64_t gap = (uint64_t)(EVENT_BYTES / r->scenario->event_rate * (double)SECOND);

	for (; r->event_time < r->time; r->event_time += gap)
		put_raw(r->hmb, EVENTS, 0, r->event_time, record, sizeof(record));
}

static void put_sample(struct replay *r)
{
	static const char record[128];
	struct hmb_sample sample;

	if (r->program) {
		program_sample(r->program, &r->stream, &sample);
		sample.counters = r->totals;
		hmb_put(r->hmb, &sample);
	} else {
		sample.level = stream_next(&r->stream);
		put_raw(r->hmb, SAMPLES, sample.level, r->time, record, r->scenario->sample_bytes);
	}
}

static void print_time(double seconds)
{
	unsigned s = (unsigned)seconds;

	printf("  %u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
}

static double hertz(const struct replay *r)
{
	return START_HZ / (double)((uint64_t)1 << r->stream.shift);
}

static double used(const struct replay *r)
{
	return 100 * (double)hmb_used(r->hmb) / (double)r->hmb->arena.size;
}

/* When the paper's model halves for the k-th time. */
static double model_time(const struct scenario *s, size_t size, unsigned k)
{
	double rate = s->sample_bytes * START_HZ / (double)((uint64_t)1 << (k - 1));
	double with_events = (double)size / (rate + s->event_rate);

	if (with_events * s->event_rate < (double)size / 2)
		return with_events;
	return (double)size / rate;
}

static void print_change(struct replay *r, const char *what)
{
	print_time((double)r->time / (double)SECOND);
	printf("  %-16s %8.1f Hz  fill %5.1f %% -> %5.1f %%", what, hertz(r), r->used, used(r));
	if (!r->program && r->halvings && !*what) {
		double model = model_time(r->scenario, r->hmb->arena.size, r->halvings);

		printf("   model");
		print_time(model);
		printf("  ratio %.3f", (double)r->time / (double)SECOND / model);
	}
	printf("\n");
}

static void watch(struct replay *r, bool quiet)
{
	bool removed = hmb_floor(r->hmb, EVENTS) == NR_LEVELS;

	if (removed && !r->events_removed)
		print_change(r, "events removed");
	r->events_removed = removed;
	while (r->stream.shift < hmb_floor(r->hmb, SAMPLES)) {
		stream_slow(&r->stream, r->stream.shift + 1);
		r->halvings++;
		if (!quiet)
			print_change(r, "");
	}
}

static void replay_run(struct replay *r, bool quiet)
{
	while (r->time < (uint64_t)DURATION * SECOND) {
		r->time += PERIOD << r->stream.shift;
		r->used = used(r);
		if (r->series)
			series_step(r->series, PERIOD << r->stream.shift, r->totals);
		put_sample(r);
		put_events(r);
		watch(r, quiet);
	}
}

struct outcome {
	double hertz, bytes; /* bytes: of a sample, contexts included */
};

static struct outcome run(const struct scenario *scenario, size_t size,
                          const struct program_config *mix, bool with_counters, bool quiet)
{
	struct replay r;
	struct outcome end;
	size_t bytes;
	double stored, most;

	replay_open(&r, scenario, size, mix, with_counters);
	replay_run(&r, quiet);
	r.used = used(&r);
	if (!quiet)
		print_change(&r, "the end");
	end.hertz = hertz(&r);
	bytes = r.hmb->kinds[SAMPLES].bytes + hmb_context_bytes(r.hmb) -
	        r.hmb->cct.nr_nodes * sizeof(struct node);
	stored = (double)hmb_stored(r.hmb, SAMPLES);
	end.bytes = (double)bytes / stored;
	most = (double)(size - hmb_used(r.hmb) + bytes) / stored;
	printf("  scenario %s: %u halvings, ends at %.1f Hz, %.1f million samples stored",
	       scenario->name, r.halvings, end.hertz, stored / 1e6);
	/* The frequency goes by powers of two: only so many bytes make it another. */
	if (mix)
		printf(", %.2f bytes each with contexts; up to %.2f it ends there, at %.2f "
		       "twice as high",
		       end.bytes, most, most / 2);
	printf("\n");
	replay_close(&r);
	return end;
}

static void paper_sizes(size_t size, const char *name, bool quiet)
{
	static const double paper[] = {78.125, 39.0625, 78.125, 39.0625};

	for (unsigned i = 0; i < 4; i++) {
		struct outcome end;

		printf(" scenario %s with the paper's %u bytes a sample, %s\n", scenarios[i].name,
		       scenarios[i].sample_bytes, name);
		end = run(&scenarios[i], size, NULL, false, quiet);
		bench_figure("the frequency at the end", end.hertz, "the paper's", paper[i],
		             "ratio 1");
	}
}

/* bare: bytes of a sample without counters. Returns them. */
static double our_coding(const char *name, const struct program_config *mix, unsigned nr,
                         bool with_counters, double bare)
{
	static const double paper[] = {78.125, 39.0625, 78.125, 39.0625};

	for (unsigned i = 0; i < 4; i += 4 / nr) {
		struct outcome end;

		printf(" scenario %s as coded here, %s, %s counters\n", scenarios[i].name, name,
		       with_counters ? "with its" : "without");
		end = run(&scenarios[i], 100000000, mix, with_counters, false);
		bench_figure("the frequency at the end", end.hertz, "the paper's", paper[i],
		             "ratio >= 8");
		if (!with_counters)
			bare = end.bytes;
		else
			bench_figure("bytes a counter", (end.bytes - bare) / scenarios[i].counters,
			             "", 0, "<= 2.5");
	}
	return bare;
}

int main(void)
{
	double bare;

	bench_head("figure 6", "Hz");
	paper_sizes(100000000, "100 MB = 100 * 10^6", false);
	paper_sizes(100 << 20, "100 MiB", true);
	/* Without counters B is A and D is C. */
	our_coding("64 sites", &program_even, 2, false, 0);
	bare = our_coding("a skewed mix", &program_skewed, 2, false, 0);
	our_coding("a skewed mix", &program_skewed, 4, true, bare);
	return 0;
}
