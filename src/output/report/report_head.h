/* The lines above a report: what was run, how long, and how it was sampled. */
#ifndef OUTPUT_REPORT_REPORT_HEAD_H
#define OUTPUT_REPORT_REPORT_HEAD_H

#include "output/profile/profile.h"
#include "output/report/report.h"

#include <stdio.h>

/* "x.atr: ./app -x (exit status 1)", "12.30 s on host, 2 CPUs, 2026-11-21 17:00:01" */
void report_head_run(FILE *to, const struct trace *trace, const char *name);

/* Amount that was sampled of an event, or of the part that is shown. */
struct event_amount {
	const struct trace *trace;
	uint32_t event;
	const struct selection *selection;
	uint64_t samples;
	uint64_t total;     /* weight, what was not sampled included; 0: nothing is told of it */
	uint64_t unsampled; /* of that, no sample stands for */
	uint64_t idle;      /* of that, CPUs were idle */
	bool by_exact;      /* exact totals are in it, of both sides of the system */
};

struct event_amount event_amount_of(const struct profile *profile);

/*
 * "cpu-clock: 1216 samples = 472.1 ms of CPU time (14 % of one CPU; waiting is not sampled)"
 * "one every 388.3 µs (2575 Hz), at first every 97.08 µs"
 *
 * Clocks alone tell of CPU time, others of occurrences.
 */
void report_head_event(FILE *to, const struct event_amount *amount);

/*
 * "shown: comm=lmp, from 2.000 s to 5.000 s of the run, 584 of 1216 samples"; nothing where all is.
 * 0 or -ENOMEM.
 */
int report_head_part(FILE *to, const struct event_amount *amount);
/* The same without the number of samples, for views of calls. */
int report_head_calls_part(FILE *to, const struct trace *trace, const struct selection *selection);

#endif
