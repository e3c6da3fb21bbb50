/* The kernel's side of a ring, on memory: records as perf writes them, for tests of their reader.
 */
#ifndef TEST_RAW_RING_H
#define TEST_RAW_RING_H

#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "perf/sampler/record.h"
#include "perf/sampler/kernel_ring.h"

enum { RAW_MOST = 65528, WRAPPED_SIZE = 65536 };

static inline uint64_t raw_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return *seed >> 16 | *seed << 48;
}

/* A record that is being put together, word by word. */
struct raw {
	uint64_t words[RAW_MOST / 8];
	size_t nr;
};

static inline void raw_start(struct raw *raw, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	memcpy(raw->words, &header, sizeof(header));
	raw->nr = 1;
}

static inline void raw_word(struct raw *raw, uint64_t word)
{
	raw->words[raw->nr++] = word;
}

static inline void raw_pair(struct raw *raw, uint32_t low, uint32_t high)
{
	raw_word(raw, (uint64_t)high << 32 | low);
}

static inline void raw_text(struct raw *raw, const char *text)
{
	size_t nr = strlen(text) / 8 + 1;

	memset(raw->words + raw->nr, 0, nr * 8);
	strcpy((char *)(raw->words + raw->nr), text);
	raw->nr += nr;
}

/* What sample_id_all appends for RECORD_ALWAYS. */
static inline void raw_trailer(struct raw *raw, uint32_t pid, uint32_t tid, uint64_t time,
                               uint64_t id)
{
	raw_pair(raw, pid, tid);
	raw_word(raw, time);
	raw_word(raw, id);
}

static inline size_t raw_end(struct raw *raw)
{
	struct perf_event_header header;

	memcpy(&header, raw->words, sizeof(header));
	header.size = (uint16_t)(raw->nr * 8);
	memcpy(raw->words, &header, sizeof(header));
	return header.size;
}

/* A ring in memory of exactly its size, so that the sanitizers see whoever reads beyond. */
struct raw_ring {
	struct perf_event_mmap_page *page;
	unsigned char *data, *wrapped;
	size_t size;
};

static inline void raw_ring_init(struct raw_ring *raw, struct ring *ring, size_t size,
                                 uint64_t position)
{
	raw->page = calloc(1, sizeof(*raw->page));
	raw->data = calloc(1, size);
	raw->wrapped = aligned_alloc(8, WRAPPED_SIZE);
	raw->size = size;
	assert_non_null(raw->page);
	assert_non_null(raw->data);
	assert_non_null(raw->wrapped);
	raw->page->data_head = raw->page->data_tail = position;
	ring_attach(ring, raw->page, raw->data, size, raw->wrapped);
}

static inline void raw_ring_fini(struct raw_ring *raw)
{
	free(raw->page);
	free(raw->data);
	free(raw->wrapped);
}

/* false: the reader has not given back enough room. */
static inline bool raw_ring_write(struct raw_ring *raw, const void *record, size_t size)
{
	uint64_t head = raw->page->data_head;

	if (head + size - raw->page->data_tail > raw->size)
		return false;
	for (size_t i = 0; i < size; i++)
		raw->data[(head + i) & (raw->size - 1)] = ((const unsigned char *)record)[i];
	raw->page->data_head = head + size;
	return true;
}

#endif
