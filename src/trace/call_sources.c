#include "trace/call_sources.h"

const struct call_source call_sources[NR_CALL_SOURCES] = {
	[CALLS_MPI] = {"MPI", "mpi", PARADIGM_MPI},
	[CALLS_USER] = {"user", "region", PARADIGM_USER},
	[CALLS_OPENMP] = {"OpenMP", "openmp", PARADIGM_OPENMP},
};

#define MPI(word, class, role)                                           \
	{                                                                \
		word, CALLS_MPI, CLASS_##class, REGION_LEAF, ROLE_##role \
	}
#define OPENMP(word, role)                                                   \
	{                                                                    \
		word, CALLS_OPENMP, CLASS_OPENMP, REGION_AROUND, ROLE_##role \
	}
#define USER(word, type, role)                                           \
	{                                                                \
		word, CALLS_USER, CLASS_USER, REGION_##type, ROLE_##role \
	}

static const struct region_traits traits[NR_TRACE_REGION_CLASSES + 1] = {
	[TRACE_MPI_OTHER] = MPI("MPI", OTHER, FUNCTION),
	[TRACE_MPI_POINT_TO_POINT] = MPI("point-to-point", POINT_TO_POINT, POINT_TO_POINT),
	[TRACE_MPI_COLLECTIVE] = MPI("collective", COLLECTIVE, COLLECTIVE),
	[TRACE_MPI_ONE_SIDED] = MPI("one-sided", ONE_SIDED, ONE_SIDED),
	[TRACE_MPI_IO] = MPI("I/O", IO, FILE_IO),
	[TRACE_USER_REGION] = USER("region", AROUND, CODE),
	[TRACE_MARKER] = USER("marker", MARKER, FUNCTION),
	[TRACE_VALUE] = USER("value", VALUE, FUNCTION),
	[TRACE_PARALLEL] = OPENMP("parallel", PARALLEL),
	[TRACE_TEAM_PART] = OPENMP("team", PARALLEL),
	[TRACE_TEAM_BARRIER] = OPENMP("barrier", BARRIER),
	[TRACE_TEAM_CRITICAL] = OPENMP("critical", CRITICAL),
	[TRACE_TEAM_JOIN] = OPENMP("join", IMPLICIT_BARRIER),
	[NR_TRACE_REGION_CLASSES] = USER("unknown", LEAF, FUNCTION),
};

const struct region_traits *region_traits(uint32_t region_class)
{
	return &traits[region_class < NR_TRACE_REGION_CLASSES ? region_class
	                                                      : NR_TRACE_REGION_CLASSES];
}
