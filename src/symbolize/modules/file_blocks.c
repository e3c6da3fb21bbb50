#include "symbolize/modules/file_blocks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK_SIZE 4096
#define NR_SETS    256
#define NR_WAYS    4

/* 4 MiB of blocks: the call frame information that a big compiler uses in a second. */
struct file_blocks {
	struct module_table *modules;
	struct block_set {
		uint64_t tag[NR_WAYS]; /* 0: empty, as module 0 has no file */
		uint16_t size[NR_WAYS];
		unsigned next; /* the way to replace */
	} sets[NR_SETS];
	unsigned char (*blocks)[NR_WAYS][BLOCK_SIZE];
};

struct file_blocks *file_blocks_new(struct module_table *modules)
{
	struct file_blocks *cache = calloc(1, sizeof(*cache));

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

void file_blocks_free(struct file_blocks *cache)
{
	if (!cache)
		return;
	free(cache->blocks);
	free(cache);
}

/* A block that cannot be read is kept, too, so that it is not read again and again. */
static uint16_t block_fill(struct file_blocks *cache, struct module *module, uint64_t number,
                           unsigned char *block)
{
	ssize_t n = module_read(cache->modules, module, block, BLOCK_SIZE,
	                        (off_t)(number * BLOCK_SIZE));

	return n > 0 ? (uint16_t)n : 0;
}

static const unsigned char *block_get(struct file_blocks *cache, struct module *module,
                                      uint64_t number, size_t *size)
{
	uint64_t tag = number << 16 | module->id;
	size_t s = (tag * 0x9e3779b97f4a7c15ull) >> 56;
	struct block_set *set = &cache->sets[s];
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

size_t file_blocks_read(struct file_blocks *cache, struct module *module, uint64_t offset, void *to,
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

bool file_blocks_unpack(struct file_blocks *blocks, struct module *module, uint64_t offset,
                        uint64_t packed, uint8_t *to, uint32_t size)
{
	z_stream stream = {.next_out = to, .avail_out = size};
	uint8_t piece[4096];
	int result = Z_OK;

	if (inflateInit(&stream) != Z_OK)
		return false;
	while (result == Z_OK && packed) {
		size_t wanted = packed < sizeof(piece) ? (size_t)packed : sizeof(piece);

		stream.next_in = piece;
		stream.avail_in = (uInt)file_blocks_read(blocks, module, offset, piece, wanted);
		offset += wanted;
		packed = stream.avail_in == wanted ? packed - wanted : 0;
		result = inflate(&stream, Z_NO_FLUSH);
	}
	inflateEnd(&stream);
	return result == Z_STREAM_END && stream.avail_out == 0;
}
