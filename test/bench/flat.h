/*
 * The plainest thing that a profiler can do: appending what a sample says, 32 bytes and 8 a frame,
 * to a flat buffer. A record of perf with the same fields takes 56 bytes and 8 a frame.
 */
#ifndef FLAT_H
#define FLAT_H

#include <string.h>

#include "bench.h"
#include "hmb/hmb.h"

struct flat {
	unsigned char *memory;
	size_t size, at;
};

struct flat_record {
	uint32_t size, level;
	uint64_t time, leaf;
	uint32_t thread, cpu;
	uint64_t path[];
};

static inline void flat_put(struct flat *flat, const struct hmb_sample *s)
{
	size_t size = sizeof(struct flat_record) + s->path_size * sizeof(uint64_t);
	struct flat_record *record;

	if (size > flat->size - flat->at)
		flat->at = 0;
	record = (void *)(flat->memory + flat->at);
	*record = (struct flat_record){
		.size = (uint32_t)size,
		.level = s->level,
		.time = s->time,
		.leaf = s->leaf,
		.thread = s->thread,
		.cpu = s->cpu,
	};
	memcpy(record->path, s->path, s->path_size * sizeof(uint64_t));
	flat->at += size;
}

#endif
