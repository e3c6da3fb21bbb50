/* Copies of strings that live as long as the pool. Their total size is limited. */
#ifndef BASE_TEXT_POOL_H
#define BASE_TEXT_POOL_H

#include <stddef.h>

struct text_pool {
	struct text_chunk *chunks; /* the latest first */
	size_t used;               /* bytes used in the latest chunk */
	size_t left;               /* bytes that may still be allocated */
};

/* Copies a string into the pool. NULL: the pool is full, or there is no memory. */
const char *text_pool_put(struct text_pool *pool, const char *text);
void text_pool_fini(struct text_pool *pool);

#endif
