/* A sampler of the kernel's, where it may be had. */
#ifndef TEST_OPEN_SAMPLER_H
#define TEST_OPEN_SAMPLER_H

#include "cases.h"

#include <stdio.h>

#include "perf/sampler/sampler.h"

/* The clock for user code; skips the case where there is no sampling. */
static inline void parse_clock(struct event *event)
{
	char why[WHY_SIZE];

	assert_int_equal(event_parse(event, "cpu-clock:u", why), 0);
	if (event_probe(event)) {
		printf("no sampling here\n");
		skip();
	}
}

static inline struct sampler *open_sampler(const struct sampler_config *config)
{
	char why[WHY_SIZE];
	struct sampler *sampler = sampler_open(config, why);

	if (!sampler)
		printf("%s\n", why);
	return sampler;
}

#endif
