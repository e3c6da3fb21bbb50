#include "hmb/code_put.h"

#include <string.h>

unsigned char *code_put_residual(unsigned char *at, uint64_t residual, enum code_where where)
{
	uint64_t rest = residual - TIME_DIRECT;
	unsigned log_bytes = rest < 1 << 8              ? 0
	                     : rest < 1 << 16           ? 1
	                     : rest < (uint64_t)1 << 32 ? 2
	                                                : 3;

	*at++ = (unsigned char)((TIME_DIRECT + log_bytes) << 2 | where);
	for (unsigned i = 0; i < 1U << log_bytes; i++)
		*at++ = (unsigned char)(rest >> 8 * i);
	return at;
}

static unsigned char *put_context(struct code_model *model, unsigned char *at, uint32_t context)
{
	at = varint_put(at, zigzag((uint64_t)context - model->raw_context));
	model->raw_context = context;
	return at;
}

static uint32_t site_hash(uint32_t thread, uint32_t cpu)
{
	return (thread * 0x9e3779b1U ^ cpu * 0x85ebca6bU) >> 23; /* 9 bits */
}

static_assert(2 * CODE_MAX_SITES == 1 << 9, "site_hash() gives 9 bits");

unsigned char *code_put_switch(struct code_encoder *encoder, unsigned char *at, uint32_t thread,
                               uint32_t cpu, uint64_t step)
{
	struct code_model *model = &encoder->model;
	uint16_t *slot = &encoder->site_slots[site_hash(thread, cpu)];
	const struct code_site *known = &model->sites[*slot];

	if (*slot < model->nr_sites && known->thread == thread && known->cpu == cpu) {
		*at++ = (unsigned char)((*slot < SITE_BYTE ? *slot : SITE_BYTE) << 2 |
		                        WHERE_SWITCH);
		if (*slot >= SITE_BYTE)
			*at++ = (unsigned char)*slot;
		go_to_site(model, (uint8_t)*slot);
		return at;
	}
	*at++ = SITE_NEW << 2 | WHERE_SWITCH;
	at = varint_put(at, thread);
	at = varint_put(at, cpu);
	at = varint_put(at, step);
	*slot = (uint16_t)(add_site(model, thread, cpu, step) - model->sites);
	return at;
}

static uint16_t *find_context(struct code_encoder *encoder, uint32_t context)
{
	for (uint32_t i = code_where_hash(context, 0);; i++) {
		uint16_t *slot = &encoder->context_slots[i % (2 * CODE_MAX_PAIRS)];

		if (!*slot || encoder->model.pairs[*slot - 1].context == context)
			return slot;
	}
}

static uint16_t *find_leaf(struct code_encoder *encoder, uint64_t leaf)
{
	for (uint32_t i = code_where_hash(0, leaf);; i++) {
		uint16_t *slot = &encoder->leaf_slots[i % (2 * CODE_MAX_LEAVES)];

		if (!*slot || encoder->model.leaves[*slot - 1] == leaf)
			return slot;
	}
}

static uint64_t offset_distance(uint64_t to, uint64_t from)
{
	return zigzag((uint64_t)(int64_t)(int32_t)((uint32_t)to - (uint32_t)from));
}

static unsigned char *put_known_leaf(unsigned char *at, unsigned slot)
{
	return varint_put(at, (slot - 1U) << 1 | 1);
}

static void note_leaf(struct code_encoder *encoder, uint16_t *slot, uint64_t leaf)
{
	if (add_leaf(&encoder->model, leaf) && !*slot)
		*slot = (uint16_t)encoder->model.nr_leaves;
}

/* A leaf about which nothing is known. */
static unsigned char *put_leaf(struct code_encoder *encoder, unsigned char *at, uint64_t leaf)
{
	const struct code_model *model = &encoder->model;
	uint16_t *slot = find_leaf(encoder, leaf);
	bool moved = FRAME_MODULE(leaf) != FRAME_MODULE(model->raw_leaf);

	if (*slot)
		return put_known_leaf(at, *slot);
	at = varint_put(at, offset_distance(leaf, model->raw_leaf) << 2 | (unsigned)moved << 1);
	if (moved)
		at = varint_put(at, FRAME_MODULE(leaf));
	note_leaf(encoder, slot, leaf);
	return at;
}

/* A leaf of the same context as another, and so mostly of the same function. */
static unsigned char *put_leaf_near(struct code_encoder *encoder, unsigned char *at, uint64_t leaf,
                                    uint64_t near)
{
	uint16_t *slot = find_leaf(encoder, leaf);
	uint64_t distance = offset_distance(leaf, near);

	if (*slot && *slot <= distance)
		return put_known_leaf(at, *slot);
	if (FRAME_MODULE(leaf) != FRAME_MODULE(near) || !distance) {
		*at++ = 0;
		return put_leaf(encoder, at, leaf);
	}
	at = varint_put(at, distance << 1);
	note_leaf(encoder, slot, leaf);
	return at;
}

unsigned char *code_put_new_pair(struct code_encoder *encoder, unsigned char *at, uint64_t residual,
                                 uint32_t context, uint64_t leaf)
{
	struct code_model *model = &encoder->model;
	uint16_t *context_slot = find_context(encoder, context);
	uint32_t number;

	if (*context_slot) {
		at = code_put_control(at, residual, WHERE_CONTEXT);
		at = code_put_number(at, *context_slot - 1U);
		at = put_leaf_near(encoder, at, leaf, model->pairs[*context_slot - 1].leaf);
	} else {
		at = code_put_control(at, residual, WHERE_RAW);
		at = put_context(model, at, context);
		at = put_leaf(encoder, at, leaf);
	}
	number = add_pair(model, context, leaf);
	if (number == CODE_MAX_PAIRS)
		return at;
	*code_find_pair(encoder, context, leaf) = (uint16_t)(number + 1);
	if (!*context_slot)
		*context_slot = (uint16_t)(number + 1);
	return at;
}

void code_begin(struct code_encoder *encoder, struct bin *bin, uint64_t time, unsigned time_shift)
{
	bin->time_shift = (uint8_t)time_shift;
	bin->base_time = time >> time_shift;
	model_reset(&encoder->model, bin->base_time);
	memset(encoder->pair_slots, 0, sizeof(encoder->pair_slots));
	memset(encoder->context_slots, 0, sizeof(encoder->context_slots));
	memset(encoder->leaf_slots, 0, sizeof(encoder->leaf_slots));
	memset(encoder->site_slots, 0, sizeof(encoder->site_slots));
}
