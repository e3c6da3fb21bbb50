/*
 * The price of one sample, several times over: how well does it repeat, and what does it grow with?
 */
#include "perf/sampler/cost.h"
#include "perf/events/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define RUNS 10

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int run(const char *name, struct cost_question question)
{
	uint64_t least = UINT64_MAX, most = 0;
	double start = seconds();

	for (int i = 0; i < RUNS; i++) {
		uint64_t price;
		int err = cost_measure(&question, &price);

		if (err) {
			printf("%-28s %s\n", name, strerror(-err));
			return 1;
		}
		least = price < least ? price : least;
		most = price > most ? price : most;
	}
	printf("%-28s %6" PRIu64 " - %6" PRIu64 " ns a sample, spread %4.1f %%, %.0f ms a run\n",
	       name, least, most, 100.0 * (most - least) / least,
	       1000 * (seconds() - start) / RUNS);
	return 0;
}

int main(void)
{
	const uint64_t ip_and_sp = 0x180; /* on x86-64; elsewhere some other two */

	return run("bare", (struct cost_question){0}) |
	       run("user side only", (struct cost_question){.exclude_kernel = true}) |
	       run("callchain", (struct cost_question){.callchain = true}) |
	       run("8 KiB of stack",
	           (struct cost_question){.stack_size = 8192, .regs = ip_and_sp}) |
	       run("16 KiB of stack",
	           (struct cost_question){.stack_size = 16384, .regs = ip_and_sp}) |
	       run("64 KiB of stack",
	           (struct cost_question){.stack_size = EVENT_STACK_MAX, .regs = ip_and_sp});
}
