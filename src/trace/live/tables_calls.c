#include "trace/live/tables_layout.h"

#include <string.h>
#include <xxhash.h>

/* The index of a copy, which is whole when it is counted; UINT32_MAX: refused. */
static uint32_t add_copy(struct tables *tables, enum trace_section section, const void *entry)
{
	uint32_t nr = tables->header->nr[section];
	void *to = table_grow(tables, section);

	if (!to)
		return UINT32_MAX;
	memcpy(to, entry, table_limits(section).entry_size);
	table_publish(tables, section, nr + 1);
	return nr;
}

uint32_t tables_add_region(struct tables *tables, const struct trace_region *region)
{
	return add_copy(tables, TRACE_REGIONS, region);
}

static void put_members(uint32_t *to, const uint32_t *members, size_t nr)
{
	if (members)
		memcpy(to, members, nr * sizeof(*members));
	for (size_t i = 0; !members && i < nr; i++)
		to[i] = (uint32_t)i;
}

uint32_t tables_add_comm(struct tables *tables, const struct trace_comm *comm,
                         const uint32_t *members)
{
	struct trace_comm entry = *comm;
	uint32_t first = tables->header->nr[TRACE_MEMBERS];
	size_t nr = (size_t)comm->nr_members + comm->nr_remote;

	if (tables->header->nr[TRACE_COMMS] >= TABLES_MAX_COMMS ||
	    nr > TABLES_MAX_MEMBERS - first ||
	    table_reserve(tables, TRACE_MEMBERS, (first + nr) * sizeof(*members)))
		return UINT32_MAX;
	put_members(table_entry(tables, TRACE_MEMBERS, first), members, nr);
	table_publish(tables, TRACE_MEMBERS, first + (uint32_t)nr);
	entry.first_member = first;
	return add_copy(tables, TRACE_COMMS, &entry);
}

uint64_t tables_comm_key(const struct trace_comm *comm, const uint32_t *members)
{
	size_t nr = (size_t)comm->nr_members + comm->nr_remote;
	const uint64_t what[] = {
		comm->id,
		comm->nr_members,
		members ? XXH3_64bits(members, nr * sizeof(*members)) : nr,
	};

	return XXH3_64bits(what, sizeof(what));
}

uint32_t tables_add_process(struct tables *tables, const struct trace_process *process)
{
	return add_copy(tables, TRACE_PROCESSES, process);
}

uint32_t tables_add_instrument(struct tables *tables, const struct trace_instrument *instrument)
{
	return add_copy(tables, TRACE_INSTRUMENTS, instrument);
}

uint32_t tables_add_site(struct tables *tables, const struct trace_call_site *site)
{
	return add_copy(tables, TRACE_CALL_SITES, site);
}

uint32_t tables_add_call_sum(struct tables *tables, const struct trace_call_sum *sum)
{
	tables_hold_thread(tables, sum->thread);
	return add_copy(tables, TRACE_CALL_SUMS, sum);
}

uint32_t tables_add_openmp(struct tables *tables, const struct trace_openmp *sum)
{
	tables_hold_thread(tables, sum->thread);
	return add_copy(tables, TRACE_OPENMP, sum);
}

struct trace_openmp *tables_openmp(const struct tables *tables, uint32_t sum)
{
	return table_entry_at(tables, TRACE_OPENMP, sum);
}

struct trace_region *tables_region(const struct tables *tables, uint32_t region)
{
	return table_entry_at(tables, TRACE_REGIONS, region);
}

struct trace_call_sum *tables_call_sum(const struct tables *tables, uint32_t sum)
{
	return table_entry_at(tables, TRACE_CALL_SUMS, sum);
}

uint32_t tables_add_iterations(struct tables *tables, const struct trace_iterations *iterations)
{
	tables_hold_thread(tables, iterations->thread);
	return add_copy(tables, TRACE_ITERATIONS, iterations);
}

struct trace_iterations *tables_iterations(const struct tables *tables, uint32_t entry)
{
	return table_entry_at(tables, TRACE_ITERATIONS, entry);
}

struct trace_call_site *tables_site(const struct tables *tables, uint32_t site)
{
	return table_entry_at(tables, TRACE_CALL_SITES, site);
}

struct trace_comm *tables_comm_at(const struct tables *tables, uint32_t comm)
{
	return table_entry_at(tables, TRACE_COMMS, comm);
}

struct trace_process *tables_process(const struct tables *tables, uint32_t process)
{
	return table_entry_at(tables, TRACE_PROCESSES, process);
}

struct trace_instrument *tables_instrument(const struct tables *tables, uint32_t instrument)
{
	return table_entry_at(tables, TRACE_INSTRUMENTS, instrument);
}

void tables_clear_sums(struct tables *tables)
{
	table_publish(tables, TRACE_CALL_SUMS, 0);
	table_publish(tables, TRACE_OPENMP, 0);
	table_publish(tables, TRACE_ITERATIONS, 0);
	for (uint32_t i = 0; i < tables->header->nr[TRACE_THREADS]; i++)
		tables->threads.states[i].summed = false;
}

bool tables_set_owner(struct tables *tables, uint32_t thread, uint32_t process)
{
	const uint32_t none = 0;

	while (tables->header->nr[TRACE_OWNERS] <= thread)
		if (add_copy(tables, TRACE_OWNERS, &none) == UINT32_MAX)
			return false;
	*(uint32_t *)table_entry(tables, TRACE_OWNERS, thread) = process + 1;
	return true;
}
