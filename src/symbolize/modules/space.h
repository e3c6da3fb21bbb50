/*
 * Address spaces: which module is mapped where, in one process.
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
	struct module *module; /* whose window all of these are in */
};

struct space;

/* An empty space of process pid; free with space_put. NULL: no memory. */
struct space *space_new(pid_t pid);
/* The same mappings for a forked process. */
struct space *space_fork(struct space *parent, pid_t pid);
void space_put(struct space *space);

/*
 * How much the arrays of several spaces may take together: those of as many processes as a target
 * starts would have no bound.
 */
struct space_room {
	size_t used, most; /* bytes */
};

/* An empty space takes what it needs from this room, and so do those that are forked from it. */
void space_limit(struct space *space, struct space_room *room);

pid_t space_pid(const struct space *space);

/*
 * Changes with every change of what is mapped, and never repeats a value for two different sets of
 * mappings, in whatever space: a key for caches of anything derived from addresses.
 */
uint64_t space_generation(const struct space *space);

/* Whoever maps more has its later code unknown, and cannot make us grow without bound. */
#define SPACE_MAX_MAPPINGS 16384

/*
 * Enters a mapping, over whatever was there; one that continues its neighbour in the same module
 * joins it. 0, -ENOMEM, or -ENOSPC: the space or its room is full, and it stays as it was.
 */
int space_map(struct space *space, const struct mapping *mapping);
/* Forgets all mappings, as exec does. */
void space_clear(struct space *space);

/* Sets `mapped` in all modules that are mapped there. */
void space_mark(const struct space *space);

/* The mapping that holds addr; NULL: none. Valid until the space changes. */
const struct mapping *space_find(const struct space *space, uint64_t addr);
/* The same for what makes a frame of it, or keeps anything else under its module's number. */
const struct mapping *space_lookup(const struct space *space, uint64_t addr);

/* The frame of an address; FRAME_UNKNOWN outside every mapping. */
uint64_t space_frame(const struct space *space, uint64_t addr);

#endif
