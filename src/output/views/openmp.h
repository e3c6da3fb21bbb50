/* Parallel regions of OpenMP: what their threads did, added up by region. */
#ifndef OUTPUT_VIEWS_OPENMP_H
#define OUTPUT_VIEWS_OPENMP_H

#include "output/views/query.h"

struct openmp_row {
	uint32_t region;         /* of the trace */
	uint64_t module, offset; /* frame of its code; module 0: not known */
	struct trace_openmp sum; /* of all threads that forked it */
};

struct openmp {
	struct openmp_row *rows; /* by time, descending */
	uint32_t nr;
	uint32_t nr_processes;
	uint64_t life;    /* ns, of all processes with regions */
	uint64_t covered; /* ns of it in which a region ran */
	uint64_t idle;    /* ns of all regions and threads */
	uint64_t barrier, critical, work;
};

/*
 * Adds up the regions of a trace. Returns 0, -ENODATA where there are none, or -ENOMEM.
 * openmp_fini() may be called in either case.
 */
int openmp_init(struct openmp *openmp, const struct trace *trace);
void openmp_fini(struct openmp *openmp);

/* Returns the time in which no region ran, of all processes. */
uint64_t openmp_serial(const struct openmp *openmp);
/* Returns (longest - mean) / longest of the work of a team, weighted by the longest; 0 to 1. */
double openmp_imbalance(const struct trace_openmp *sum);

/* Sets the text to the function around a region, without what its name has beside. */
void openmp_function(const struct trace *trace, const struct openmp_row *row, char *text,
                     size_t size);

#endif
