#include "trace/merge/merge_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/frame.h"
#include "trace/trace_iterations.h"

int merge_map_init(struct merge_map *map, struct tables *tables, struct clocks *clocks,
                   struct merge_input *inputs, uint32_t nr_inputs)
{
	*map = (struct merge_map){.tables = tables,
	                          .clocks = clocks,
	                          .inputs = inputs,
	                          .nr_inputs = nr_inputs,
	                          .nr_modules = 1};
	map->blocks = calloc(nr_inputs + 1UL, sizeof(*map->blocks));
	map->commands_met = calloc(TRACE_MAX_COMMANDS, sizeof(*map->commands_met));
	return map->blocks && map->commands_met ? 0 : -ENOMEM;
}

void merge_map_fini(struct merge_map *map)
{
	map64_fini(&map->modules);
	map64_fini(&map->comms);
	map64_fini(&map->regions);
	map64_fini(&map->streams);
	map64_fini(&map->sites);
	map64_fini(&map->frames);
	free(map->blocks);
	free(map->commands_met);
	*map = (struct merge_map){0};
}

void merge_input_fini(struct merge_input *input)
{
	trace_close(input->trace);
	free(input->modules);
	free(input->threads);
	free(input->comms);
	free(input->regions);
	free(input->sites);
	free(input->processes);
	free(input->owners);
	free(input->kinds);
	free(input->seen);
	*input = (struct merge_input){0};
}

uint32_t merge_string(struct merge_map *map, const struct merge_input *input, uint32_t string)
{
	return tables_string(map->tables, trace_string(input->trace, string));
}

static uint64_t input_time(const struct merge_map *map, const struct merge_input *input,
                           uint64_t time)
{
	return time ? clocks_time(map->clocks, input->host, time) : 0;
}

/* Stores a number under a key, unless the table refused the entry. Returns 0 or -ENOMEM. */
static int know(struct map64 *map, uint64_t key, uint32_t number)
{
	return number == MERGE_NONE ? 0 : map64_add(map, key, number);
}

/* --- modules ---------------------------------------------------------------------------------- */

/*
 * Code without a file is a process's own, and PIDs repeat where containers have their own; the
 * kernel, and files that do not say which build they are, are a host's.
 */
static uint64_t module_key(const struct merge_map *map, const struct merge_input *input,
                           uint32_t number, const struct trace_module *module)
{
	struct {
		struct trace_module module;
		uint64_t path_hash;
		uint32_t host, input, number, pad;
	} key;

	memset(&key, 0, sizeof(key));
	key.module = *module;
	key.module.path = 0;
	key.path_hash = XXH3_64bits(trace_string(input->trace, module->path),
	                            strlen(trace_string(input->trace, module->path)));
	if (module->type == MODULE_KERNEL || !module->build_id_size)
		key.host = input->host + 1;
	if (module->type == MODULE_ANON) {
		key.input = (uint32_t)(input - map->inputs) + 1;
		key.number = number;
	}
	return XXH3_64bits(&key, sizeof(key));
}

static uint32_t add_module(struct merge_map *map, const struct merge_input *input,
                           const struct trace_module *module)
{
	struct trace_module *to = NULL;

	if (map->nr_modules < TABLES_MAX_MODULES - 1)
		to = tables_module(map->tables, (uint16_t)map->nr_modules);
	if (!to)
		return MERGE_NONE;
	*to = *module;
	to->path = merge_string(map, input, module->path);
	return map->nr_modules++;
}

/* Returns module 0, which stands for unknown mappings, if there is no room. */
static int map_module(struct merge_map *map, struct merge_input *input, uint32_t i)
{
	const struct trace_module *module = trace_module(input->trace, i);
	uint64_t key = module_key(map, input, i, module);
	uint32_t number = map64_get(&map->modules, key);
	int err = 0;

	if (number == MERGE_NONE) {
		number = add_module(map, input, module);
		err = know(&map->modules, key, number);
	}
	if (number == MERGE_NONE)
		tables_run(map->tables)->refused_modules++;
	else
		input->modules[i] = (uint16_t)number;
	return err;
}

static int map_modules(struct merge_map *map, struct merge_input *input)
{
	int err = 0;

	input->nr_modules = trace_nr(input->trace, TRACE_MODULES);
	input->modules = calloc(input->nr_modules + 1UL, sizeof(*input->modules));
	if (!input->modules)
		return -ENOMEM;
	for (uint32_t i = 1; i < input->nr_modules && !err; i++)
		err = map_module(map, input, i);
	return err;
}

/* --- threads and processes -------------------------------------------------------------------- */

/* Two recorders read the CPU's counter and the clock one after the other, ns. */
#define READING_ERROR 500

/* Adds this merge's correction of times to an earlier one in the input. */
static void move_process(struct trace_process *process, const struct clock_host *host)
{
	uint64_t drift = (uint64_t)host->at[CLOCK_KNOTS - 1] - (uint64_t)host->at[0];
	uint64_t error = host->error;

	if (error && error != CLOCK_NO_ERROR)
		error += READING_ERROR;
	process->offset = (int64_t)((uint64_t)process->offset + (uint64_t)host->guess +
	                            (uint64_t)host->at[0]);
	process->drift = (int64_t)((uint64_t)process->drift + drift);
	if (error > UINT64_MAX - process->offset_error)
		process->offset_error = UINT64_MAX;
	else
		process->offset_error += error;
	if (!process->offset_error)
		process->offset_error = 1;
}

/* A process without a host gets the host of its trace's run. */
static int map_processes(struct merge_map *map, struct merge_input *input)
{
	const struct trace_process *process;

	input->processes =
		calloc(trace_nr(input->trace, TRACE_PROCESSES) + 1UL, sizeof(*input->processes));
	if (!input->processes)
		return -ENOMEM;
	for (uint32_t i = 0; (process = trace_process(input->trace, i)); i++) {
		struct trace_process copy = *process;

		copy.library = merge_string(map, input, copy.library);
		copy.host = copy.host ? merge_string(map, input, copy.host)
		                      : merge_string(map, input, trace_run(input->trace)->host);
		copy.start = input_time(map, input, copy.start);
		copy.end = input_time(map, input, copy.end);
		move_process(&copy, &map->clocks->hosts[input->host]);
		input->processes[i] = tables_add_process(map->tables, &copy);
		if (input->processes[i] == MERGE_NONE)
			return -E2BIG;
	}
	return 0;
}

/* A rank gets a process even if its trace has no table of processes. */
static int add_rank(struct merge_map *map, struct merge_input *input)
{
	struct trace_process process = {
		.pid = trace_run(input->trace)->pid,
		.rank = input->rank,
		.host = merge_string(map, input, trace_run(input->trace)->host),
	};

	move_process(&process, &map->clocks->hosts[input->host]);
	input->processes[0] = tables_add_process(map->tables, &process);
	return input->processes[0] == MERGE_NONE ? -E2BIG : 0;
}

/* Exact totals belong to event 0, which may differ in the merged trace. */
static bool totals_first_event(const struct merge_input *input)
{
	return !input->kinds[0];
}

static bool has_first_event(const struct merge_input *input)
{
	for (uint32_t i = 0; trace_event(input->trace, i); i++)
		if (!input->kinds[i])
			return true;
	return false;
}

static void map_thread(struct merge_map *map, struct merge_input *input, uint32_t number,
                       const struct trace_thread *thread)
{
	uint32_t comm = tables_comm(map->tables, trace_string(input->trace, thread->comm));
	uint32_t to = tables_add_thread(map->tables, thread->pid, thread->tid, comm,
	                                input_time(map, input, thread->start));
	struct trace_thread *entry = tables_thread(map->tables, to);

	input->threads[number] = to;
	if (!entry || entry->flags & TRACE_THREAD_FOLDED)
		return;
	entry->flags = thread->flags;
	entry->end = input_time(map, input, thread->end);
	if (totals_first_event(input))
		entry->exact = thread->exact;
	else
		entry->flags &= ~(uint32_t)TRACE_THREAD_EXACT;
}

#define NOBODY (MERGE_NONE - 1) /* a process that there is not, whatever the thread's pid is */

/* Returns the process of a thread in the new trace, or MERGE_NONE if it is unknown yet. */
static uint32_t owner_so_far(const struct merge_map *map, uint32_t thread)
{
	struct live_table owners = tables_section(map->tables, TRACE_OWNERS);
	const uint32_t *entries = owners.entries;

	return thread < owners.nr ? entries[thread] - 1 : MERGE_NONE;
}

/* A thread that stands for tasks of several processes belongs to none of them. */
static int set_owner(struct merge_map *map, uint32_t thread, uint32_t process)
{
	uint32_t before = owner_so_far(map, thread);

	if (process == MERGE_NONE || (before != MERGE_NONE && before != process))
		process = NOBODY;
	return tables_set_owner(map->tables, thread, process) ? 0 : -ENOMEM;
}

/* All threads of a trace without processes belong to its one rank. */
static int map_threads(struct merge_map *map, struct merge_input *input)
{
	bool one = !trace_process(input->trace, 0);
	const struct trace_thread *thread;
	int err;

	input->threads = calloc(input->nr_threads + 1UL, sizeof(*input->threads));
	if (!input->threads)
		return -ENOMEM;
	err = one ? add_rank(map, input) : 0;
	for (uint32_t i = 0; i < input->nr_threads && !err; i++) {
		uint32_t process;

		thread = trace_thread(input->trace, i);
		process = input->owners[i];
		input->threads[i] = MERGE_NONE;
		if (!thread->tid && !(thread->flags & TRACE_THREAD_FOLDED))
			continue;
		map_thread(map, input, i, thread);
		process = one                     ? input->processes[0]
		          : process == MERGE_NONE ? MERGE_NONE
		                                  : input->processes[process];
		err = set_owner(map, input->threads[i], process);
	}
	return err;
}

/*
 * A total is exact if it is so wherever the event was sampled. An input that sampled it, but has
 * the totals of another event, makes it unknown: samples would be held against a part of it. One
 * without the event adds neither samples nor anything that they lack, so it changes nothing.
 */
static void map_exact(struct merge_map *map, const struct merge_input *input,
                      const struct trace_command *command, struct trace_command *to)
{
	bool *met = &map->commands_met[to - tables_command_at(map->tables, 0)];
	uint32_t flags = 0;

	if (!has_first_event(input))
		return;
	if (totals_first_event(input)) {
		flags = command->flags;
		to->exact += command->exact;
	}
	to->flags = *met ? to->flags & flags : flags;
	*met |= command->tasks || command->exact;
}

static void map_commands(struct merge_map *map, const struct merge_input *input)
{
	const struct trace_command *command;

	for (uint32_t i = 0; (command = trace_command(input->trace, i)); i++) {
		struct trace_command *to = tables_command(
			map->tables,
			tables_comm(map->tables, trace_string(input->trace, command->comm)));

		map_exact(map, input, command, to);
		to->tasks += command->tasks;
		to->unobserved += command->unobserved;
	}
}

/* --- communicators and regions ---------------------------------------------------------------- */

static int map_regions(struct merge_map *map, struct merge_input *input)
{
	const struct trace_region *region;
	int err = 0;

	input->nr_regions = trace_nr(input->trace, TRACE_REGIONS);
	input->regions = calloc(input->nr_regions + 1UL, sizeof(*input->regions));
	if (!input->regions)
		return -ENOMEM;
	for (uint32_t i = 0; (region = trace_region(input->trace, i)) && !err; i++) {
		struct trace_region copy = *region;
		uint32_t *number = &input->regions[i];
		uint64_t key;

		copy.name = merge_string(map, input, copy.name);
		copy.file = merge_string(map, input, copy.file);
		key = XXH3_64bits(&copy, sizeof(copy));
		*number = map64_get(&map->regions, key);
		if (*number != MERGE_NONE)
			continue;
		*number = tables_add_region(map->tables, &copy);
		err = know(&map->regions, key, *number);
	}
	return err;
}

/* Communicators without an id are distinguished by their members if they are MPI_COMM_SELF. */
static uint64_t comm_key(const struct merge_map *map, const struct merge_input *input,
                         uint32_t number, const struct trace_comm *comm, const uint32_t *members)
{
	uint64_t key[] = {tables_comm_key(comm, members), 0};

	if (!comm->id && !(comm->flags & TRACE_COMM_SELF))
		key[1] = (uint64_t)(input - map->inputs + 1) << 32 | number;
	return XXH3_64bits(key, sizeof(key));
}

static int map_comm(struct merge_map *map, struct merge_input *input, uint32_t number,
                    const struct trace_comm *comm)
{
	uint32_t nr = comm->nr_members + comm->nr_remote;
	uint32_t *members = calloc(nr + 1UL, sizeof(*members));
	uint32_t *to_number = &input->comms[number];
	struct trace_comm copy = *comm, *to;
	uint64_t key;
	int err = 0;

	if (!members)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		bool remote = i >= comm->nr_members;

		members[i] = (uint32_t)trace_member(
			input->trace, number, (int32_t)(remote ? i - comm->nr_members : i), remote);
	}
	copy.name = merge_string(map, input, copy.name);
	copy.parent = 0;
	if (comm->parent && input->comms[comm->parent - 1] != MERGE_NONE)
		copy.parent = input->comms[comm->parent - 1] + 1;
	key = comm_key(map, input, number, comm, members);
	*to_number = map64_get(&map->comms, key);
	if (*to_number == MERGE_NONE) {
		*to_number = tables_add_comm(map->tables, &copy, members);
		err = know(&map->comms, key, *to_number);
	}
	to = tables_comm_at(map->tables, *to_number);
	if (to) {
		to->flags |= comm->flags;
		to->name = to->name ? to->name : copy.name;
	}
	free(members);
	return err;
}

static int map_comms(struct merge_map *map, struct merge_input *input)
{
	int err = 0;

	input->nr_comms = trace_nr(input->trace, TRACE_COMMS);
	input->comms = calloc(input->nr_comms + 1UL, sizeof(*input->comms));
	if (!input->comms)
		return -ENOMEM;
	for (uint32_t i = 0; i < input->nr_comms && !err; i++)
		err = map_comm(map, input, i, trace_comm(input->trace, i));
	return err;
}

/* Numbers are indices + 1: 0 stands for unknown sites, and for those that find no room. */
static int map_site(struct merge_map *map, struct merge_input *input, uint32_t number)
{
	uint64_t frame = trace_site_frame(input->trace, number);
	uint64_t key = merge_frame(input, frame);
	struct trace_call_site site = {frame_module(key), frame_offset(key)};
	uint32_t to = map64_get(&map->sites, key);
	int err = merge_note_frame(map, input, frame);

	if (!err && to == MERGE_NONE) {
		to = tables_add_site(map->tables, &site);
		err = know(&map->sites, key, to);
	}
	input->sites[number] = to == MERGE_NONE ? 0 : to + 1;
	return err;
}

static int map_sites(struct merge_map *map, struct merge_input *input)
{
	int err = 0;

	input->nr_sites = trace_nr(input->trace, TRACE_CALL_SITES) + 1;
	input->sites = calloc(input->nr_sites, sizeof(*input->sites));
	if (!input->sites)
		return -ENOMEM;
	for (uint32_t i = 1; i < input->nr_sites && !err; i++)
		err = map_site(map, input, i);
	return err;
}

/* --- sums of calls ---------------------------------------------------------------------------- */

/* Sums of some traces alone would look like those of all. */
static bool all_have_sums(const struct merge_map *map)
{
	for (uint32_t i = 0; i < map->nr_inputs; i++)
		if (trace_has_calls(map->inputs[i].trace) &&
		    !trace_nr(map->inputs[i].trace, TRACE_CALL_SUMS))
			return false;
	return true;
}

static uint32_t map_number(const uint32_t *numbers, uint32_t nr, uint32_t number)
{
	return number < nr ? numbers[number] : MERGE_NONE;
}

static bool map_sum(struct merge_map *map, const struct merge_input *input,
                    const struct trace_call_sum *sum)
{
	const struct trace_region *region = trace_region(input->trace, sum->region);
	struct trace_call_sum copy = *sum;

	copy.thread = map_number(input->threads, input->nr_threads, sum->thread);
	copy.region = map_number(input->regions, input->nr_regions, sum->region);
	copy.comm = map_number(input->comms, input->nr_comms, sum->comm);
	if (copy.thread == MERGE_NONE || copy.region == MERGE_NONE)
		return false;
	if (copy.comm == MERGE_NONE)
		copy.comm = 0;
	copy.site = sum->site < input->nr_sites ? input->sites[sum->site] : 0;
	if (region->region_class == TRACE_VALUE)
		copy.values.last_time = input_time(map, input, copy.values.last_time);
	return tables_add_call_sum(map->tables, &copy) != UINT32_MAX;
}

static void map_sums(struct merge_map *map, const struct merge_input *input)
{
	const struct trace_call_sum *sum;
	uint64_t *unsummed = &tables_run(map->tables)->unsummed_calls;

	if (!all_have_sums(map))
		return;
	for (uint32_t i = 0; (sum = trace_call_sum(input->trace, i)); i++)
		if (!map_sum(map, input, sum))
			*unsummed += sum->calls;
	*unsummed += trace_run(input->trace)->unsummed_calls;
}

/* Regions have the names of their code already, so that its frame is not needed. */
static void map_openmp(struct merge_map *map, const struct merge_input *input)
{
	const struct trace_openmp *sum;

	for (uint32_t i = 0; (sum = trace_openmp(input->trace, i)); i++) {
		struct trace_openmp copy = *sum;

		copy.thread = map_number(input->threads, input->nr_threads, sum->thread);
		copy.region = map_number(input->regions, input->nr_regions, sum->region);
		copy.module = copy.offset = 0;
		copy.from = input_time(map, input, sum->from);
		copy.to = input_time(map, input, sum->to);
		if (copy.thread == MERGE_NONE || copy.region == MERGE_NONE ||
		    tables_add_openmp(map->tables, &copy) == UINT32_MAX)
			tables_run(map->tables)->unsummed_calls += sum->count;
	}
}

/* A merged trace may have calls of lower levels, of other ranks. */
static void note_stored(struct trace_iterations *entry, unsigned floor)
{
	if (floor)
		entry->level |= TRACE_ITERATIONS_GAPS;
	if (trace_iterations_are_rough(entry))
		return;
	for (unsigned i = 0; i < entry->nr && i < TRACE_ITERATIONS_NR; i++)
		if (trace_iteration_level(entry, i) < floor)
			entry->exact.patterns[i] &= (uint8_t)~TRACE_ITERATION_STORED;
}

static void map_iterations(struct merge_map *map, const struct merge_input *input)
{
	uint64_t *left = &tables_run(map->tables)->left_iterations;
	const unsigned floor = trace_calls_floor(input->trace);
	const struct trace_iterations *entry;

	for (uint32_t i = 0; (entry = trace_iterations(input->trace, i)); i++) {
		struct trace_iterations copy = *entry;

		note_stored(&copy, floor);
		copy.thread = map_number(input->threads, input->nr_threads, entry->thread);
		copy.begin = input_time(map, input, entry->begin);
		if (copy.thread == MERGE_NONE ||
		    tables_add_iterations(map->tables, &copy) == UINT32_MAX)
			*left += entry->nr;
	}
	*left += trace_run(input->trace)->left_iterations;
}

/* --- the whole -------------------------------------------------------------------------------- */

int merge_map_input(struct merge_map *map, struct merge_input *input)
{
	int err = map_modules(map, input);

	if (!err)
		err = map_processes(map, input);
	if (!err)
		err = map_threads(map, input);
	if (!err)
		err = map_regions(map, input);
	if (!err)
		err = map_comms(map, input);
	if (!err)
		err = map_sites(map, input);
	if (err)
		return err;
	map_commands(map, input);
	map_sums(map, input);
	map_openmp(map, input);
	map_iterations(map, input);
	merge_map_streams(map, input);
	input->seen = calloc(trace_node_limit(input->trace) / 8 + 1UL, 1);
	return input->seen ? 0 : -ENOMEM;
}
