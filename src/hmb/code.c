#include "hmb/code_put.h"

#include <string.h>

static unsigned char *put_bytes(unsigned char *at, uint64_t value, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		*at++ = (unsigned char)(value >> 8 * i);
	return at;
}

/* A varint below 2^28 without a loop, whose end would be a guess; writes four bytes. */
static unsigned char *put_short_varint(unsigned char *at, uint32_t value)
{
	unsigned more = (unsigned)(31 - __builtin_clz(value | 1)) / 7;
	uint32_t bytes = (value & 0x7f) | (value & 0x7f << 7) << 1 | (value & 0x7f << 14) << 2 |
	                 (value & 0x7f << 21) << 3;

	bytes |= 0x808080 & ((1U << 8 * more) - 1);
	memcpy(at, &bytes, sizeof(bytes));
	return at + more + 1;
}

static unsigned char *put_number(unsigned char *at, uint32_t number)
{
	if (number < NUMBER_DIRECT) {
		*at++ = (unsigned char)number;
		return at;
	}
	number -= NUMBER_DIRECT;
	*at++ = (unsigned char)(NUMBER_DIRECT + (number >> 8));
	*at++ = (unsigned char)number;
	return at;
}

static unsigned char *put_residual(unsigned char *at, uint64_t residual, enum code_where where)
{
	uint64_t rest = residual - TIME_END;
	unsigned high = (unsigned)(rest >> 16), codes = TIME_3_BYTES - TIME_BYTES;

	if (residual < TIME_END) {
		residual += TIME_DIRECT * 255; /* now the code stands above the low byte */
		*at++ = (unsigned char)(residual >> 8 << 2 | where);
		*at++ = (unsigned char)residual;
		return at;
	}
	if (rest >= 1 << 24) {
		*at++ = (unsigned char)(TIME_VARINT << 2 | where);
		return varint_put(at, rest);
	}
	*at++ = (unsigned char)((TIME_BYTES + (high < codes ? high : codes)) << 2 | where);
	return put_bytes(at, rest, high < codes ? 2 : 3);
}

static uint32_t distance_32(uint32_t to, uint32_t from)
{
	return (uint32_t)zigzag((uint64_t)(int64_t)(int32_t)(to - from));
}

/* By the whole number of its node. */
static unsigned char *put_far_context(unsigned char *at, uint32_t context)
{
	if (context >> 16 < CONTEXT_3_BYTES - CONTEXT_2_BYTES) {
		*at++ = (unsigned char)(CONTEXT_2_BYTES + (context >> 16));
		return put_bytes(at, context, 2);
	}
	if (context >> 24 < CONTEXT_ANY - CONTEXT_3_BYTES) {
		*at++ = (unsigned char)(CONTEXT_3_BYTES + (context >> 24));
		return put_bytes(at, context, 3);
	}
	*at++ = CONTEXT_ANY;
	return put_bytes(at, context, 4);
}

static unsigned char *put_context(struct code_model *model, unsigned char *at, uint32_t context)
{
	uint32_t followed = distance_32(context, model->trails[model->trail]);
	uint32_t other = distance_32(context, model->trails[!model->trail]);
	unsigned change = other < followed;
	uint64_t code = (uint64_t)(change ? other : followed) << 1 | change;

	add_to_trail(model, context, model->trail ^ change, code < CONTEXT_LOW);
	if (code < CONTEXT_LOW) {
		*at++ = (unsigned char)code;
		return at;
	}
	code -= CONTEXT_LOW;
	if (code >> 8 >= CONTEXT_2_BYTES - CONTEXT_LOW)
		return put_far_context(at, context);
	*at++ = (unsigned char)(CONTEXT_LOW + (code >> 8));
	*at++ = (unsigned char)code;
	return at;
}

static uint32_t site_hash(uint64_t who)
{
	return ((uint32_t)who * 0x9e3779b1U ^ (uint32_t)(who >> 32) * 0x85ebca6bU) >> 23;
}

static_assert(2 * CODE_MAX_SITES == 1 << 9, "site_hash() gives 9 bits");

static unsigned char *put_switch(struct code_encoder *encoder, unsigned char *at, uint64_t who,
                                 uint64_t step)
{
	struct code_model *model = &encoder->model;
	uint16_t *slot = &encoder->site_slots[site_hash(who)];

	if (*slot < model->nr_sites && model->sites[*slot].who == who) {
		*at++ = (unsigned char)((*slot < SITE_BYTE ? *slot : SITE_BYTE) << 2 |
		                        WHERE_SWITCH);
		if (*slot >= SITE_BYTE)
			*at++ = (unsigned char)*slot;
		go_to_site(model, (uint8_t)*slot);
		return at;
	}
	*at++ = SITE_NEW << 2 | WHERE_SWITCH;
	at = varint_put(at, (uint32_t)who);
	at = varint_put(at, who >> 32);
	at = varint_put(at, step);
	*slot = (uint16_t)(add_site(model, who, step) - model->sites);
	return at;
}

/* The slot of the context's number + 1, or the empty slot where it belongs. */
static uint16_t *find_context(struct code_encoder *encoder, uint32_t context)
{
	const struct code_model *model = &encoder->model;

	for (uint32_t i = code_where_hash(context, 0);; i++) {
		uint16_t *slot = &encoder->context_slots[i % (2 * CODE_MAX_PAIRS)];

		if (!*slot || model->pairs[model->contexts[*slot - 1]].context == context)
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

static unsigned char *put_known_leaf(unsigned char *at, unsigned number)
{
	if (number < LEAF_FAR) {
		*at++ = (unsigned char)number;
		return at;
	}
	*at++ = (unsigned char)(LEAF_FAR + (number >> 8));
	*at++ = (unsigned char)number;
	return at;
}

static unsigned char *put_new_block(struct code_model *model, unsigned char *at, uint32_t block)
{
	unsigned module = find_module(model, BLOCK_MODULE(block));
	uint32_t distance = UINT32_MAX;

	if (module < CODE_MODULES)
		distance = distance_32(block, model->new_blocks[module]);
	if (distance >> 8 < LEAF_HIGH) {
		*at++ = (unsigned char)(LEAF_NEW_BLOCK + module * LEAF_HIGH + (distance >> 8));
		*at++ = (unsigned char)distance;
	} else {
		*at++ = LEAF_ANY_BLOCK;
		at = varint_put(at, BLOCK_MODULE(block));
		at = varint_put(at, block & UINT16_MAX);
	}
	add_block(model, block);
	return at;
}

/* The block in which a leaf lies. */
static unsigned char *put_block(struct code_model *model, unsigned char *at, uint32_t block)
{
	for (uint32_t i = 0; i < model->nr_areas; i++)
		if (model->areas[i] == block >> 1) {
			*at++ = (unsigned char)(LEAF_AREA + i * 2 + block % 2);
			return at;
		}
	return put_new_block(model, at, block);
}

static void note_leaf(struct code_encoder *encoder, uint16_t *slot, uint64_t leaf)
{
	if (add_leaf(&encoder->model, leaf) && !*slot)
		*slot = (uint16_t)encoder->model.nr_leaves;
}

/* A leaf about which nothing is known. */
static unsigned char *put_leaf(struct code_encoder *encoder, unsigned char *at, uint64_t leaf)
{
	uint16_t *slot = find_leaf(encoder, leaf);

	if (*slot)
		return put_known_leaf(at, *slot - 1U);
	at = put_block(&encoder->model, at, FRAME_BLOCK(leaf));
	at = put_bytes(at, leaf, 2);
	note_leaf(encoder, slot, leaf);
	return at;
}

/* A leaf of the same context as another, and so mostly of the same function. */
static unsigned char *put_leaf_near(struct code_encoder *encoder, unsigned char *at, uint64_t leaf,
                                    uint64_t near)
{
	uint16_t *slot = find_leaf(encoder, leaf);
	uint32_t distance = distance_32((uint32_t)leaf, (uint32_t)near);

	if (*slot && *slot <= distance)
		return put_short_varint(at, (*slot - 1U) << 1 | 1);
	if (FRAME_MODULE(leaf) != FRAME_MODULE(near) || !distance) {
		*at++ = 0;
		return put_leaf(encoder, at, leaf);
	}
	note_leaf(encoder, slot, leaf);
	if (distance < 1 << 27)
		return put_short_varint(at, distance << 1);
	return varint_put(at, (uint64_t)distance << 1);
}

/* The slot of the pair, or the empty slot where it belongs. */
static uint16_t *find_pair(struct code_encoder *encoder, uint32_t context, uint64_t leaf)
{
	for (uint32_t i = code_where_hash(context, leaf);; i++) {
		uint16_t *slot = &encoder->pair_slots[i % (2 * CODE_MAX_PAIRS)];
		const struct code_pair *pair;

		if (!*slot)
			return slot;
		pair = &encoder->model.pairs[*slot - 1];
		if (pair->leaf == leaf && pair->context == context)
			return slot;
	}
}

/* The number of a pair that is met; a long one becomes short. */
static unsigned char *put_pair(struct code_encoder *encoder, unsigned char *at, uint32_t pair)
{
	struct code_model *model = &encoder->model;
	uint32_t number = encoder->numbers[pair], shorter;

	if (number >= NUMBER_DIRECT) {
		shorter = shorten_number(model, number);
		encoder->numbers[model->order[number]] = (uint16_t)number;
		encoder->numbers[pair] = (uint16_t)shorter;
	}
	return put_number(at, number);
}

bool code_put_long(struct code_encoder *encoder, struct bin *bin)
{
	const struct code_pair *pair = &encoder->model.last;
	uint32_t slot = encoder->pair_slots[code_where_hash(pair->context, pair->leaf)];
	unsigned char *start = bin_records(bin) + bin->record_bytes;

	code_append(bin, (uint32_t)(put_pair(encoder, start + 1, slot - 1) - start));
	return true;
}

static unsigned char *put_control(unsigned char *at, uint64_t residual, enum code_where where)
{
	if (residual >= TIME_DIRECT)
		return put_residual(at, residual, where);
	*at++ = (unsigned char)(residual << 2 | where);
	return at;
}

/* Goes to the sample's site of execution, saying so where it is not the expected one. */
static unsigned char *put_site(struct code_encoder *encoder, unsigned char *at,
                               const struct code_sample *sample, unsigned time_shift)
{
	struct code_model *model = &encoder->model;
	uint8_t next = expected_site(model);
	uint64_t who = code_who(sample->thread, sample->cpu);

	if (!model->nr_sites || model->sites[next].who != who)
		return put_switch(encoder, at, who, sample->step >> time_shift);
	model->site = next;
	return at;
}

/* Numbers a pair that was written out, whose slot this is; the number, or CODE_MAX_PAIRS. */
static uint32_t note_pair(struct code_encoder *encoder, uint16_t *slot, uint32_t context,
                          uint64_t leaf)
{
	uint32_t number = add_pair(&encoder->model, context, leaf);

	if (number == CODE_MAX_PAIRS)
		return number;
	*slot = (uint16_t)(number + 1);
	encoder->numbers[number] = (uint16_t)number;
	return number;
}

/* A leaf in a context that may be new; the slot is the pair's. */
static unsigned char *put_in_context(struct code_encoder *encoder, unsigned char *at,
                                     uint64_t residual, uint32_t context, uint64_t leaf,
                                     uint16_t *slot)
{
	struct code_model *model = &encoder->model;
	uint16_t *of_context = find_context(encoder, context);
	uint32_t number = *of_context;

	if (number) {
		at = put_number(put_control(at, residual, WHERE_CONTEXT), number);
		at = put_leaf_near(encoder, at, leaf,
		                   model->pairs[model->contexts[number - 1]].leaf);
		note_pair(encoder, slot, context, leaf);
		return at;
	}
	at = put_context(model, put_control(at, residual, WHERE_RAW), context);
	at = put_leaf(encoder, at, leaf);
	number = note_pair(encoder, slot, context, leaf);
	add_context(model, number);
	if (number != CODE_MAX_PAIRS)
		*of_context = (uint16_t)model->nr_contexts;
	return at;
}

/* Another leaf in the context of the last record. */
static unsigned char *put_in_last_context(struct code_encoder *encoder, unsigned char *at,
                                          uint64_t residual, uint32_t context, uint64_t leaf,
                                          uint16_t *slot)
{
	at = put_control(at, residual, WHERE_CONTEXT);
	*at++ = 0;
	at = put_leaf_near(encoder, at, leaf, encoder->model.last.leaf);
	note_pair(encoder, slot, context, leaf);
	return at;
}

static unsigned char *put_where(struct code_encoder *encoder, unsigned char *at, uint64_t residual,
                                uint32_t context, uint64_t leaf)
{
	uint16_t *slot = find_pair(encoder, context, leaf);

	if (*slot)
		return put_pair(encoder, put_control(at, residual, WHERE_PAIR), *slot - 1U);
	if (context == encoder->model.last.context)
		return put_in_last_context(encoder, at, residual, context, leaf, slot);
	return put_in_context(encoder, at, residual, context, leaf, slot);
}

static unsigned char *put_counters(struct code_encoder *encoder, unsigned char *at, uint64_t who,
                                   const uint64_t *totals, bool first)
{
	struct counter_model *counters = &encoder->counters;

	return counter_put(counters, at, counter_stream(counters, who), totals, first);
}

void code_put(struct code_encoder *encoder, struct bin *bin, const struct code_sample *sample)
{
	struct code_model *model = &encoder->model;
	unsigned char *start = bin_records(bin) + bin->record_bytes;
	unsigned char *at = put_site(encoder, start, sample, bin->time_shift);
	struct code_site *site = &model->sites[model->site];
	uint64_t time = sample->time >> bin->time_shift;
	uint64_t residual = zigzag(time - expected_time(site));

	__builtin_prefetch(start + 64, 1);
	site->last = time;
	at = put_where(encoder, at, residual, sample->context, sample->leaf);
	model->last = (struct code_pair){sample->leaf, sample->context};
	if (bin->nr_counters)
		at = put_counters(encoder, at, code_who(sample->thread, sample->cpu),
		                  sample->counters, !bin->nr_records);
	code_append(bin, (uint32_t)(at - start));
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

void code_begin_counters(struct code_encoder *encoder, struct bin *bin, unsigned nr,
                         enum counter_owner owner, const uint8_t shifts[COUNTER_MAX])
{
	bin->nr_counters = (uint8_t)nr;
	bin->counter_owner = (uint8_t)owner;
	counter_begin(&encoder->counters, nr, owner);
	memcpy(encoder->counters.shifts, shifts, nr);
}
