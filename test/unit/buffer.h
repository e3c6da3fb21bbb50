/* A buffer in memory that goes with it. */
#ifndef TEST_BUFFER_H
#define TEST_BUFFER_H

#include <stdlib.h>
#include <string.h>

#include "hmb/hmb.h"

static inline struct hmb *buffer_new(struct hmb_config config)
{
	struct hmb *hmb;

	config.memory = aligned_alloc(4096, config.size);
	assert_non_null(config.memory);
	memset(config.memory, 0, config.size);
	hmb = hmb_new(&config);
	assert_non_null(hmb);
	return hmb;
}

static inline void buffer_free(struct hmb *hmb)
{
	void *memory = hmb->arena.memory;

	hmb_free(hmb);
	free(memory);
}

#endif
