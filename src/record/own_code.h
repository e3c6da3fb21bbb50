/*
 * Code of the preloaded library that is around code of the program: the body that stands for that
 * of a parallel region. Stacks are shown without it.
 */
#ifndef RECORD_OWN_CODE_H
#define RECORD_OWN_CODE_H

#include "symbolize/modules/module.h"

#include <limits.h>

struct own_code {
	char path[PATH_MAX]; /* of the library, without links */
	uint32_t from, to;   /* offsets in frames; the same: nothing is hidden */
};

/* Looks for the code in a library. Nothing is hidden where it is not found. */
void own_code_find(struct own_code *own, const char *library);

/* Removes it from the callers of a stack, whose leaf is first. Returns the number of frames. */
unsigned own_code_hide(const struct own_code *own, const struct module_table *modules,
                       uint64_t *frames, unsigned nr);

#endif
