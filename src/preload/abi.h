/* The MPI library in this process: where its functions are, and what differs between libraries. */
#ifndef PRELOAD_ABI_H
#define PRELOAD_ABI_H

#include "preload/preload.h"

/*
 * Functions of the library that the recorder calls to interpret arguments. NULL: the library does
 * not have it.
 */
struct mpi {
	int (*abi_get_version)(int *major, int *minor);
	int (*cartdim_get)(uintptr_t comm, int *dimensions);
	int (*comm_get_parent)(uintptr_t *comm);
	int (*comm_group)(uintptr_t comm, uintptr_t *group);
	int (*comm_rank)(uintptr_t comm, int *rank);
	int (*comm_remote_group)(uintptr_t comm, uintptr_t *group);
	int (*comm_size)(uintptr_t comm, int *size);
	int (*comm_test_inter)(uintptr_t comm, int *inter);
	int (*dist_graph_neighbors_count)(uintptr_t comm, int *in, int *out, int *weighted);
	int (*get_count_c)(const void *status, uintptr_t type, int64_t *count);
	int (*get_library_version)(char *version, int *length);
	int (*graph_neighbors_count)(uintptr_t comm, int rank, int *neighbors);
	int (*group_free)(uintptr_t *group);
	int (*group_from_session_pset)(uintptr_t session, const char *name, uintptr_t *group);
	int (*group_rank)(uintptr_t group, int *rank);
	int (*group_size)(uintptr_t group, int *size);
	int (*group_translate_ranks)(uintptr_t from, int nr, const int *ranks, uintptr_t to,
	                             int *translated);
	int (*query_thread)(int *level);
	int (*test_cancelled)(const void *status, int *cancelled);
	int (*topo_test)(uintptr_t comm, int *topology);
	int (*type_size)(uintptr_t type, int *size);
	int (*type_size_x)(uintptr_t type, int64_t *size);
};

struct abi {
	bool tried;
	bool found;
	bool known; /* found, and MPI may be asked, now; else only times are recorded */
	bool open_mpi;
	bool standard;        /* MPI 5's, the same in all libraries that have it */
	bool pointers;        /* handles are; in MPICH they are ints */
	uint64_t handle_mask; /* handles are ints in MPICH, whose upper halves are anything */
	uintptr_t comm_world, comm_self, comm_null, request_null, in_place;
	/*
	 * The handles of requests that are complete from the start: all handles whose bits in the
	 * mask equal request_done.
	 */
	uintptr_t request_done, request_done_mask;
	uintptr_t status_ignore;
	int proc_null;
	int in_status, pending;          /* errors: MPI_ERR_IN_STATUS, MPI_ERR_PENDING */
	unsigned source_at, status_size; /* bytes; the tag follows the source */
	int graph, cart, dist_graph;     /* what MPI_Topo_test says */
	char version[256];
};

extern struct mpi mpi;
extern struct abi abi;

/* Must be called when MPI functions may be called. The first call detects the library. */
void abi_learn(void);

/*
 * The function behind ours: the next in the search order, so that other tools between us and the
 * library have their turn; where the library was opened out of everybody's sight, its own. It is
 * not unloaded any more.
 */
RARE void *abi_real(const char *call, bool profiling);

static inline uintptr_t handle_of(uintptr_t arg)
{
	return arg & abi.handle_mask;
}

/* The handle that stands in an array or behind a pointer. */
static inline uintptr_t handle_at(uintptr_t array, size_t i)
{
	return abi.pointers ? ((const uintptr_t *)array)[i] : ((const uint32_t *)array)[i];
}

/*
 * Whether no operation is under way behind a handle. Any number of threads may then have the same
 * handle.
 */
static inline bool handle_done(uintptr_t handle)
{
	return handle == abi.request_null || (handle & abi.request_done_mask) == abi.request_done;
}

static inline size_t handle_size(void)
{
	return abi.pointers ? sizeof(uintptr_t) : sizeof(uint32_t);
}

/*
 * Sizes of types that are there from the start, by address or number: type << 16 | size. No address
 * of theirs is ever another type's, for they do not come from the heap.
 */
#define KNOWN_TYPES 16
extern uint64_t abi_known_types[KNOWN_TYPES];

/* Addresses differ above bit 9, numbers in the lowest bits, which are 0 in addresses. */
static inline uint64_t *abi_known_type(uintptr_t type)
{
	return &abi_known_types[(type ^ type >> 9) & (KNOWN_TYPES - 1)];
}

/*
 * Returns the size of a type in bytes, or 0 if MPI does not know it. The sizes of permanent types
 * are remembered.
 */
RARE uint64_t abi_type_size(uintptr_t type);

static inline uint64_t type_size(uintptr_t type)
{
	uint64_t known;

	/* The handles of MPICH's built-in types contain the size. */
	if (!abi.pointers)
		return (type & 0xff000000) == 0x4c000000 ? type >> 8 & 0xff : abi_type_size(type);
	known = __atomic_load_n(abi_known_type(type), __ATOMIC_RELAXED);
	return likely(known >> 16 == type) ? known & 0xffff : abi_type_size(type);
}

/* --- statuses --------------------------------------------------------------------------------- */

static inline int status_source(const unsigned char *status)
{
	return *(const int *)(const void *)(status + abi.source_at);
}

static inline int status_tag(const unsigned char *status)
{
	return *(const int *)(const void *)(status + abi.source_at + sizeof(int));
}

static inline int status_error(const unsigned char *status)
{
	return *(const int *)(const void *)(status + abi.source_at + 2 * sizeof(int));
}

/*
 * Read statuses of the standard ABI: source, tag and error come first, and the library's functions
 * return the rest.
 */
uint64_t abi_status_bytes(const unsigned char *status);
bool abi_status_cancelled(const unsigned char *status);

/*
 * Open MPI: source, tag, error, cancelled, size_t bytes. MPICH: low half of bytes, cancelled in
 * bit 0 and the high half of bytes above it, source, tag, error.
 */
static inline uint64_t status_bytes(const unsigned char *status)
{
	const uint32_t *words = (const void *)status;

	if (abi.standard)
		return abi_status_bytes(status);
	if (abi.pointers)
		return words[4] | (uint64_t)words[5] << 32;
	return words[0] | (uint64_t)(words[1] >> 1) << 32;
}

static inline bool status_cancelled(const unsigned char *status)
{
	const uint32_t *words = (const void *)status;

	if (abi.standard)
		return abi_status_cancelled(status);
	return abi.pointers ? words[3] : words[1] & 1;
}

#endif
