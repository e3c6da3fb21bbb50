#include "record/calls/call_libraries.h"

#include "preload/call_ring.h"
#include "preload/mpi_calls.h"

static const struct fixed_region mpi_calls[NR_MPI_CALLS] = {
#define CALL(name, nr, class, signature, large) {"MPI_" #name, TRACE_MPI_##class},
#include "preload/mpi_calls.def"
#undef CALL
};

const struct call_library call_libraries[NR_CALL_SOURCES] = {
	[CALLS_MPI] = {"libadaptrace-mpi.so", "LD_PRELOAD", 0, NR_MPI_CALLS, mpi_calls},
	[CALLS_USER] = {"libadaptrace-mpi.so", "LD_PRELOAD", RING_USER_REGIONS,
                        RING_PARALLELS - RING_USER_REGIONS, .named = TRACE_USER_REGION},
	[CALLS_OPENMP] = {"libadaptrace-mpi.so", "LD_PRELOAD", RING_PARALLELS,
                          RING_TEAM_WAITS + NR_RING_TEAM_WAITS - RING_PARALLELS,
                          .named = TRACE_PARALLEL},
};

const struct call_library *call_library_of(uint32_t number)
{
	for (unsigned i = 0; i < NR_CALL_SOURCES; i++)
		if (number - call_libraries[i].first < call_libraries[i].nr)
			return &call_libraries[i];
	return NULL;
}

enum call_class call_class_of(uint32_t number)
{
	const struct call_library *of = call_library_of(number);

	if (!of)
		return CLASS_USER;
	return region_traits(of->regions ? of->regions[number - of->first].region_class : of->named)
	        ->policy_class;
}
