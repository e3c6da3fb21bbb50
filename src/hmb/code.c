#include "hmb/code_put.h"

#include <string.h>

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

static unsigned char *put_control(unsigned char *at, uint64_t residual, enum code_where where)
{
	static const uint16_t starts[] = {0, TIME_DIRECT, TIME_END, TIME_END};
	static const uint8_t codes[] = {0, TIME_DIRECT, TIME_BYTES, TIME_3_BYTES};
	unsigned more =
		0u + (residual >= TIME_DIRECT) + (residual >= TIME_END) + (residual >= TIME_2_END);
	unsigned char *end;

	if (residual >= TIME_3_END) {
		*at++ = (unsigned char)(TIME_VARINT << 2 | where);
		return varint_put(at, residual - TIME_END);
	}
	end = put_low_bytes(at, codes[more], residual - starts[more], more);
	at[0] = (unsigned char)((unsigned)at[0] << 2 | where);
	return end;
}

static uint32_t distance_32(uint32_t to, uint32_t from)
{
	return (uint32_t)zigzag((uint64_t)(int64_t)(int32_t)(to - from));
}

static unsigned char *put_context(struct code_model *model, unsigned char *at, uint32_t context)
{
	const uint8_t firsts[] = {0, (uint8_t)(CONTEXT_VICINITY + vicinity_number(context)),
	                          CONTEXT_2_BYTES, CONTEXT_3_BYTES, CONTEXT_ANY};
	uint32_t followed = distance_32(context, model->trails[model->trail]);
	uint32_t other = distance_32(context, model->trails[!model->trail]);
	bool nearer = other < followed; /* as good as random */
	uint64_t least = followed ^ ((followed ^ other) & -(uint32_t)nearer);
	uint64_t code = least << 1 | nearer;
	bool near = code < CONTEXT_VICINITY;
	bool far =
		!near & (model->vicinities[vicinity_number(context)] != context >> VICINITY_SHIFT);
	unsigned more = 0u + !near + far + (far & (context >= CONTEXT_2_END)) +
	                (far & (context >= CONTEXT_3_END));
	uint64_t values[] = {code, context & 0xff, context};

	add_to_trail(model, context, nearer, near);
	return put_low_bytes(at, firsts[more], values[!near + far], more);
}

static uint32_t site_hash(uint64_t who)
{
	return ((uint32_t)who * 0x9e3779b1U ^ (uint32_t)(who >> 32) * 0x85ebca6bU) >> 23;
}

static_assert(2 * CODE_MAX_SITES == 1 << 9, "site_hash() gives 9 bits");

static unsigned char *put_new_who(const struct code_model *model, unsigned char *at, uint64_t who)
{
	uint32_t thread = (uint32_t)who, cpu = (uint32_t)(who >> 32);
	uint32_t near = thread - model->thread + SITE_BELOW;
	bool expected = cpu == expected_cpu(model);

	if (near < (SITE_NEW - SITE_NEAR) / 2 && (expected || cpu == second_cpu(model))) {
		*at = (unsigned char)((SITE_NEAR + near * 2 + !expected) << 2 | WHERE_SWITCH);
		return at + 1;
	}
	*at++ = SITE_NEW << 2 | WHERE_SWITCH;
	at = varint_put(at, (uint64_t)distance_32(thread, model->thread) << 1 | !expected);
	return expected ? at : varint_put(at, cpu);
}

static unsigned char *put_new_site(struct code_model *model, unsigned char *at, uint64_t who,
                                   uint64_t step)
{
	at = put_new_who(model, at, who);
	if (!stream_known(model, who))
		at = varint_put(at, step ^ model->step);
	add_site(model, who, step);
	return at;
}

static unsigned char *put_switch(struct code_encoder *encoder, unsigned char *at, uint64_t who,
                                 uint64_t step)
{
	struct code_model *model = &encoder->model;
	uint16_t *slot = &encoder->site_slots[site_hash(who)];
	uint32_t age = site_age(model, *slot);

	if (*slot < model->nr_sites && model->sites[*slot] == who) {
		*at++ = (unsigned char)((age < SITE_BYTE ? age : SITE_BYTE) << 2 | WHERE_SWITCH);
		if (age >= SITE_BYTE)
			*at++ = (unsigned char)age;
		go_to_site(model, who);
		return at;
	}
	*slot = (uint16_t)(model->nr_sites % CODE_MAX_SITES);
	return put_new_site(model, at, who, step);
}

/* The slot of the number + 1 of the context's first pair, or the empty slot where it belongs. */
static uint16_t *find_context(struct code_encoder *encoder, uint32_t context)
{
	for (uint32_t i = code_slot(context);; i = (i + 1) % CODE_SLOTS) {
		uint16_t *slot = &encoder->context_slots[i];

		if (!*slot || encoder->model.pairs[*slot - 1].context == context)
			return slot;
	}
}

static uint16_t *find_leaf(struct code_encoder *encoder, uint64_t leaf)
{
	for (uint32_t i = code_slot(leaf);; i = (i + 1) % CODE_SLOTS) {
		uint16_t *slot = &encoder->leaf_slots[i];

		if (!*slot || encoder->model.leaves[*slot - 1] == leaf)
			return slot;
	}
}

static void note_leaf(struct code_encoder *encoder, uint16_t *slot, uint64_t leaf)
{
	if (add_leaf(&encoder->model, leaf) && !*slot)
		*slot = (uint16_t)encoder->model.nr_leaves;
}

static unsigned char *put_known_leaf(unsigned char *at, unsigned number)
{
	unsigned more = number >= LEAF_FAR;

	at[0] = (unsigned char)(more ? LEAF_FAR + (number >> 8) : number);
	at[1] = (unsigned char)number;
	return at + 1 + more;
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

static unsigned char *put_leaf_in_block(struct code_model *model, unsigned char *at, uint64_t leaf)
{
	uint32_t block = FRAME_BLOCK(leaf);

	if (*known_block(model, block) == block)
		*at++ = (unsigned char)(LEAF_BLOCK + block % CODE_BLOCKS);
	else
		at = put_new_block(model, at, block);
	at[0] = (unsigned char)leaf;
	at[1] = (unsigned char)(leaf >> 8);
	return at + 2;
}

/*
 * Returns the coded distance of a leaf from its caller; UINT32_MAX if it is too far or there is no
 * caller.
 */
static uint32_t distance_from_caller(uint64_t leaf, uint64_t caller)
{
	if (!caller || FRAME_MODULE(leaf) != FRAME_MODULE(caller))
		return UINT32_MAX;
	return distance_32((uint32_t)leaf, (uint32_t)caller);
}

/* Writes a leaf, relative to its caller. */
static unsigned char *put_leaf(struct code_encoder *encoder, unsigned char *at, uint64_t caller,
                               uint64_t leaf)
{
	uint16_t *slot = find_leaf(encoder, leaf);
	uint32_t distance;

	if (*slot)
		return put_known_leaf(at, *slot - 1U);
	note_leaf(encoder, slot, leaf);
	distance = distance_from_caller(leaf, caller);
	if (distance < CALLER_END)
		return put_low_bytes(at, LEAF_CALLER, distance, 1);
	if (distance < CALLER_2_END)
		return put_low_bytes(at, LEAF_CALLER_2, distance, 2);
	return put_leaf_in_block(&encoder->model, at, leaf);
}

/*
 * Writes a leaf relative to another one of the same context, which is mostly in the same function.
 */
static unsigned char *put_leaf_near(struct code_encoder *encoder, unsigned char *at,
                                    uint32_t context, uint64_t leaf, uint64_t near)
{
	uint16_t *slot = find_leaf(encoder, leaf);
	uint32_t distance = distance_32((uint32_t)leaf, (uint32_t)near);

	if (*slot && *slot <= distance)
		return put_short_varint(at, (*slot - 1U) << 1 | 1);
	if (FRAME_MODULE(leaf) != FRAME_MODULE(near) || !distance) {
		*at++ = 0;
		return put_leaf(encoder, at, code_caller(&encoder->nodes, context), leaf);
	}
	note_leaf(encoder, slot, leaf);
	if (distance < 1 << 27)
		return put_short_varint(at, distance << 1);
	return varint_put(at, (uint64_t)distance << 1);
}

/* Changes to the sample's site, and writes it if it is not the expected one. */
static unsigned char *put_site(struct code_encoder *encoder, unsigned char *at,
                               const struct code_sample *sample, unsigned time_shift)
{
	struct code_model *model = &encoder->model;
	uint32_t next = expected_stream(model);
	uint64_t who = code_who(sample->thread, sample->cpu);

	if (!model->nr_sites || model->streams[next].who != who)
		return put_switch(encoder, at, who, sample->step >> time_shift);
	model->stream = next;
	return at;
}

/* Returns the slot with the pair's number + 1, or the empty slot for it. */
static uint16_t *find_pair(struct code_encoder *encoder, uint32_t context, uint64_t leaf)
{
	for (uint32_t i = pair_slot(context, leaf);; i = (i + 1) % CODE_SLOTS) {
		uint16_t *slot = &encoder->pair_slots[i];
		const struct code_pair *pair;

		if (!*slot)
			return slot;
		pair = &encoder->model.pairs[*slot - 1];
		if (pair->leaf == leaf && pair->context == context)
			return slot;
	}
}

/* Numbers a pair for its empty slot; a context likewise, but for NULL: it has a number. */
static void note_pair(struct code_encoder *encoder, uint32_t context, uint64_t leaf, uint16_t *slot,
                      uint16_t *of_context)
{
	struct code_model *model = &encoder->model;
	uint32_t pair = add_pair(model, context, leaf);

	if (pair == CODE_MAX_PAIRS)
		return;
	*slot = (uint16_t)(pair + 1);
	if (of_context) {
		*of_context = *slot;
		add_context(model, pair);
		model->pairs[pair].context_number = (uint16_t)model->nr_contexts;
	}
}

/* The number + 1 of the context of its first pair; a long one becomes short. */
static unsigned char *put_context_number(struct code_model *model, unsigned char *at,
                                         struct code_pair *first)
{
	uint16_t number = first->context_number;

	if (number >= NUMBER_DIRECT) {
		first->context_number = (uint16_t)(shorten_context(model, number - 1U) + 1);
		model->pairs[model->contexts[number - 1U]].context_number = number;
	}
	return put_number(at, number);
}

/* A pair that is new, whose slot this is. */
static unsigned char *put_new_pair(struct code_encoder *encoder, unsigned char *at,
                                   uint64_t residual, uint32_t context, uint64_t leaf,
                                   uint16_t *slot)
{
	struct code_model *model = &encoder->model;
	bool again = context == model->last.context;
	uint16_t *of_context = find_context(encoder, context);

	if (again || *of_context) {
		struct code_pair *near = again ? &model->last : &model->pairs[*of_context - 1];

		at = put_control(at, residual, WHERE_CONTEXT);
		at = again ? put_number(at, 0) : put_context_number(model, at, near);
		at = put_leaf_near(encoder, at, context, leaf, near->leaf);
		note_pair(encoder, context, leaf, slot, NULL);
	} else {
		uint64_t caller =
			code_caller(&encoder->nodes, context); /* early: it is in no cache */

		at = put_control(at, residual, WHERE_RAW);
		at = put_context(model, at, context);
		at = put_leaf(encoder, at, caller, leaf);
		note_pair(encoder, context, leaf, slot, of_context);
	}
	model->last.leaf = leaf;
	model->last.context = context;
	return at;
}

static unsigned char *put_where(struct code_encoder *encoder, unsigned char *at, uint64_t residual,
                                uint32_t context, uint64_t leaf)
{
	struct code_model *model = &encoder->model;
	uint16_t *slot = find_pair(encoder, context, leaf);

	if (!*slot)
		return put_new_pair(encoder, at, residual, context, leaf, slot);
	model->last.leaf = leaf;
	model->last.context = context;
	at = put_control(at, residual, WHERE_PAIR);
	return put_pair(model, at, &model->pairs[*slot - 1]);
}

bool code_put_where(struct code_encoder *encoder, struct bin *bin, uint64_t residual,
                    uint32_t context, uint64_t leaf)
{
	unsigned char *at = bin_records(bin) + bin->record_bytes;

	code_append(bin, put_where(encoder, at, residual, context, leaf));
	return true;
}

bool code_put_new(struct code_encoder *encoder, struct bin *bin, uint64_t residual,
                  uint32_t context, uint64_t leaf, uint16_t *slot)
{
	unsigned char *at = bin_records(bin) + bin->record_bytes;

	code_append(bin, put_new_pair(encoder, at, residual, context, leaf, slot));
	return true;
}

static unsigned char *put_counters(struct code_encoder *encoder, unsigned char *at, uint64_t who,
                                   const uint64_t *totals, bool first)
{
	return counter_put(&encoder->counters, at, stream_number(&encoder->model, who), totals,
	                   first);
}

void code_put(struct code_encoder *encoder, struct bin *bin, const struct code_sample *sample)
{
	struct code_model *model = &encoder->model;
	unsigned char *at = bin_records(bin) + bin->record_bytes;
	uint64_t residual;

	at = put_site(encoder, at, sample, bin->time_shift);
	residual = code_residual(model, &model->streams[model->stream],
	                         sample->time >> bin->time_shift);
	at = put_where(encoder, at, residual, sample->context, sample->leaf);
	if (bin->nr_counters)
		at = put_counters(encoder, at, code_who(sample->thread, sample->cpu),
		                  sample->counters, !bin->nr_records);
	code_append(bin, at);
}

void code_begin(struct code_encoder *encoder, struct bin *bin, uint64_t time, unsigned time_shift,
                enum stream_owner owner, struct code_nodes nodes)
{
	bin->time_shift = (uint8_t)time_shift;
	bin->base_time = time >> time_shift;
	bin->stream_owner = (uint8_t)owner;
	encoder->nodes = nodes;
	model_reset(&encoder->model, bin->base_time, owner);
	memset(encoder->pair_slots, 0, sizeof(encoder->pair_slots));
	memset(encoder->context_slots, 0, sizeof(encoder->context_slots));
	memset(encoder->leaf_slots, 0, sizeof(encoder->leaf_slots));
	memset(encoder->site_slots, 0, sizeof(encoder->site_slots));
}

void code_begin_counters(struct code_encoder *encoder, struct bin *bin, unsigned nr,
                         const uint8_t shifts[COUNTER_MAX])
{
	bin->nr_counters = (uint8_t)nr;
	counter_begin(&encoder->counters, nr);
	memcpy(encoder->counters.shifts, shifts, nr);
}
