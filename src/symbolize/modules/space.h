/*
 * Address spaces: the modules that are mapped in one process, and where.
 *
 * A space is a sorted array of executable mappings, kept from the kernel's mmap2 records. Forked
 * processes share their parent's array until one of them maps or executes something, so a server
 * with ten thousand children costs one array.
 */
#ifndef SYMBOLIZE_MODULES_SPACE_H
#define SYMBOLIZE_MODULES_SPACE_H

#include "symbolize/modules/module.h"

struct mapping {
	uint64_t start, end;   /* [start, end) */
	uint64_t bias;         /* the module's own address = address - bias, modulo 2^64 */
	struct module *module; /* whose area all of these are in */
};

struct space;

/* An empty space of process pid; free with space_put. NULL: no memory. */
struct space *space_new(pid_t pid);
/* The same mappings for a forked process. */
struct space *space_fork(struct space *parent, pid_t pid);
void space_put(struct space *space);

/*
 * A limit for the arrays of several spaces together. A limit for each space would not bound a
 * target that starts any number of processes.
 */
struct space_room {
	size_t used, most; /* bytes */
};

/* Makes an empty space, and those that are forked from it, take their memory from this room. */
void space_limit(struct space *space, struct space_room *room);

pid_t space_pid(const struct space *space);

/*
 * Returns a number that changes with every change of the mappings. It is never the same for two
 * different sets of mappings, in any space: a key for caches of anything derived from addresses.
 */
uint64_t space_generation(const struct space *space);

/*
 * Later mappings are dropped and their code is unknown, so that a process cannot make the
 * recorder's memory grow without bound.
 */
#define SPACE_MAX_MAPPINGS 16384

/*
 * Adds a mapping and replaces those that it overlaps. A mapping that continues its neighbour in the
 * same module is joined with it. Returns 0, -ENOMEM, or -ENOSPC if the space or its room is full;
 * the space is then unchanged.
 */
int space_map(struct space *space, const struct mapping *mapping);
/* Forgets all mappings, as exec does. */
void space_clear(struct space *space);

/* Sets `mapped` in all modules that are mapped there. */
void space_mark(const struct space *space);

/*
 * Returns the mapping that contains addr; NULL if there is none. It is valid until the space
 * changes.
 */
const struct mapping *space_find(const struct space *space, uint64_t addr);
/*
 * Does the same for callers that make a frame of it, or keep anything else under its module's
 * number.
 */
const struct mapping *space_lookup(const struct space *space, uint64_t addr);

/* The frame of an address; FRAME_UNKNOWN outside every mapping. */
uint64_t space_frame(const struct space *space, uint64_t addr);

#endif
