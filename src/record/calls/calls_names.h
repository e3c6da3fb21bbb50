/*
 * Maps the numbers in the targets' records to entries of the trace. Each process numbers its
 * regions and communicators itself; equal ones of all processes share one entry.
 */
#ifndef RECORD_CALLS_CALLS_NAMES_H
#define RECORD_CALLS_CALLS_NAMES_H

#include "base/map64.h"
#include "trace/live/tables.h"
#include "preload/call_ring.h"

#define NO_ENTRY UINT32_MAX

struct calls_names {
	struct tables *tables;
	uint32_t fixed[RING_USER_REGIONS]; /* regions; NO_ENTRY: not used yet */
	struct map64 regions, comms;       /* entries by content */
	struct map64 sites;                /* entries by frame */
	struct map64 sums;                 /* entries by hashes of their keys */
	struct map64 openmp;               /* sums of OpenMP regions by their keys */
	uint32_t nr_alike;  /* last number given to a slot's calls; see struct call */
	bool refused_comms; /* a communicator found no room */
};

void calls_names_init(struct calls_names *names, struct tables *tables);
void calls_names_fini(struct calls_names *names);

/*
 * Returns the trace's region of a number below RING_USER_REGIONS, or NO_ENTRY if no source has the
 * number or there is no room.
 */
uint32_t calls_names_fixed(struct calls_names *names, uint32_t number);
/* Returns the trace's region for a region that a program named, or NO_ENTRY. */
uint32_t calls_names_region(struct calls_names *names, const char *name, uint32_t region_class);
/*
 * Returns the trace's entry of a communicator, or 0 if there is no room: entry 0 stands for unknown
 * communicators. members: as for tables_add_comm().
 */
uint32_t calls_names_comm(struct calls_names *names, const struct trace_comm *comm,
                          const uint32_t *members);

/*
 * Returns the trace's number of a calling site, its entry + 1; 0: there is no room. A site whose
 * frame is unknown gets an entry of its own, for the frame to be filled in.
 */
uint32_t calls_names_site(struct calls_names *names, uint64_t frame);

/*
 * Returns the trace's sum for the thread, region, site and peer of `key`, or NULL if there is no
 * room. Where there is little room, all peers and sites share one.
 */
struct trace_call_sum *calls_names_sum(struct calls_names *names, const struct trace_call_sum *key);
/* Begins with empty sums of calls and of OpenMP regions. */
void calls_names_restart(struct calls_names *names);
/* Returns the number of the sum of an OpenMP region that a thread forks; NO_ENTRY: no room. */
uint32_t calls_names_openmp(struct calls_names *names, uint32_t thread, uint32_t region);

#endif
