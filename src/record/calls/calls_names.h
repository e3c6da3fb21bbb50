/*
 * What the numbers in targets' records mean in the trace: each process has its own numbers for
 * regions and communicators, the trace has one entry for what is the same in all of them.
 */
#ifndef RECORD_CALLS_CALLS_NAMES_H
#define RECORD_CALLS_CALLS_NAMES_H

#include "base/map64.h"
#include "trace/live/tables.h"
#include "preload/mpi_calls.h"

#define NO_ENTRY UINT32_MAX

struct calls_names {
	struct tables *tables;
	uint32_t mpi[NR_MPI_CALLS];  /* regions; NO_ENTRY: not used yet */
	struct map64 regions, comms; /* entries by what they are */
	uint32_t nr_alike;           /* of slots that were taken; see struct call */
	bool refused_comms;          /* for want of room */
};

void calls_names_init(struct calls_names *names, struct tables *tables);
void calls_names_fini(struct calls_names *names);

/* The trace's region of an MPI call; NO_ENTRY: there is no room. */
uint32_t calls_names_mpi(struct calls_names *names, unsigned call);
/* Of an MPI call, by its number; CLASS_USER for numbers that are none. */
enum call_class calls_names_class(unsigned call);
/* The same of a region that a program named. */
uint32_t calls_names_region(struct calls_names *names, const char *name, uint32_t region_class);
/*
 * members: as for tables_add_comm(). 0 where there is no room: the first entry stands for
 * communicators that are not known.
 */
uint32_t calls_names_comm(struct calls_names *names, const struct trace_comm *comm,
                          const uint32_t *members);

#endif
