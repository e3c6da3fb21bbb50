/* Copies of strings that live as long as the pool, up to a number of bytes. */
#ifndef BASE_TEXT_POOL_H
#define BASE_TEXT_POOL_H

#include <stddef.h>

struct text_pool {
	struct text_chunk *chunks; /* the latest first */
	size_t used;               /* of the latest */
	size_t left;               /* bytes that may still be asked for */
};

/* NULL: the pool is full, or there is no memory. */
const char *text_pool_put(struct text_pool *pool, const char *text);
void text_pool_fini(struct text_pool *pool);

#endif
