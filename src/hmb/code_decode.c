#include "hmb/code_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Limits of the size of a bin that is read: the smallest bin that exists, and the largest that
 * makes sense.
 */
#define MIN_SIZE_SHIFT 8
#define MAX_SIZE_SHIFT 24

/* No record without counters is longer, whatever its bytes are. */
#define LONGEST 128

/*
 * The bytes of one record. It has all of LONGEST to read from, so that a check where it ends serves
 * for each of them.
 */
struct reader {
	const unsigned char *at;
	bool wrong; /* it refers to something that does not exist */
};

static inline unsigned get_byte(struct reader *reader)
{
	return *reader->at++;
}

static inline uint64_t get_varint(struct reader *reader)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned byte = get_byte(reader);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	reader->wrong = true;
	return 0;
}

static inline uint32_t get_number(struct reader *reader)
{
	uint32_t number = get_byte(reader);

	if (number >= NUMBER_DIRECT)
		number = NUMBER_DIRECT + ((number - NUMBER_DIRECT) << 8) + get_byte(reader);
	return number;
}

static inline uint64_t get_bytes(struct reader *reader, unsigned nr)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < nr; i++)
		value |= (uint64_t)get_byte(reader) << 8 * i;
	return value;
}

static inline uint64_t get_residual(struct reader *reader, unsigned code)
{
	if (code < TIME_DIRECT)
		return code;
	if (code < TIME_BYTES)
		return TIME_DIRECT + (code - TIME_DIRECT) * 256 + get_byte(reader);
	if (code == TIME_VARINT)
		return TIME_END + get_varint(reader);
	if (code == TIME_3_BYTES)
		return TIME_END + get_bytes(reader, 3);
	return TIME_END + ((uint64_t)(code - TIME_BYTES) << 16) + get_bytes(reader, 2);
}

static uint64_t get_known_leaf(struct reader *reader, const struct code_model *model,
                               uint64_t number)
{
	if (number < model->nr_leaves)
		return model->leaves[number];
	reader->wrong = true;
	return 0;
}

static uint32_t get_new_block(struct reader *reader, struct code_model *model, unsigned code)
{
	unsigned module = (code - LEAF_NEW_BLOCK) / LEAF_HIGH;
	uint32_t block;
	uint64_t distance;

	if (code == LEAF_ANY_BLOCK) {
		block = (uint32_t)get_varint(reader) << (32 - BLOCK_SHIFT);
		block |= get_varint(reader) & UINT16_MAX;
	} else if (module < CODE_MODULES && module < model->nr_modules) {
		distance = (code - LEAF_NEW_BLOCK) % LEAF_HIGH << 8 | get_byte(reader);
		block = model->new_blocks[module] + (uint32_t)unzigzag(distance);
	} else {
		reader->wrong = true;
		return 0;
	}
	add_block(model, block);
	return block;
}

static uint32_t get_block(struct reader *reader, struct code_model *model, unsigned code)
{
	if (code >= LEAF_NEW_BLOCK)
		return get_new_block(reader, model, code);
	return model->blocks[code - LEAF_BLOCK];
}

/* Returns the leaf at a coded distance from `from`, in the same module. */
static uint64_t leaf_at_distance(uint64_t from, uint64_t distance)
{
	return (from & ~(uint64_t)UINT32_MAX) | (uint32_t)((uint32_t)from + unzigzag(distance));
}

static uint64_t get_leaf_by_caller(struct reader *reader, uint64_t caller, unsigned code)
{
	uint64_t distance = code < LEAF_CALLER_2
	                            ? (code - LEAF_CALLER) << 8 | get_byte(reader)
	                            : (code - LEAF_CALLER_2) << 16 | get_bytes(reader, 2);

	reader->wrong |= !caller;
	return leaf_at_distance(caller, distance);
}

static uint64_t get_leaf(struct reader *reader, struct code_cursor *cursor, uint32_t context)
{
	struct code_model *model = &cursor->model;
	unsigned code = get_byte(reader);
	uint64_t leaf;

	if (code < LEAF_FAR)
		return get_known_leaf(reader, model, code);
	if (code < LEAF_CALLER)
		return get_known_leaf(reader, model, (code - LEAF_FAR) << 8 | get_byte(reader));
	if (code < LEAF_BLOCK) {
		leaf = get_leaf_by_caller(reader, code_caller(&cursor->nodes, context), code);
	} else {
		leaf = (uint64_t)get_block(reader, model, code) << BLOCK_SHIFT;
		leaf |= get_bytes(reader, 2);
	}
	add_leaf(model, leaf);
	return leaf;
}

/* A leaf that is told by its distance from another or, being odd, by its number. */
static uint64_t get_leaf_near(struct reader *reader, struct code_model *model, uint64_t near,
                              uint64_t code)
{
	uint64_t leaf;

	if (code & 1)
		return get_known_leaf(reader, model, code >> 1);
	leaf = leaf_at_distance(near, code >> 1);
	add_leaf(model, leaf);
	return leaf;
}

static uint32_t get_far_context(struct reader *reader, const struct code_model *model,
                                unsigned code)
{
	if (code == CONTEXT_ANY)
		return (uint32_t)get_bytes(reader, 4);
	if (code >= CONTEXT_3_BYTES)
		return (code - CONTEXT_3_BYTES) << 24 | (uint32_t)get_bytes(reader, 3);
	if (code >= CONTEXT_2_BYTES)
		return (code - CONTEXT_2_BYTES) << 16 | (uint32_t)get_bytes(reader, 2);
	return model->vicinities[code - CONTEXT_VICINITY] << VICINITY_SHIFT | get_byte(reader);
}

static uint32_t get_context(struct reader *reader, struct code_model *model)
{
	unsigned code = get_byte(reader), other;
	uint32_t context;

	if (code >= CONTEXT_VICINITY) {
		context = get_far_context(reader, model, code);
		add_to_trail(model, context, false, false);
		return context;
	}
	other = code & 1;
	context = model->trails[model->trail ^ other] + (uint32_t)unzigzag(code >> 1);
	add_to_trail(model, context, other, true);
	return context;
}

static uint64_t get_new_who(struct reader *reader, const struct code_model *model, unsigned code)
{
	uint32_t thread, cpu;
	uint64_t told;

	if (code < SITE_NEW) {
		code -= SITE_NEAR;
		cpu = code % 2 ? second_cpu(model) : expected_cpu(model);
		return code_who(model->thread + code / 2 - SITE_BELOW, cpu);
	}
	told = get_varint(reader);
	thread = model->thread + (uint32_t)unzigzag(told >> 1);
	cpu = told & 1 ? (uint32_t)get_varint(reader) : expected_cpu(model);
	return code_who(thread, cpu);
}

static struct code_stream *get_site(struct reader *reader, struct code_model *model, unsigned code)
{
	unsigned age = code;
	uint64_t who, step = 0;

	if (code >= SITE_NEAR) {
		who = get_new_who(reader, model, code);
		if (!stream_known(model, who))
			step = get_varint(reader) ^ model->step;
		return add_site(model, who, step);
	}
	if (code == SITE_BYTE)
		age = get_byte(reader);
	if (age >= model->nr_sites)
		return NULL;
	return go_to_site(model, model->sites[site_age(model, age)]);
}

/* The pair that the record's leaf is near to; -EBADMSG for numbers of none. */
static int get_context_again(struct reader *reader, struct code_model *model,
                             struct code_pair *pair)
{
	uint32_t number = get_number(reader);

	if (number > model->nr_contexts)
		return -EBADMSG;
	*pair = number ? model->pairs[model->contexts[number - 1]] : model->last;
	if (number >= NUMBER_DIRECT)
		shorten_context(model, number - 1);
	return 0;
}

static int get_known_pair(struct reader *reader, struct code_model *model, struct code_pair *pair,
                          uint32_t *number)
{
	uint32_t short_number = get_number(reader);

	if (short_number >= model->nr_pairs)
		return -EBADMSG;
	*number = model->order[short_number];
	*pair = model->pairs[*number];
	if (short_number >= NUMBER_DIRECT)
		shorten_pair(model, short_number);
	return 0;
}

/* Reads what follows a control byte; -EBADMSG for numbers of what does not exist. */
static int get_where(struct reader *reader, struct code_cursor *cursor, enum code_where where,
                     struct code_pair *pair, uint32_t *number)
{
	struct code_model *model = &cursor->model;
	uint64_t distance = 0;

	if (where == WHERE_PAIR)
		return get_known_pair(reader, model, pair, number);
	if (where == WHERE_RAW)
		pair->context = get_context(reader, model);
	else if (get_context_again(reader, model, pair))
		return -EBADMSG;
	else
		distance = get_varint(reader);
	pair->leaf = distance ? get_leaf_near(reader, model, pair->leaf, distance)
	                      : get_leaf(reader, cursor, pair->context);
	*number = add_pair(model, pair->context, pair->leaf);
	if (where == WHERE_RAW)
		add_context(model, *number);
	return 0;
}

bool code_bin_plausible(const struct bin *bin, size_t size)
{
	return size >= sizeof(*bin) && bin->size_shift >= MIN_SIZE_SHIFT &&
	       bin->size_shift <= MAX_SIZE_SHIFT && bin_size(bin) <= size &&
	       (size_t)bin->record_bytes + bin->node_bytes <= bin_size(bin) - sizeof(*bin) &&
	       bin->node_bytes % sizeof(struct node) == 0 &&
	       bin->time_shift <= CODE_MAX_TIME_SHIFT && bin->level < 64 &&
	       bin->nr_counters <= COUNTER_MAX && bin->stream_owner <= STREAM_OF_THREAD;
}

struct code_cursor *code_cursor_new(void)
{
	struct code_cursor *cursor = malloc(sizeof(*cursor));

	if (cursor) {
		cursor->at = cursor->end = NULL;
		cursor->left = 0;
	}
	return cursor;
}

int code_open(struct code_cursor *cursor, const struct bin *bin, size_t size,
              struct code_nodes nodes)
{
	if (!code_bin_plausible(bin, size))
		return -EBADMSG;
	cursor->at = bin_records(bin);
	cursor->end = cursor->at + bin->record_bytes;
	cursor->time_shift = bin->time_shift;
	cursor->owner = bin->stream_owner;
	cursor->left = bin->nr_records;
	cursor->nodes = nodes;
	model_reset(&cursor->model, bin->base_time, cursor->owner);
	cursor->counters.nr = bin->nr_counters;
	if (bin->nr_counters)
		counter_begin(&cursor->counters, bin->nr_counters);
	cursor->first = true;
	return 0;
}

/* 1 or -EBADMSG. */
static int get_counters(struct code_cursor *cursor, struct code_sample *sample)
{
	uint64_t who = code_who(sample->thread, sample->cpu);
	const unsigned char *at =
		counter_get(&cursor->counters, cursor->at, cursor->end,
	                    stream_number(&cursor->model, who), cursor->totals, cursor->first);

	if (!at)
		return -EBADMSG;
	cursor->at = at;
	cursor->first = false;
	sample->counters = cursor->totals;
	return 1;
}

/* The last bytes of a bin with zeros behind them. */
static const unsigned char *copy_end(unsigned char copy[LONGEST], const unsigned char *at,
                                     size_t left)
{
	memcpy(copy, at, left);
	memset(copy + left, 0, LONGEST - left);
	return copy;
}

/* Reads a record but for its counters. */
static inline int get_record(struct code_cursor *cursor, struct reader *reader,
                             struct code_sample *sample)
{
	struct code_model *model = &cursor->model;
	struct code_stream *stream = &model->streams[expected_stream(model)];
	unsigned control = get_byte(reader);
	struct code_pair pair;
	uint32_t number;

	if ((control & 3) == WHERE_SWITCH) {
		stream = get_site(reader, model, control >> 2);
		control = get_byte(reader);
	} else {
		model->stream = expected_stream(model);
	}
	if (!stream || !model->nr_sites || (control & 3) == WHERE_SWITCH)
		return -EBADMSG;
	stream->last = time_from_residual(model, stream, get_residual(reader, control >> 2));
	model->now = stream->last;
	if (get_where(reader, cursor, control & 3, &pair, &number) || reader->wrong)
		return -EBADMSG;
	model->last = pair;
	*sample = (struct code_sample){
		.time = stream->last << cursor->time_shift,
		.leaf = pair.leaf,
		.context = pair.context,
		.thread = (uint32_t)stream->who,
		.cpu = (uint32_t)(stream->who >> 32),
		.pair = (uint16_t)number,
		.again = (control & 3) == WHERE_PAIR,
	};
	return 0;
}

int code_next(struct code_cursor *cursor, struct code_sample *sample)
{
	size_t left = (size_t)(cursor->end - cursor->at);
	struct reader reader = {cursor->at, false};
	const unsigned char *start;
	unsigned char copy[LONGEST];

	if (!cursor->left)
		return left ? -EBADMSG : 0;
	if (left < LONGEST)
		reader.at = copy_end(copy, cursor->at, left);
	start = reader.at;
	if (get_record(cursor, &reader, sample) || (size_t)(reader.at - start) > left)
		return -EBADMSG;
	cursor->at += reader.at - start;
	cursor->left--;
	return cursor->counters.nr ? get_counters(cursor, sample) : 1;
}
