#include "record/period.h"

#include "perf/sampler/prime.h"

#define DEFAULT_CLOCK_NS 100000
/* The kernel's clocks tick every 10 us at most, whatever is asked for; CPUs are up to 2 % apart. */
#define LEAST_CLOCK_NS 10211

/* A number that gives some thousand samples a second where events are as frequent as they get. */
static uint64_t guess(const struct event *event)
{
	if (event->usual)
		return event->usual;
	if (event->probe[0])
		return 1;
	switch (event->attr.type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return 1;
	case PERF_TYPE_HARDWARE:
		return event->attr.config <= PERF_COUNT_HW_INSTRUCTIONS ? 299993 : 9973;
	default:
		return 9973;
	}
}

/* Periods are given in units, of which one occurrence may be several. */
static uint64_t occurrences(const struct event *event, uint64_t units)
{
	return event->scale > 1 ? (units + event->scale - 1) / event->scale : units;
}

uint64_t period_base(const struct event *event, double frequency, uint64_t period)
{
	if (event->unit == EVENT_COUNT) {
		period = event->period ? event->period : period;
		return period ? occurrences(event, period) : guess(event);
	}
	if (event->period || event->freq) { /* its own, before what is for all */
		frequency = (double)event->freq;
		period = event->period;
	}
	if (!period)
		period = prime_beside(frequency > 0 ? (uint64_t)(1e9 / frequency)
		                                    : DEFAULT_CLOCK_NS);
	return period > LEAST_CLOCK_NS ? period : LEAST_CLOCK_NS;
}

struct period_choice period_choice(const struct event *event, double frequency, uint64_t period)
{
	bool own = event->period || event->freq;
	double wished = own ? (double)event->freq : frequency;

	return (struct period_choice){
		.frequency = wished > 0 ? wished : 1e9 / DEFAULT_CLOCK_NS,
		.is_exact = own ? event->period != 0 : period != 0,
		.is_default = !(wished > 0),
	};
}
