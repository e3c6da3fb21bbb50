/* The libraries that report calls from inside of targets, and the numbers of their regions. */
#ifndef RECORD_CALLS_CALL_LIBRARIES_H
#define RECORD_CALLS_CALL_LIBRARIES_H

#include "trace/call_sources.h"

struct fixed_region {
	const char *name;
	enum trace_region_class region_class;
};

struct call_library {
	const char *library, *variable;     /* file, and environment variable that loads it */
	uint32_t first, nr;                 /* numbers of its regions in rings */
	const struct fixed_region *regions; /* one for each number; NULL: programs name regions */
	enum trace_region_class named;      /* class of named regions without a flag */
};

extern const struct call_library call_libraries[NR_CALL_SOURCES];

/* Returns the row whose range has the number, or NULL. */
const struct call_library *call_library_of(uint32_t number);
/* Returns the policy's class of a region by its number in rings; CLASS_USER if no row has it. */
enum call_class call_class_of(uint32_t number);

#endif
