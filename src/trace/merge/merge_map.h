/* Maps the numbers in each input trace to numbers in the merged trace. */
#ifndef TRACE_MERGE_MERGE_MAP_H
#define TRACE_MERGE_MERGE_MAP_H

#include "base/map64.h"
#include "trace/merge/merge_clock.h"
#include "trace/write/trace_symbols.h"
#include "trace/live/tables.h"
#include "trace/trace_calls.h"

#define MERGE_NONE UINT32_MAX

/* CPUs of a host with the same periods. */
struct cpu_block {
	uint32_t host, first, nr;
};

/* An input of the merge. */
struct merge_input {
	const char *path;
	struct trace *trace;
	uint32_t host;
	int32_t rank; /* the lowest in it; -1: none */
	struct cpu_block cpus;
	uint32_t nr_threads, nr_modules, nr_comms, nr_regions, nr_sites;
	uint16_t *modules; /* new numbers */
	uint32_t *threads, *comms, *regions, *processes, *sites;
	uint32_t *owners;    /* process by thread, old numbers; MERGE_NONE; known once it is open */
	uint8_t *kinds;      /* by old kind; of events once its tables are entered */
	unsigned char *seen; /* a bit for each node whose frames are known */
};

/* The merged trace while it is built. */
struct merge_map {
	struct tables *tables;
	struct clocks *clocks;
	uint32_t event_streams[TABLES_MAX_EVENTS]; /* one of each event, + 1; 0: none yet */
	struct map64 modules, comms, regions;      /* by hash */
	struct map64 streams;                      /* by event and CPU */
	struct map64 sites;                        /* by frame */
	struct map64 frames; /* the input that a frame was seen in first << 16 | its module there */
	uint32_t nr_modules, nr_cpus; /* with a number of their own each */
	struct cpu_block *blocks;
	uint32_t nr_blocks;
	bool *commands_met; /* by command: an input that sampled event 0 had tasks of it */
	struct merge_input *inputs;
	uint32_t nr_inputs;
};

/* Returns 0 or -ENOMEM. */
int merge_map_init(struct merge_map *map, struct tables *tables, struct clocks *clocks,
                   struct merge_input *inputs, uint32_t nr_inputs);
void merge_map_fini(struct merge_map *map);
void merge_input_fini(struct merge_input *input);

/*
 * Enters all that the input's tables hold into the new ones, events excepted. 0 or -errno: -E2BIG
 * for more processes than there is room for.
 */
int merge_map_input(struct merge_map *map, struct merge_input *input);

/* Used by merge_map_input() only: maps the input's streams to numbers of its host's CPUs. */
void merge_map_streams(struct merge_map *map, struct merge_input *input);
/* Returns the number of CPUs: each host has a block of numbers for each of its periods. */
uint32_t merge_map_cpus(const struct merge_map *map);

/* Maps a string of the input. */
uint32_t merge_string(struct merge_map *map, const struct merge_input *input, uint32_t string);

/* Maps a module. Returns 0, which stands for unknown mappings, if there is no room. */
static inline uint64_t merge_frame(const struct merge_input *input, uint64_t frame)
{
	uint32_t module = (uint32_t)(frame >> 32) & 0xffff;

	if (!module)
		return frame;
	module = module < input->nr_modules ? input->modules[module] : 0;
	return module ? (uint64_t)module << 32 | (uint32_t)frame : 0;
}

/* Notes a frame of the input, which needs a name. Returns 0 or -ENOMEM. */
int merge_note_frame(struct merge_map *map, const struct merge_input *input, uint64_t frame);
/* The same for all frames of a sample. */
int merge_note_frames(struct merge_map *map, struct merge_input *input,
                      const struct trace_sample *sample);

/* Finds the names of the noted frames; arg is the map. */
int merge_names(void *arg, uint16_t module, const uint32_t *offsets, size_t n, symbol_fn *fn,
                void *fn_arg);

/* Calls fn for each source file of each input; arg: the map. */
void merge_files(void *arg, source_file_fn *fn, void *fn_arg);

#endif
