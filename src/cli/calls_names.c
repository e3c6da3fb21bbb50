#include "cli/calls_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <uthash.h>
#include <xxhash.h>

struct known_region {
	struct region_key {
		uint32_t name, region_class;
	} key;
	uint32_t index;
	UT_hash_handle hh;
};

struct known_comm {
	struct comm_key {
		uint64_t id, members; /* the latter hashed */
	} key;
	uint32_t index;
	UT_hash_handle hh;
};

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
	struct known_region *region = names->regions, *next_region;
	struct known_comm *comm = names->comms, *next_comm;

	HASH_CLEAR(hh, names->regions);
	HASH_CLEAR(hh, names->comms);
	for (; region; region = next_region) {
		next_region = region->hh.next;
		free(region);
	}
	for (; comm; comm = next_comm) {
		next_comm = comm->hh.next;
		free(comm);
	}
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
	const struct region_key key = {tables_string(names->tables, name), region_class};
	struct trace_region region = {.name = key.name, .region_class = region_class};
	struct known_region *known;

	HASH_FIND(hh, names->regions, &key, sizeof(key), known);
	if (known)
		return known->index;
	known = malloc(sizeof(*known));
	if (!known)
		return NO_ENTRY;
	known->key = key;
	known->index = tables_add_region(names->tables, &region);
	HASH_ADD(hh, names->regions, key, sizeof(known->key), known);
	return known->index;
}

uint32_t calls_names_comm(struct calls_names *names, const struct trace_comm *comm,
                          const uint32_t *members)
{
	size_t nr = (size_t)comm->nr_members + comm->nr_remote;
	const struct comm_key key = {
		comm->id,
		XXH3_64bits_withSeed(members, nr * sizeof(*members), comm->nr_members),
	};
	struct known_comm *known;
	uint32_t index;

	HASH_FIND(hh, names->comms, &key, sizeof(key), known);
	if (known)
		return known->index;
	index = tables_add_comm(names->tables, comm, members);
	known = index == UINT32_MAX ? NULL : malloc(sizeof(*known));
	if (!known)
		return 0;
	known->key = key;
	known->index = index;
	HASH_ADD(hh, names->comms, key, sizeof(known->key), known);
	return index;
}
