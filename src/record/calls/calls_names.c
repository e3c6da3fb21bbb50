#include "record/calls/calls_names.h"

#include "record/calls/call_libraries.h"

void calls_names_init(struct calls_names *names, struct tables *tables)
{
	const struct trace_comm unknown = {0};
	const uint32_t nobody = 0;

	*names = (struct calls_names){.tables = tables};
	for (unsigned i = 0; i < RING_USER_REGIONS; i++)
		names->fixed[i] = NO_ENTRY;
	tables_add_comm(tables, &unknown, &nobody);
}

void calls_names_fini(struct calls_names *names)
{
	map64_fini(&names->regions);
	map64_fini(&names->comms);
	map64_fini(&names->sums);
	map64_fini(&names->openmp);
}

uint32_t calls_names_fixed(struct calls_names *names, uint32_t number)
{
	const struct call_library *of;
	struct trace_region region;

	if (names->fixed[number] != NO_ENTRY)
		return names->fixed[number];
	of = call_library_of(number);
	if (!of)
		return NO_ENTRY;
	region = (struct trace_region){
		.name = tables_string(names->tables, of->regions[number - of->first].name),
		.region_class = of->regions[number - of->first].region_class,
	};
	names->fixed[number] = tables_add_region(names->tables, &region);
	return names->fixed[number];
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

/* --- sums ------------------------------------------------------------------------------------- */

#define SUM_PEER_BITS 18

static_assert(TABLES_MAX_THREADS <= 65536, "a sum's key has 16 bits for it");
static_assert(TABLES_MAX_REGIONS <= 16384, "a sum's key has 14 bits for it");
static_assert(TABLES_MAX_COMMS <= 65536, "a sum's key has 16 bits for it");

/* Peers from -3 on, which fit in the key. */
static bool peer_fits(int32_t peer)
{
	return peer >= CALL_ROOT_NEAR && peer < (1 << SUM_PEER_BITS) + CALL_ROOT_NEAR;
}

static uint64_t sum_key(uint32_t thread, uint32_t region, uint32_t comm, int32_t peer)
{
	return (uint64_t)thread << 48 | (uint64_t)region << 34 | (uint64_t)comm << SUM_PEER_BITS |
	       (uint32_t)(peer - CALL_ROOT_NEAR);
}

static uint32_t find_sum(struct calls_names *names, uint32_t thread, uint32_t region, uint32_t comm,
                         int32_t peer)
{
	const struct trace_call_sum sum = {
		.thread = thread, .region = region, .comm = comm, .peer = peer};
	uint64_t key = sum_key(thread, region, comm, peer);
	uint32_t index = map64_get(&names->sums, key);

	if (index != UINT32_MAX)
		return index;
	if (peer != CALL_NO_PEER && names->sums.nr >= TABLES_MAX_CALL_SUMS / 2)
		return UINT32_MAX;
	index = tables_add_call_sum(names->tables, &sum);
	if (index != UINT32_MAX)
		map64_add(&names->sums, key, index);
	return index;
}

struct trace_call_sum *calls_names_sum(struct calls_names *names, uint32_t thread, uint32_t region,
                                       uint32_t comm, int32_t peer)
{
	uint32_t index = UINT32_MAX;

	if (peer_fits(peer))
		index = find_sum(names, thread, region, comm, peer);
	if (index == UINT32_MAX)
		index = find_sum(names, thread, region, 0, CALL_NO_PEER);
	return tables_call_sum(names->tables, index);
}

uint32_t calls_names_openmp(struct calls_names *names, uint32_t thread, uint32_t region)
{
	const struct trace_openmp sum = {.thread = thread, .region = region};
	uint64_t key = (uint64_t)thread << 32 | region;
	uint32_t index = map64_get(&names->openmp, key);

	if (index != UINT32_MAX)
		return index;
	index = tables_add_openmp(names->tables, &sum);
	if (index != UINT32_MAX)
		map64_add(&names->openmp, key, index);
	return index;
}
