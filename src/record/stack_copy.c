#include "record/stack_copy.h"
#include "record/period.h"
#include "record/session.h"

#include <math.h>

#define LEAST     1024 /* samples that are worth a judgement */
#define CUT_SHARE 256  /* one in so many may be cut */
#define CUT_SURE  8    /* cut at once: that is no chance any more */

#define SOON_NS  1000000000 /* so long after the start it is asked often */
#define OFTEN_NS 12500000

/* A ring must hold the samples of so long: while the recorder is kept from a CPU, it fills. */
#define ROOM_NS 10000000
_Static_assert(ROOM_NS >= 4 * PACE_SHORTEST, "a ring holds four of the shortest intervals");
#define LEAST_HELD  3   /* samples, however seldom they come */
#define RECORD_SIZE 512 /* of a sample beside its stack */

/* At the start a ring must have more, but for copies that reach the root of nearly all stacks. */
#define LONG_NS    50000000
#define NEARLY_ALL 32768.0

/* Time that the kernel needs to copy one KiB of stack, rounded up. */
#define KIB_NS 150

/* Whether an event can be opened once more, to copy more. */
static bool can_grow(const struct session *s)
{
	return s->sampling.way == SAMPLER_CGROUP && !s->sampling.nr_counters;
}

/* The largest copies of which so many find room. */
static double largest(size_t room, double samples)
{
	return (double)room / fmax(samples, LEAST_HELD) - RECORD_SIZE;
}

/* --- at the start ----------------------------------------------------------------------------- */

static double largest_with_room(size_t room, double period)
{
	double size = fmin(largest(room, ROOM_NS / period), NEARLY_ALL);

	return fmax(size, largest(room, LONG_NS / period));
}

/* Assumes that all stacks are as deep as the copy. */
static double largest_affordable(const struct session *s, double period)
{
	double left = s->config->max_overhead * period - (double)s->guard.price;

	return s->config->max_overhead > 0 ? s->config->stack.size + left / KIB_NS * 1024
	                                   : EVENT_STACK_MAX;
}

static bool has_known_rates(const struct record_config *config)
{
	for (unsigned e = 0; e < config->nr_events; e++)
		if (config->events[e].unit == EVENT_COUNT)
			return false;
	return true;
}

uint32_t stack_copy_size(const void *arg, uint64_t period, size_t room)
{
	const struct session *s = arg;
	const struct record_config *config = s->config;
	/* Each event may fill its part of the ring, and use its part of the time. */
	double apart = (double)period / config->nr_events;
	double size = fmin(largest_with_room(room, apart), largest_affordable(s, apart));

	if (config->stack.fixed || can_grow(s) || !has_known_rates(config))
		return config->stack.size;
	return (uint32_t)fmin(fmax(size, config->stack.size), EVENT_STACK_MAX) & ~(uint32_t)7;
}

/* Samples a second of one CPU that clocks take; 0: an event has no rate that is known before. */
static double rate_at_start(const struct session *s)
{
	const struct record_config *config = s->config;
	double rate = 0;

	if (!has_known_rates(config))
		return 0;
	for (unsigned e = 0; e < config->nr_events; e++)
		rate += 1e9 /
		        (double)(period_base(&config->events[e], config->frequency, config->period)
		                 << s->sampling.shift[e]);
	return rate;
}

size_t stack_copy_ring(const struct session *s, size_t size, size_t most)
{
	const struct record_config *config = s->config;
	double samples = rate_at_start(s) * ROOM_NS / 1e9;

	if (!can_grow(s) || config->stack.mode != TRACE_STACKS_DWARF || config->stack.fixed)
		return size;
	while (2 * size <= most && largest(size, samples) < EVENT_STACK_MAX)
		size *= 2;
	return size;
}

/* --- while sampling --------------------------------------------------------------------------- */

/* How many samples a second one CPU may take. */
static double rate_of(const struct session *s, uint64_t elapsed)
{
	double rate = 0;

	if (!elapsed)
		return 0;
	for (unsigned e = 0; e < s->config->nr_events; e++) {
		if (!s->events[e].on)
			continue;
		if (s->config->events[e].unit == EVENT_COUNT)
			return (double)s->stack.copy.samples * 1e9 / (double)elapsed;
		rate += 1e9 /
		        (double)(sampler_base_period(s->sampler, e, 0) << s->sampling.shift[e]);
	}
	return rate;
}

static bool is_room(const struct session *s, uint32_t size, double rate)
{
	return size <= largest(sampler_ring_size(s->sampler), rate * ROOM_NS / 1e9);
}

/* Assumes that all cut stacks reach the end of the larger copy. */
static bool is_affordable(const struct session *s, uint32_t size, double rate)
{
	const struct stack_copy *copy = &s->stack.copy;
	double more = (double)(size - sampler_copied(s->sampler)) / 1024 * KIB_NS * copy->cut /
	              copy->samples;

	return s->config->max_overhead <= 0 ||
	       2 * ((double)s->guard.price + more) * rate <= s->config->max_overhead * 1e9;
}

/* More than one in a thousand. */
static bool loses(const struct session *s)
{
	uint64_t taken = 0;

	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (session_has_kind(s, e))
			taken += tables_ledger(s->tables)->taken[s->events[e].kind];
	return sampler_all_lost(s->sampler) > taken / 1000;
}

static bool may_grow(const struct session *s)
{
	return can_grow(s) && s->config->stack.mode == TRACE_STACKS_DWARF &&
	       !s->config->stack.fixed && !s->stack.copy.done &&
	       sampler_copied(s->sampler) < EVENT_STACK_MAX;
}

/* Where one in CUT_SHARE is cut, so many of fewer than LEAST are once in 100,000 times. */
static bool is_clear(const struct stack_copy *copy)
{
	return copy->samples >= LEAST || copy->cut >= CUT_SURE + 2 * copy->samples / CUT_SHARE;
}

void stack_copy_follow(struct session *s)
{
	struct stack_copy *copy = &s->stack.copy;
	uint64_t now = sampler_now();
	uint32_t size;
	double rate;

	if (!is_clear(copy) || !may_grow(s))
		return;
	size = 2 * sampler_copied(s->sampler);
	size = size < EVENT_STACK_MAX ? size : EVENT_STACK_MAX;
	rate = rate_of(s, now - (copy->since ? copy->since : s->start));
	if (copy->cut > copy->samples / CUT_SHARE && is_room(s, size, rate) &&
	    is_affordable(s, size, rate) && !loses(s))
		copy->done = sampler_copy_more(s->sampler, size) != 0;
	*copy = (struct stack_copy){.since = now, .done = copy->done};
}

uint64_t stack_copy_wait(const struct session *s)
{
	return may_grow(s) && sampler_now() - s->start < SOON_NS ? OFTEN_NS : UINT64_MAX;
}
