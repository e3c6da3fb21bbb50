/*
 * The sources of calls and the classes of their regions: a row of a table for each. Readers take
 * what they need to know of a class from its row.
 */
#ifndef TRACE_CALL_SOURCES_H
#define TRACE_CALL_SOURCES_H

#include "hmb/call.h"
#include "trace/format.h"

/* src/record/calls/call_libraries.c has the library of each source. */
enum call_source_number { CALLS_MPI, CALLS_USER, CALLS_OPENMP, NR_CALL_SOURCES };

/* OTF2_Paradigm. The numbers are OTF2's, which is not always installed. */
enum call_paradigm { PARADIGM_USER = 1, PARADIGM_OPENMP = 3, PARADIGM_MPI = 4 };

struct call_source {
	const char *name;
	const char *calls; /* the word for its calls in the lines of watch: "mpi" */
	enum call_paradigm paradigm;
};
extern const struct call_source call_sources[NR_CALL_SOURCES];

enum region_type {
	REGION_LEAF,   /* its calls contain no recorded calls */
	REGION_AROUND, /* its calls may contain recorded calls, which are stored before them */
	REGION_MARKER, /* its calls take no time */
	REGION_VALUE,  /* its calls take no time and have a value */
};

/* OTF2_RegionRole. */
enum region_role {
	ROLE_FUNCTION = 1,
	ROLE_CODE = 4,
	ROLE_PARALLEL = 5,
	ROLE_CRITICAL = 12,
	ROLE_BARRIER = 15,
	ROLE_IMPLICIT_BARRIER = 16,
	ROLE_COLLECTIVE = 26, /* COLL_OTHER; the name of the region says more */
	ROLE_FILE_IO = 27,
	ROLE_POINT_TO_POINT = 28,
	ROLE_ONE_SIDED = 29,
};

struct region_traits {
	const char *word; /* "point-to-point"; never NULL */
	enum call_source_number source;
	enum call_class policy_class;
	enum region_type type;
	enum region_role role;
};

/* Returns the row of an enum trace_region_class. An unknown class has a row, too. */
const struct region_traits *region_traits(uint32_t region_class);

static inline int trace_region_is_mpi(uint32_t region_class)
{
	return region_traits(region_class)->source == CALLS_MPI;
}

#endif
