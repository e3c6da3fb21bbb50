/* The lines above a report: what was run, how long, and how it was sampled. */
#ifndef OUTPUT_REPORT_HEAD_H
#define OUTPUT_REPORT_HEAD_H

#include "output/report.h"

#include <stdio.h>

/* "x.atr: ./app -x (exit status 1)", "12.30 s on host, 2 CPUs, 2026-11-21 17:00:01" */
void report_head_run(FILE *to, const struct trace *trace, const char *name);

/* "cpu-clock: 12345 samples, one every 1.553 ms (644 Hz), at first every 97.08 µs" */
void report_head_event(FILE *to, const struct trace *trace, uint32_t index);

/*
 * "shown: comm=lmp, from 2.000 s to 5.000 s of the run, 584 samples"; nothing where all is. 0 or
 * -ENOMEM.
 */
int report_head_part(FILE *to, const struct trace *trace, const struct report_options *options,
                     uint64_t samples);

#endif
