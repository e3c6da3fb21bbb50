#include "record/calls/calls_names.h"

#include "preload/call_ring.h"

static const struct {
	const char *name;
	enum call_class class;
} mpi_calls[NR_MPI_CALLS] = {
#define CALL(name, nr, class, shape, large) {"MPI_" #name, CLASS_##class},
#include "preload/mpi_calls.def"
#undef CALL
};

void calls_names_init(struct calls_names *names, struct tables *tables)
{
	const struct trace_comm unknown = {0};
	const uint32_t nobody = 0;

	*names = (struct calls_names){.tables = tables};
	for (unsigned i = 0; i < NR_MPI_CALLS; i++)
		names->mpi[i] = NO_ENTRY;
	tables_add_comm(tables, &unknown, &nobody);
}

void calls_names_fini(struct calls_names *names)
{
	map64_fini(&names->regions);
	map64_fini(&names->comms);
}

enum call_class calls_names_class(unsigned call)
{
	return call < NR_MPI_CALLS ? mpi_calls[call].class : CLASS_USER;
}

uint32_t calls_names_mpi(struct calls_names *names, unsigned call)
{
	static const uint32_t classes[NR_CALL_CLASSES] = {
		[CLASS_P2P] = TRACE_MPI_POINT_TO_POINT,
		[CLASS_ONE_SIDED] = TRACE_MPI_ONE_SIDED,
		[CLASS_IO] = TRACE_MPI_IO,
		[CLASS_COLLECTIVE] = TRACE_MPI_COLLECTIVE,
		[CLASS_OTHER] = TRACE_MPI_OTHER,
	};
	struct trace_region region;

	if (names->mpi[call] != NO_ENTRY)
		return names->mpi[call];
	region = (struct trace_region){
		.name = tables_string(names->tables, mpi_calls[call].name),
		.region_class = classes[mpi_calls[call].class],
	};
	names->mpi[call] = tables_add_region(names->tables, &region);
	return names->mpi[call];
}

uint32_t calls_names_region(struct calls_names *names, const char *name, uint32_t region_class)
{
	struct trace_region region = {
		.name = tables_string(names->tables, name),
		.region_class = region_class,
	};
	uint64_t key = (uint64_t)region.name << 32 | region_class;
	uint32_t index = map64_get(&names->regions, key);

	if (index != UINT32_MAX)
		return index;
	index = tables_add_region(names->tables, &region);
	if (index != UINT32_MAX)
		map64_add(&names->regions, key, index);
	return index;
}

static_assert(RING_COMM_WORLD_ID == TRACE_COMM_WORLD_ID, "ids are stored as processes tell them");

uint32_t calls_names_comm(struct calls_names *names, const struct trace_comm *comm,
                          const uint32_t *members)
{
	uint64_t key = tables_comm_key(comm, members);
	uint32_t index = map64_get(&names->comms, key);

	if (index != UINT32_MAX)
		return index;
	index = tables_add_comm(names->tables, comm, members);
	if (index == UINT32_MAX) {
		names->refused_comms = true;
		return 0;
	}
	map64_add(&names->comms, key, index);
	return index;
}
