/* Streams: each host's CPUs have numbers of their own in the trace that comes out. */
#include "trace/merge/merge_map.h"

static uint32_t count_cpus(const struct trace *trace)
{
	const struct trace_stream *stream;
	uint32_t nr = trace_run(trace)->nr_cpus;

	for (uint32_t i = 0; (stream = trace_stream(trace, i)); i++)
		if (stream->cpu != TRACE_ANY_CPU && stream->cpu >= nr && stream->cpu < UINT16_MAX)
			nr = stream->cpu + 1;
	return nr < UINT16_MAX ? nr + !nr : UINT16_MAX;
}

static uint64_t stream_key(uint32_t event, uint32_t cpu)
{
	return (uint64_t)event << 32 | cpu;
}

/* Returns the stream of a CPU in the new trace, or NULL. */
static struct trace_stream *find_stream(const struct merge_map *map, uint32_t event, uint32_t cpu)
{
	return tables_stream(map->tables, map64_get(&map->streams, stream_key(event, cpu)));
}

static bool same_periods(const struct merge_map *map, const struct merge_input *input,
                         const struct cpu_block *block)
{
	const struct trace_stream *stream, *known;

	for (uint32_t i = 0; (stream = trace_stream(input->trace, i)); i++) {
		if (!trace_event(input->trace, stream->event) || stream->cpu >= block->nr)
			continue;
		known = find_stream(map, input->kinds[stream->event], block->first + stream->cpu);
		if (known && known->base_period != stream->base_period)
			return false;
	}
	return true;
}

static struct cpu_block find_block(struct merge_map *map, const struct merge_input *input)
{
	struct cpu_block *block = map->blocks;
	uint32_t nr = count_cpus(input->trace);

	for (; block < map->blocks + map->nr_blocks; block++)
		if (block->host == input->host && block->nr == nr &&
		    same_periods(map, input, block))
			return *block;
	*block = (struct cpu_block){input->host, map->nr_cpus, nr};
	map->nr_cpus += nr;
	map->nr_blocks++;
	return *block;
}

/* Returns the size of a host's largest block from this one on, or 0 if it has an earlier block. */
static uint32_t cpus_of_host(const struct merge_map *map, uint32_t first)
{
	uint32_t host = map->blocks[first].host, most = 0;

	for (uint32_t i = 0; i < map->nr_blocks; i++) {
		if (map->blocks[i].host != host)
			continue;
		if (i < first)
			return 0;
		most = map->blocks[i].nr > most ? map->blocks[i].nr : most;
	}
	return most;
}

uint32_t merge_map_cpus(const struct merge_map *map)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < map->nr_blocks; i++)
		nr += cpus_of_host(map, i);
	return nr;
}

static struct trace_stream *make_stream(struct merge_map *map, uint32_t event, uint32_t cpu,
                                        uint64_t base_period)
{
	uint32_t number = map->streams.nr;
	struct trace_stream *to;

	if (map64_add(&map->streams, stream_key(event, cpu), number))
		return NULL;
	to = tables_add_stream(map->tables);
	if (!to) {
		map64_remove(&map->streams, stream_key(event, cpu));
		return NULL;
	}
	*to = (struct trace_stream){event, cpu, base_period, 0, 0};
	if (!map->event_streams[event])
		map->event_streams[event] = number + 1;
	return to;
}

/* If there is no room for a CPU, its losses are counted for another one. */
static void add_stream(struct merge_map *map, uint32_t event, uint32_t cpu,
                       const struct trace_stream *from)
{
	struct trace_stream *to = find_stream(map, event, cpu);

	if (!to)
		to = make_stream(map, event, cpu, from->base_period);
	if (!to)
		to = tables_stream(map->tables, map->event_streams[event] - 1);
	if (!to)
		return;
	to->lost += from->lost;
	to->throttled += from->throttled;
}

/* Adds a stream of all CPUs. The losses are counted for the first one. */
static void add_to_all(struct merge_map *map, const struct merge_input *input, uint32_t event,
                       const struct trace_stream *from)
{
	const struct trace_stream empty = {.base_period = from->base_period};

	for (uint32_t cpu = 0; cpu < input->cpus.nr; cpu++)
		add_stream(map, event, input->cpus.first + cpu, cpu ? &empty : from);
}

void merge_map_streams(struct merge_map *map, struct merge_input *input)
{
	bool has_all[TABLES_MAX_EVENTS] = {false}; /* CPUs of the input, by event */
	const struct trace_stream *stream;

	input->cpus = find_block(map, input);
	for (uint32_t i = 0; (stream = trace_stream(input->trace, i)); i++) {
		bool any = stream->cpu == TRACE_ANY_CPU;
		uint32_t event;

		if (!trace_event(input->trace, stream->event))
			continue;
		event = input->kinds[stream->event];
		if (any && !has_all[event])
			add_to_all(map, input, event, stream);
		else if (any || stream->cpu < input->cpus.nr)
			add_stream(map, event, input->cpus.first + (any ? 0 : stream->cpu), stream);
		has_all[event] |= any;
	}
}
