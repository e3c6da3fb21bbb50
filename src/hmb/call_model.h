/*
 * The model that predicts the next call of a bin. Encoder and decoder keep identical copies of it;
 * only they use this header.
 */
#ifndef HMB_CALL_MODEL_H
#define HMB_CALL_MODEL_H

#include "hmb/call_code.h"

#include <string.h>

#define CONTROL_DIRECT     240
#define CONTROL_NEW        253
#define CONTROL_THREAD     254
#define CONTROL_NEW_THREAD 255

static_assert(CALL_CODE_SHAPES <= (CONTROL_THREAD - CONTROL_DIRECT) << 8, "no switch is a shape");

/* A call as a shape: fields that a part's type does not have are 0. */
struct shaped {
	struct call_shape shape;
	struct call_shape_part parts[CALL_CODE_PARTS];
};

static inline void call_model_reset(struct call_model *model, uint64_t base_time)
{
	model->time = base_time;
	model->nr_shapes = 0;
	model->nr_parts = 0;
	model->nr_threads = 0;
	model->thread = NULL;
}

static inline struct call_thread *add_thread(struct call_model *model, uint32_t thread)
{
	struct call_thread *entry = &model->threads[model->nr_threads++ % CALL_CODE_THREADS];

	*entry = (struct call_thread){.thread = thread, .enter = model->time, .last = model->time};
	return entry;
}

/* Tells whether there is room for a shape and its parts; without room it gets no number. */
static inline bool room_for_shape(const struct call_model *model, unsigned nr_parts)
{
	return model->nr_shapes < CALL_CODE_SHAPES &&
	       model->nr_parts + nr_parts <= CALL_CODE_SHAPE_PARTS;
}

static inline void add_shape(struct call_model *model, const struct call_shape *shape,
                             const struct call_shape_part *parts)
{
	struct call_shape *entry = &model->shapes[model->nr_shapes++];

	*entry = *shape;
	entry->first_part = (uint16_t)model->nr_parts;
	memcpy(&model->parts[model->nr_parts], parts, shape->nr_parts * sizeof(*parts));
	model->nr_parts += shape->nr_parts;
}

static inline uint64_t put_value(unsigned type, uint64_t value)
{
	return type == CALL_VALUE ? __builtin_bswap64(value) : value;
}

#endif
