#include "trace/merge/merge_clock.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NR_BUCKETS    1024
#define SAME_BOOT     ((int64_t)2000000000) /* ns by which a host's real time may have been set */
#define MAX_DRIFT     1e-3
#define MAX_CHANGE    2e-5 /* of a drift, from a stretch to its halves */
#define MIN_SEGMENT   2    /* knots' distances that one line is fitted to at least */
#define MAX_BEYOND    4.0  /* knots' distances before and behind the run */
#define MAX_TIME      ((uint64_t)1 << 62)
#define SETTLED       1       /* ns that nobody would see */
#define MOST_SETTLING 1000000 /* pairs, one after the other: a second */
#define MANY_PAIRS    16      /* of a host, and more only where no others lead to the other one */

/* The tightest bound in one interval of the run, in the time of the pair's first host. */
struct bound {
	uint64_t time;
	int64_t value;
	bool known;
};

/* Bounds on the difference of b's clock from a's, with a < b. */
struct clock_bounds {
	uint32_t a, b;
	struct bound least[NR_BUCKETS], most[NR_BUCKETS];
};

void clocks_fini(struct clocks *clocks)
{
	map64_fini(&clocks->pairs);
	free(clocks->hosts);
	free(clocks->bounds);
	*clocks = (struct clocks){0};
}

/* Times in a file can be arbitrary. */
static int64_t boots_apart(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

int clocks_host(struct clocks *clocks, const char *name, uint64_t start, uint64_t real_start)
{
	int64_t boot = (int64_t)(real_start - start);
	struct clock_host host = {
		.name = name,
		.boot = boot,
		.guess = clocks->nr ? boots_apart(boot, clocks->hosts[0].boot) : 0,
		.error = clocks->nr ? CLOCK_NO_ERROR : 0,
		.group = clocks->nr,
	};

	for (uint32_t i = 0; i < clocks->nr; i++) {
		const struct clock_host *known = &clocks->hosts[i];

		if (!strcmp(known->name, name) && boots_apart(boot, known->boot) < SAME_BOOT &&
		    boots_apart(boot, known->boot) > -SAME_BOOT)
			return (int)i;
	}
	if (clocks->nr == CLOCK_MAX_HOSTS)
		return -E2BIG;
	if (ARRAY_ADD(clocks->hosts, clocks->nr, host))
		return -ENOMEM;
	return (int)clocks->nr - 1;
}

void clocks_span(struct clocks *clocks, uint32_t host, uint64_t start, uint64_t end)
{
	start = clocks_guess(clocks, host, start);
	end = clocks_guess(clocks, host, end);
	if (!clocks->end || start < clocks->start)
		clocks->start = start;
	if (end > clocks->end)
		clocks->end = end;
	if (clocks->end <= clocks->start)
		clocks->end = clocks->start + 1;
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* Returns the host that represents all hosts that are connected with this one by pairs. */
static uint32_t group_of(struct clocks *clocks, uint32_t host)
{
	struct clock_host *hosts = clocks->hosts;

	for (; hosts[host].group != host; host = hosts[host].group)
		hosts[host].group = hosts[hosts[host].group].group;
	return host;
}

/* Where all talk to all, there are pairs enough without most: those with the first are the best. */
static bool is_wanted(struct clocks *clocks, uint32_t a, uint32_t b)
{
	return !a || clocks->hosts[a].nr_pairs < MANY_PAIRS ||
	       clocks->hosts[b].nr_pairs < MANY_PAIRS || group_of(clocks, a) != group_of(clocks, b);
}

static int add_pair(struct clocks *clocks, uint64_t key, uint32_t a, uint32_t b)
{
	struct clock_bounds *grown = array_grow(clocks->bounds, clocks->nr_bounds, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	clocks->bounds = grown;
	if (map64_add(&clocks->pairs, key, clocks->nr_bounds))
		return -ENOMEM;
	grown = &clocks->bounds[clocks->nr_bounds++];
	memset(grown, 0, sizeof(*grown));
	grown->a = a;
	grown->b = b;
	clocks->hosts[a].nr_pairs++;
	clocks->hosts[b].nr_pairs++;
	clocks->hosts[group_of(clocks, a)].group = group_of(clocks, b);
	return 0;
}

/* Requires a < b. *bounds is NULL if the pair is not used. Returns 0 or -ENOMEM. */
static int bounds_of(struct clocks *clocks, uint32_t a, uint32_t b, struct clock_bounds **bounds)
{
	uint64_t key = (uint64_t)a << 32 | b;
	uint32_t found = map64_get(&clocks->pairs, key);

	*bounds = NULL;
	if (found == UINT32_MAX) {
		if (!is_wanted(clocks, a, b))
			return 0;
		found = clocks->nr_bounds;
		if (add_pair(clocks, key, a, b))
			return -ENOMEM;
	}
	*bounds = &clocks->bounds[found];
	return 0;
}

static unsigned bucket_of(const struct clocks *clocks, uint64_t time)
{
	double part;

	if (time <= clocks->start)
		return 0;
	part = (double)(time - clocks->start) / (double)(clocks->end - clocks->start);
	return part < 1 ? (unsigned)(part * NR_BUCKETS) : NR_BUCKETS - 1;
}

int clocks_bound(struct clocks *clocks, uint32_t a, uint64_t left, uint32_t b, uint64_t reached)
{
	struct clock_bounds *bounds;
	uint64_t time = a < b ? left : reached;
	struct bound *bound;
	int64_t value;
	int err = bounds_of(clocks, a < b ? a : b, a < b ? b : a, &bounds);

	if (err || !bounds)
		return err;
	bound = (a < b ? bounds->least : bounds->most) + bucket_of(clocks, time);
	value = (int64_t)(a < b ? left - reached : reached - left);
	if (!bound->known || (a < b ? value > bound->value : value < bound->value))
		*bound = (struct bound){time, value, true};
	return 0;
}

/* --- one line --------------------------------------------------------------------------------- */

/* offset + slope · (time - the segment's start) */
struct line {
	double offset, slope, width; /* width: between the bounds; below 0: they contradict it */
};

struct segment {
	const struct clock_bounds *bounds;
	unsigned first, end; /* buckets */
	uint64_t start;
};

/* Finds the line of this slope in the middle between the bounds. */
static struct line line_of_slope(const struct segment *segment, double slope)
{
	double least = -INFINITY, most = INFINITY;

	for (unsigned i = segment->first; i < segment->end; i++) {
		const struct bound *low = &segment->bounds->least[i];
		const struct bound *high = &segment->bounds->most[i];

		if (low->known)
			least = fmax(least, (double)low->value - slope * ((double)low->time -
			                                                  (double)segment->start));
		if (high->known)
			most = fmin(most, (double)high->value - slope * ((double)high->time -
			                                                 (double)segment->start));
	}
	return (struct line){(least + most) / 2, slope, most - least};
}

/* Whether there are bounds of this side in both the first and the last third. */
static bool spans(const struct bound *bounds, unsigned first, unsigned end)
{
	unsigned third = (end - first) / 3;
	bool early = false, late = false;

	for (unsigned i = first; i < end; i++) {
		early = early || (bounds[i].known && i <= first + third);
		late = late || (bounds[i].known && i + third >= end - 1);
	}
	return early && late;
}

/* The width is a concave function of the slope, so ternary search finds its maximum. */
static struct line fit_line(const struct segment *segment, double slope, double change)
{
	double low = slope - change, high = slope + change;

	if (!spans(segment->bounds->least, segment->first, segment->end) ||
	    !spans(segment->bounds->most, segment->first, segment->end))
		return line_of_slope(segment, slope);
	for (unsigned i = 0; i < 80; i++) {
		double a = low + (high - low) / 3, b = high - (high - low) / 3;

		if (line_of_slope(segment, a).width < line_of_slope(segment, b).width)
			low = a;
		else
			high = b;
	}
	return line_of_slope(segment, (low + high) / 2);
}

/* --- the run ---------------------------------------------------------------------------------- */

struct fit {
	const struct clocks *clocks;
	const struct clock_bounds *bounds;
	double at[CLOCK_KNOTS];
	double error;
	unsigned pieces;
};

static uint64_t knot_time(const struct clocks *clocks, unsigned knot)
{
	return clocks->start +
	       (uint64_t)((double)(clocks->end - clocks->start) * knot / (CLOCK_KNOTS - 1));
}

static struct line line_between(const struct fit *fit, unsigned first, unsigned last, double slope,
                                double change)
{
	const struct segment segment = {
		.bounds = fit->bounds,
		.first = first * (NR_BUCKETS / (CLOCK_KNOTS - 1)),
		.end = last * (NR_BUCKETS / (CLOCK_KNOTS - 1)),
		.start = knot_time(fit->clocks, first),
	};

	return fit_line(&segment, slope, change);
}

/* Fits one line between two knots, or one for each half if the clocks did not run evenly. */
static void fit_knots(struct fit *fit, unsigned first, unsigned last, double slope, double change)
{
	struct line line = line_between(fit, first, last, slope, change);
	unsigned middle = (first + last) / 2;

	if (line.width < 0 && last - first >= 2 * MIN_SEGMENT &&
	    isfinite(line_between(fit, first, middle, line.slope, 0).width) &&
	    isfinite(line_between(fit, middle, last, line.slope, 0).width)) {
		fit_knots(fit, first, middle, line.slope, MAX_CHANGE);
		fit_knots(fit, middle, last, line.slope, MAX_CHANGE);
		return;
	}
	for (unsigned i = first; i <= last; i++) {
		double value = line.offset + line.slope * ((double)knot_time(fit->clocks, i) -
		                                           (double)knot_time(fit->clocks, first));

		/* Where two lines meet, neither is right. */
		fit->at[i] = i == first && fit->pieces ? (fit->at[i] + value) / 2 : value;
	}
	/* Bounds that no line fits say at least by how much it is off. */
	fit->error = fmax(fit->error, line.width < 0 ? -line.width : line.width / 2);
	fit->pieces++;
}

/* Both hosts must have sent something to each other. */
static bool fit_pair(const struct clocks *clocks, const struct clock_bounds *bounds,
                     struct fit *fit)
{
	*fit = (struct fit){.clocks = clocks, .bounds = bounds};
	if (!isfinite(line_between(fit, 0, CLOCK_KNOTS - 1, 0, 0).width))
		return false;
	fit_knots(fit, 0, CLOCK_KNOTS - 1, 0, MAX_DRIFT);
	return true;
}

/* Between the knots on a line, and before and behind them, where a host began or ended later. */
static int64_t between_knots(const struct clocks *clocks, const int64_t at[CLOCK_KNOTS],
                             uint64_t guess)
{
	double place;
	unsigned knot = 0;

	if (clocks->end <= clocks->start || guess > MAX_TIME)
		return at[0];
	place = ((double)guess - (double)clocks->start) / (double)(clocks->end - clocks->start) *
	        (CLOCK_KNOTS - 1);
	place = fmin(fmax(place, -MAX_BEYOND), CLOCK_KNOTS - 1 + MAX_BEYOND);
	if (place >= CLOCK_KNOTS - 1)
		knot = CLOCK_KNOTS - 2;
	else if (place > 0)
		knot = (unsigned)place;
	return at[knot] + llrint((place - knot) * (double)(at[knot + 1] - at[knot]));
}

/* Whatever the bounds are, corrected clocks must not go backwards. */
static void keep_monotonic(const struct clocks *clocks, int64_t at[CLOCK_KNOTS])
{
	int64_t most = (int64_t)((clocks->end - clocks->start) / (4 * CLOCK_KNOTS));

	for (unsigned i = 1; i < CLOCK_KNOTS; i++) {
		if (at[i] < at[i - 1] - most)
			at[i] = at[i - 1] - most;
		if (at[i] > at[i - 1] + most)
			at[i] = at[i - 1] + most;
	}
}

/*
 * The distance is known by the time of the pair's first host, and corrections are by a host's own:
 * the second one's time is brought to the first one's before.
 */
static void place_host(struct clocks *clocks, const struct fit *fit)
{
	struct clock_host *a = &clocks->hosts[fit->bounds->a], *b = &clocks->hosts[fit->bounds->b];
	struct clock_host *from = a->placed ? a : b, *to = a->placed ? b : a;
	int64_t distance[CLOCK_KNOTS];

	for (unsigned i = 0; i < CLOCK_KNOTS; i++)
		distance[i] = llrint(fit->at[i]);
	for (unsigned i = 0; i < CLOCK_KNOTS; i++) {
		uint64_t time = knot_time(clocks, i);
		int64_t move = distance[i];

		for (unsigned step = 0; to == b && step < 3; step++)
			move = between_knots(clocks, distance, time + (uint64_t)move);
		move = to == b ? move : -move;
		to->at[i] = move + between_knots(clocks, from->at, time + (uint64_t)move);
	}
	keep_monotonic(clocks, to->at);
	to->error = from->error + (uint64_t)fit->error + 1;
	to->placed = true;
}

/* Returns the error of the host that this pair would place, or infinity if it places none. */
static double error_by(const struct clocks *clocks, const struct fit *fit)
{
	const struct clock_host *a = &clocks->hosts[fit->bounds->a];
	const struct clock_host *b = &clocks->hosts[fit->bounds->b];

	if (a->placed == b->placed)
		return INFINITY;
	return (double)(a->placed ? a : b)->error + fit->error;
}

/* Returns the pair that places a host with the smallest error, or NULL. */
static const struct fit *best_fit(const struct clocks *clocks, const struct fit *fits, uint32_t nr)
{
	const struct fit *best = NULL;
	double error, least = INFINITY;

	for (uint32_t i = 0; i < nr; i++) {
		error = error_by(clocks, &fits[i]);
		if (error < least) {
			least = error;
			best = &fits[i];
		}
	}
	return best;
}

/* Places hosts from the first one outward, each over the path with the smallest total error. */
static void place_hosts(struct clocks *clocks, const struct fit *fits, uint32_t nr)
{
	const struct fit *best;

	clocks->hosts[0].placed = true;
	while ((best = best_fit(clocks, fits, nr)))
		place_host(clocks, best);
}

/* --- all pairs -------------------------------------------------------------------------------- */

/* Moves a host's clock, but no further from where it was placed than its error. */
static void move_knot(struct clock_host *host, const struct clock_host *placed, unsigned knot,
                      double by)
{
	double from = (double)placed->at[knot], most = (double)placed->error;

	host->at[knot] = llrint(fmin(fmax((double)host->at[knot] + by, from - most), from + most));
}

/* Moves the clocks of a pair towards each other as far as it asks; how far that was, ns. */
static double settle_pair(struct clocks *clocks, const struct clock_host *placed,
                          const struct fit *fit)
{
	uint32_t a = fit->bounds->a, b = fit->bounds->b;
	double most = 0;

	if (!placed[a].placed || !placed[b].placed)
		return 0;
	for (unsigned knot = 0; knot < CLOCK_KNOTS; knot++) {
		double off = (double)clocks->hosts[b].at[knot] - (double)clocks->hosts[a].at[knot] -
		             fit->at[knot];
		double beyond = fabs(off) - fit->error, by = copysign(beyond, off);

		if (!(beyond > SETTLED))
			continue;
		most = fmax(most, beyond);
		if (a)
			move_knot(&clocks->hosts[a], &placed[a], knot, by / 2);
		move_knot(&clocks->hosts[b], &placed[b], knot, a ? -by / 2 : -by);
	}
	return most;
}

/*
 * Hosts were placed by some of the pairs, one after the other. What the other pairs say is as true:
 * none of their messages arrives before it was sent, either. Each round takes all of them nearer to
 * what all pairs allow.
 */
static int settle(struct clocks *clocks, const struct fit *fits, uint32_t nr)
{
	struct clock_host *placed = malloc(clocks->nr * sizeof(*placed));
	uint32_t rounds = nr ? MOST_SETTLING / nr : 0;
	double most = 2 * SETTLED;

	if (!placed)
		return -ENOMEM;
	memcpy(placed, clocks->hosts, clocks->nr * sizeof(*placed));
	for (uint32_t round = 0; round < rounds && most > SETTLED; round++) {
		most = 0;
		for (uint32_t i = 0; i < nr; i++) {
			const struct fit *fit = &fits[round % 2 ? nr - 1 - i : i];

			most = fmax(most, settle_pair(clocks, placed, fit));
		}
	}
	for (uint32_t i = 0; i < clocks->nr; i++)
		keep_monotonic(clocks, clocks->hosts[i].at);
	free(placed);
	return 0;
}

int clocks_solve(struct clocks *clocks)
{
	struct fit *fits = calloc(clocks->nr_bounds + 1UL, sizeof(*fits));
	uint32_t nr = 0;
	int err = 0;

	if (!fits)
		return -ENOMEM;
	for (uint32_t i = 0; i < clocks->nr_bounds; i++)
		nr += fit_pair(clocks, &clocks->bounds[i], &fits[nr]);
	if (clocks->nr) {
		place_hosts(clocks, fits, nr);
		err = settle(clocks, fits, nr);
	}
	free(fits);
	return err;
}

uint64_t clocks_time(const struct clocks *clocks, uint32_t host, uint64_t time)
{
	uint64_t guess = clocks_guess(clocks, host, time);

	return guess + (uint64_t)between_knots(clocks, clocks->hosts[host].at, guess);
}
