#include "hmb/code_model.h"

#include <errno.h>

/* What a bin that is read may be: no smaller than the smallest, and no larger than makes sense. */
#define MIN_SIZE_SHIFT 8
#define MAX_SIZE_SHIFT 24

static unsigned get_byte(struct code_cursor *cursor)
{
	return byte_get(&cursor->at, cursor->end);
}

static uint64_t get_varint(struct code_cursor *cursor)
{
	return varint_get(&cursor->at, cursor->end);
}

static uint32_t get_long_number(struct code_cursor *cursor, uint32_t number)
{
	return NUMBER_DIRECT + ((number - NUMBER_DIRECT) << 8) + get_byte(cursor);
}

static inline uint32_t get_number(struct code_cursor *cursor)
{
	uint32_t number = get_byte(cursor);

	return number < NUMBER_DIRECT ? number : get_long_number(cursor, number);
}

static uint64_t get_bytes(struct code_cursor *cursor, unsigned nr)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < nr; i++)
		value |= (uint64_t)get_byte(cursor) << 8 * i;
	return value;
}

static uint64_t get_residual(struct code_cursor *cursor, unsigned code)
{
	if (code < TIME_DIRECT)
		return code;
	if (code < TIME_BYTES)
		return TIME_DIRECT + (code - TIME_DIRECT) * 256 + get_byte(cursor);
	if (code == TIME_VARINT)
		return TIME_END + get_varint(cursor);
	if (code == TIME_3_BYTES)
		return TIME_END + get_bytes(cursor, 3);
	return TIME_END + ((uint64_t)(code - TIME_BYTES) << 16) + get_bytes(cursor, 2);
}

static uint64_t get_known_leaf(struct code_cursor *cursor, uint64_t number)
{
	if (number < cursor->model.nr_leaves)
		return cursor->model.leaves[number];
	cursor->at = NULL;
	return 0;
}

static uint32_t get_new_block(struct code_cursor *cursor, unsigned code)
{
	struct code_model *model = &cursor->model;
	unsigned module = (code - LEAF_NEW_BLOCK) / LEAF_HIGH;
	uint32_t block;
	uint64_t distance;

	if (code == LEAF_ANY_BLOCK) {
		block = (uint32_t)get_varint(cursor) << (32 - BLOCK_SHIFT);
		block |= get_varint(cursor) & UINT16_MAX;
	} else if (module < CODE_MODULES && module < model->nr_modules) {
		distance = (code - LEAF_NEW_BLOCK) % LEAF_HIGH << 8 | get_byte(cursor);
		block = model->new_blocks[module] + (uint32_t)unzigzag(distance);
	} else {
		cursor->at = NULL;
		return 0;
	}
	add_block(model, block);
	return block;
}

static uint32_t get_block(struct code_cursor *cursor, unsigned code)
{
	if (code >= LEAF_NEW_BLOCK)
		return get_new_block(cursor, code);
	code -= LEAF_AREA;
	if (code / 2 < cursor->model.nr_areas)
		return cursor->model.areas[code / 2] << 1 | code % 2;
	cursor->at = NULL;
	return 0;
}

static uint64_t get_leaf(struct code_cursor *cursor)
{
	unsigned code = get_byte(cursor);
	uint64_t leaf;

	if (code < LEAF_FAR)
		return get_known_leaf(cursor, code);
	if (code < LEAF_AREA)
		return get_known_leaf(cursor, (code - LEAF_FAR) << 8 | get_byte(cursor));
	leaf = (uint64_t)get_block(cursor, code) << BLOCK_SHIFT;
	leaf |= get_bytes(cursor, 2);
	add_leaf(&cursor->model, leaf);
	return leaf;
}

static uint64_t get_leaf_near(struct code_cursor *cursor, uint64_t near)
{
	uint64_t code = get_varint(cursor), leaf;

	if (!code)
		return get_leaf(cursor);
	if (code & 1)
		return get_known_leaf(cursor, code >> 1);
	leaf = (near & ~(uint64_t)UINT32_MAX) | (uint32_t)((uint32_t)near + unzigzag(code >> 1));
	add_leaf(&cursor->model, leaf);
	return leaf;
}

static uint32_t get_far_context(struct code_cursor *cursor, unsigned code)
{
	if (code == CONTEXT_ANY)
		return (uint32_t)get_bytes(cursor, 4);
	if (code >= CONTEXT_3_BYTES)
		return (code - CONTEXT_3_BYTES) << 24 | (uint32_t)get_bytes(cursor, 3);
	return (code - CONTEXT_2_BYTES) << 16 | (uint32_t)get_bytes(cursor, 2);
}

static uint32_t get_context(struct code_cursor *cursor)
{
	struct code_model *model = &cursor->model;
	unsigned code = get_byte(cursor), other;
	uint32_t context;

	if (code >= CONTEXT_2_BYTES) {
		context = get_far_context(cursor, code);
		add_to_trail(model, context, false, false);
		return context;
	}
	if (code >= CONTEXT_LOW)
		code = CONTEXT_LOW + ((code - CONTEXT_LOW) << 8 | get_byte(cursor));
	other = code & 1;
	context = model->trails[model->trail ^ other] + (uint32_t)unzigzag(code >> 1);
	add_to_trail(model, context, other, code < CONTEXT_LOW);
	return context;
}

static struct code_site *get_site(struct code_cursor *cursor, unsigned code)
{
	struct code_model *model = &cursor->model;
	unsigned number = code;

	if (code == SITE_NEW) {
		uint32_t thread = (uint32_t)get_varint(cursor);
		uint32_t cpu = (uint32_t)get_varint(cursor);

		return add_site(model, code_who(thread, cpu), get_varint(cursor));
	}
	if (code == SITE_BYTE)
		number = get_byte(cursor);
	if (number >= model->nr_sites)
		return NULL;
	return go_to_site(model, (uint8_t)number);
}

/* The pair that the record's leaf is near to; -EBADMSG for numbers of none. */
static int get_context_again(struct code_cursor *cursor, struct code_pair *pair)
{
	const struct code_model *model = &cursor->model;
	uint32_t number = get_number(cursor);

	if (number > model->nr_contexts)
		return -EBADMSG;
	*pair = number ? model->pairs[model->contexts[number - 1]] : model->last;
	return 0;
}

static int get_known_pair(struct code_cursor *cursor, struct code_pair *pair, uint32_t *number)
{
	struct code_model *model = &cursor->model;
	uint32_t short_number = get_number(cursor);

	if (short_number >= model->nr_pairs)
		return -EBADMSG;
	*number = model->order[short_number];
	*pair = model->pairs[*number];
	if (short_number >= NUMBER_DIRECT)
		shorten_number(model, short_number);
	return 0;
}

/* Reads what follows a control byte; -EBADMSG for numbers of what does not exist. */
static int get_where(struct code_cursor *cursor, enum code_where where, struct code_pair *pair,
                     uint32_t *number)
{
	struct code_model *model = &cursor->model;

	if (where == WHERE_PAIR)
		return get_known_pair(cursor, pair, number);
	if (where == WHERE_RAW) {
		pair->context = get_context(cursor);
		pair->leaf = get_leaf(cursor);
		*number = add_pair(model, pair->context, pair->leaf);
		add_context(model, *number);
		return 0;
	}
	if (get_context_again(cursor, pair))
		return -EBADMSG;
	pair->leaf = get_leaf_near(cursor, pair->leaf);
	*number = add_pair(model, pair->context, pair->leaf);
	return 0;
}

bool code_bin_plausible(const struct bin *bin, size_t size)
{
	return size >= sizeof(*bin) && bin->size_shift >= MIN_SIZE_SHIFT &&
	       bin->size_shift <= MAX_SIZE_SHIFT && bin_size(bin) <= size &&
	       bin->record_bytes <= bin_size(bin) && bin->node_bytes <= bin_size(bin) &&
	       (size_t)bin->record_bytes + bin->node_bytes <= bin_size(bin) - sizeof(*bin) &&
	       bin->node_bytes % sizeof(struct node) == 0 &&
	       bin->time_shift <= CODE_MAX_TIME_SHIFT && bin->level < 64 &&
	       bin->nr_counters <= COUNTER_MAX && bin->counter_owner <= COUNTER_OF_THREAD;
}

int code_open(struct code_cursor *cursor, const struct bin *bin, size_t size)
{
	if (!code_bin_plausible(bin, size))
		return -EBADMSG;
	cursor->at = bin_records(bin);
	cursor->end = cursor->at + bin->record_bytes;
	cursor->time_shift = bin->time_shift;
	cursor->left = bin->nr_records;
	model_reset(&cursor->model, bin->base_time);
	cursor->counters.nr = bin->nr_counters;
	if (bin->nr_counters)
		counter_begin(&cursor->counters, bin->nr_counters, bin->counter_owner);
	cursor->first = true;
	return 0;
}

static void get_counters(struct code_cursor *cursor, struct code_sample *sample)
{
	cursor->at = counter_get(
		&cursor->counters, cursor->at, cursor->end,
		counter_stream(&cursor->counters, code_who(sample->thread, sample->cpu)),
		cursor->totals, cursor->first);
	cursor->first = false;
	sample->counters = cursor->totals;
}

int code_next(struct code_cursor *cursor, struct code_sample *sample)
{
	struct code_model *model = &cursor->model;
	struct code_site *site = &model->sites[expected_site(model)];
	struct code_pair pair;
	uint32_t number;
	unsigned control;

	if (!cursor->left)
		return cursor->at == cursor->end ? 0 : -EBADMSG;
	control = get_byte(cursor);
	if ((control & 3) == WHERE_SWITCH) {
		site = get_site(cursor, control >> 2);
		control = get_byte(cursor);
	} else {
		model->site = expected_site(model);
	}
	if (!site || !model->nr_sites || (control & 3) == WHERE_SWITCH)
		return -EBADMSG;
	site->last = expected_time(site) + unzigzag(get_residual(cursor, control >> 2));
	if (get_where(cursor, control & 3, &pair, &number) || !cursor->at)
		return -EBADMSG;
	model->last = pair;
	cursor->left--;
	*sample = (struct code_sample){
		.time = site->last << cursor->time_shift,
		.step = site->step << cursor->time_shift,
		.leaf = pair.leaf,
		.context = pair.context,
		.thread = (uint32_t)site->who,
		.cpu = (uint32_t)(site->who >> 32),
		.pair = (uint16_t)number,
		.again = (control & 3) == WHERE_PAIR,
	};
	if (cursor->counters.nr)
		get_counters(cursor, sample);
	return cursor->at ? 1 : -EBADMSG;
}
