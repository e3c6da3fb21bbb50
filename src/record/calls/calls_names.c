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
