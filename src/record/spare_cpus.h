/*
 * The CPUs that the recorder of an MPI rank uses.
 *
 * A launcher binds a rank to its CPUs, and its recorder with it, which then stops the rank each
 * time it wakes. The recorder may use other CPUs as well: which of them is free, the kernel knows.
 * The rank stays where it was bound.
 */
#ifndef RECORD_SPARE_CPUS_H
#define RECORD_SPARE_CPUS_H

#include "perf/machine/cpu_list.h"

/*
 * Adds to `own` all CPUs that are online, but for those that are reserved. reserved: lists in the
 * kernel's form, one a line.
 */
void spare_cpus_add(struct cpu_list *own, const struct cpu_list *online, const char *reserved);

/* Lets this thread run on these CPUs, as far as its cpuset has them. 0 or -errno. */
int spare_cpus_use(void);

#endif
