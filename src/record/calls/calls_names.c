#include "record/calls/calls_names.h"

#include "record/calls/call_libraries.h"
#include "base/frame.h"
#include "hmb/lambda.h"

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
	map64_fini(&names->sites);
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

uint32_t calls_names_site(struct calls_names *names, uint64_t frame)
{
	const struct trace_call_site site = {frame_module(frame), frame_offset(frame)};
	uint32_t index = site.module ? map64_get(&names->sites, frame) : UINT32_MAX;

	if (index != UINT32_MAX)
		return index + 1;
	index = tables_add_site(names->tables, &site);
	if (index == UINT32_MAX)
		return 0;
	if (site.module)
		map64_add(&names->sites, frame, index);
	return index + 1;
}

/* --- sums ------------------------------------------------------------------------------------- */

static bool is_sum_of(const struct trace_call_sum *sum, const struct trace_call_sum *key)
{
	return sum->thread == key->thread && sum->region == key->region && sum->site == key->site &&
	       sum->comm == key->comm && sum->peer == key->peer;
}

static uint64_t hash_sum(const struct trace_call_sum *sum)
{
	uint64_t hash = lambda_mix((uint64_t)sum->thread << 32 | sum->region);

	hash = lambda_mix(hash ^ ((uint64_t)sum->site << 32 | sum->comm));
	return lambda_mix(hash ^ (uint32_t)sum->peer);
}

/* The less a row says, the more of the table it may fill. */
static uint32_t most_sums(const struct trace_call_sum *sum)
{
	if (sum->peer == CALL_NO_PEER && !sum->site)
		return TABLES_MAX_CALL_SUMS;
	return TABLES_MAX_CALL_SUMS / 8 * (sum->peer == CALL_NO_PEER ? 7 : sum->site ? 4 : 6);
}

/* Returns UINT32_MAX if there is no room, or another sum has the hash. */
static uint32_t find_sum(struct calls_names *names, const struct trace_call_sum *sum)
{
	uint64_t hash = hash_sum(sum);
	uint32_t index = map64_get(&names->sums, hash);

	if (index != UINT32_MAX)
		return is_sum_of(tables_call_sum(names->tables, index), sum) ? index : UINT32_MAX;
	if (names->sums.nr >= most_sums(sum))
		return UINT32_MAX;
	index = tables_add_call_sum(names->tables, sum);
	if (index != UINT32_MAX)
		map64_add(&names->sums, hash, index);
	return index;
}

struct trace_call_sum *calls_names_sum(struct calls_names *names, const struct trace_call_sum *key)
{
	const struct trace_call_sum sums[] = {
		{.thread = key->thread,
	         .region = key->region,
	         .site = key->site,
	         .comm = key->comm,
	         .peer = key->peer},
		{.thread = key->thread,
	         .region = key->region,
	         .comm = key->comm,
	         .peer = key->peer},
		{.thread = key->thread,
	         .region = key->region,
	         .site = key->site,
	         .peer = CALL_NO_PEER},
		{.thread = key->thread, .region = key->region, .peer = CALL_NO_PEER},
	};
	uint32_t index = UINT32_MAX;

	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums) && index == UINT32_MAX; i++)
		index = find_sum(names, &sums[i]);
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

void calls_names_restart(struct calls_names *names)
{
	map64_fini(&names->sums);
	map64_fini(&names->openmp);
	tables_clear_sums(names->tables);
}
