#include "base/text_pool.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE 65536 /* more than any name or path has */

struct text_chunk {
	struct text_chunk *next;
	char text[CHUNK_SIZE];
};

const char *text_pool_put(struct text_pool *pool, const char *text)
{
	size_t size = strnlen(text, CHUNK_SIZE) + 1;
	struct text_chunk *chunk = pool->chunks;
	char *copy;

	if (size > pool->left || size > CHUNK_SIZE)
		return NULL;
	if (!chunk || size > CHUNK_SIZE - pool->used) {
		chunk = malloc(sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->next = pool->chunks;
		pool->chunks = chunk;
		pool->used = 0;
	}
	copy = memcpy(chunk->text + pool->used, text, size);
	pool->used += size;
	pool->left -= size;
	return copy;
}

void text_pool_fini(struct text_pool *pool)
{
	struct text_chunk *chunk;

	while ((chunk = pool->chunks)) {
		pool->chunks = chunk->next;
		free(chunk);
	}
}
