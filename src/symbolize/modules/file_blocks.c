#include "symbolize/modules/file_blocks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SIZE 4096
#define NR_SETS    256
#define NR_WAYS    4

/* 4 MiB of blocks: the call frame information that a big compiler uses in a second. */
struct image_cache {
	struct module_table *modules;
	struct image_set {
		uint64_t tag[NR_WAYS]; /* 0: empty, as module 0 has no file */
		uint16_t size[NR_WAYS];
		unsigned next; /* the way to replace */
	} sets[NR_SETS];
	unsigned char (*blocks)[NR_WAYS][BLOCK_SIZE];
};

struct image_cache *image_cache_new(struct module_table *modules)
{
	struct image_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->modules = modules;
	cache->blocks = calloc(NR_SETS, sizeof(cache->blocks[0]));
	if (!cache->blocks) {
		free(cache);
		return NULL;
	}
	return cache;
}

void image_cache_free(struct image_cache *cache)
{
	if (!cache)
		return;
	free(cache->blocks);
	free(cache);
}

/* Also a block of which nothing could be read is kept: it is not asked for again and again. */
static uint16_t block_fill(struct image_cache *cache, struct module *module, uint64_t number,
                           unsigned char *block)
{
	ssize_t n = module_read(cache->modules, module, block, BLOCK_SIZE,
	                        (off_t)(number * BLOCK_SIZE));

	return n > 0 ? (uint16_t)n : 0;
}

static const unsigned char *block_get(struct image_cache *cache, struct module *module,
                                      uint64_t number, size_t *size)
{
	uint64_t tag = number << 16 | module->id;
	size_t s = (tag * 0x9e3779b97f4a7c15ull) >> 56;
	struct image_set *set = &cache->sets[s];
	unsigned way;

	_Static_assert(NR_SETS == 1 << (64 - 56), "the hash yields a set");
	for (way = 0; way < NR_WAYS; way++)
		if (set->tag[way] == tag)
			break;
	if (way == NR_WAYS) {
		way = set->next++ % NR_WAYS;
		set->tag[way] = tag;
		set->size[way] = block_fill(cache, module, number, cache->blocks[s][way]);
	}
	*size = set->size[way];
	return cache->blocks[s][way];
}

size_t image_read(struct image_cache *cache, struct module *module, uint64_t offset, void *to,
                  size_t size)
{
	size_t done = 0;

	if (offset > INT64_MAX - size)
		return 0;
	while (done < size) {
		size_t have, from = (offset + done) % BLOCK_SIZE, n = size - done;
		const unsigned char *block =
			block_get(cache, module, (offset + done) / BLOCK_SIZE, &have);

		if (have <= from)
			break;
		if (n > have - from)
			n = have - from;
		memcpy((unsigned char *)to + done, block + from, n);
		done += n;
	}
	return done;
}
