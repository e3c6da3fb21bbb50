#include "hmb/code.h"

#include <errno.h>
#include <string.h>

#define TIME_DIRECT     60 /* residuals below need no more bytes */
#define SITE_BYTE       62
#define SITE_NEW        63
#define NUMBER_DIRECT   240
#define NUMBER_END      (NUMBER_DIRECT + 16 * 256)
#define FRAME_MODULE(f) ((uint32_t)((f) >> 32))

/* What a bin that is read may be: no smaller than the smallest, and no larger than makes sense. */
#define MIN_SIZE_SHIFT 8
#define MAX_SIZE_SHIFT 24

static_assert(CODE_MAX_PAIRS <= NUMBER_END, "every pair must have a number");

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

static void model_reset(struct code_model *model, uint64_t base_time)
{
	model->time = base_time;
	model->raw_leaf = 0;
	model->raw_context = 0;
	model->nr_leaves = 0;
	model->nr_pairs = 0;
	model->nr_sites = 0;
	model->site = 0;
}

static uint64_t expected_time(const struct code_site *site)
{
	return site->last + site->step;
}

/* The site that the model expects next; NULL before the first. */
static struct code_site *expected_site(struct code_model *model)
{
	return model->nr_sites ? &model->sites[model->sites[model->site].next] : NULL;
}

/* From now on `to` is expected after the present site. */
static struct code_site *go_to_site(struct code_model *model, uint8_t to)
{
	if (model->nr_sites)
		model->sites[model->site].next = to;
	model->site = to;
	return &model->sites[to];
}

static struct code_site *add_site(struct code_model *model, uint32_t thread, uint32_t cpu,
                                  uint64_t step)
{
	uint8_t number = (uint8_t)(model->nr_sites % CODE_MAX_SITES);

	model->sites[number] = (struct code_site){
		.thread = thread,
		.cpu = cpu,
		.step = step,
		.last = model->time - step,
		.next = number,
	};
	go_to_site(model, number);
	model->nr_sites++;
	return &model->sites[number];
}

/* Numbers a leaf that was written as an offset; false where no more are numbered. */
static bool add_leaf(struct code_model *model, uint64_t leaf)
{
	model->raw_leaf = leaf;
	if (model->nr_leaves == CODE_MAX_LEAVES)
		return false;
	model->leaves[model->nr_leaves++] = leaf;
	return true;
}

static uint32_t add_pair(struct code_model *model, uint32_t context, uint64_t leaf)
{
	if (model->nr_pairs == CODE_MAX_PAIRS)
		return CODE_MAX_PAIRS;
	model->pairs[model->nr_pairs] = (struct code_pair){leaf, context};
	return model->nr_pairs++;
}

/* --- encoding --------------------------------------------------------------------------------- */

static unsigned char *put_varint(unsigned char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (unsigned char)(value | 0x80);
	*at++ = (unsigned char)value;
	return at;
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

static unsigned char *put_control(unsigned char *at, uint64_t residual, enum code_where where)
{
	uint64_t rest = residual - TIME_DIRECT;
	unsigned log_bytes;

	if (residual < TIME_DIRECT) {
		*at++ = (unsigned char)(residual << 2 | where);
		return at;
	}
	log_bytes = rest < 1 << 8 ? 0 : rest < 1 << 16 ? 1 : rest < (uint64_t)1 << 32 ? 2 : 3;
	*at++ = (unsigned char)((TIME_DIRECT + log_bytes) << 2 | where);
	for (unsigned i = 0; i < 1U << log_bytes; i++)
		*at++ = (unsigned char)(rest >> 8 * i);
	return at;
}

static unsigned char *put_context(struct code_model *model, unsigned char *at, uint32_t context)
{
	at = put_varint(at, zigzag((uint64_t)context - model->raw_context));
	model->raw_context = context;
	return at;
}

static uint32_t site_hash(uint32_t thread, uint32_t cpu)
{
	return (thread * 0x9e3779b1U ^ cpu * 0x85ebca6bU) >> 23; /* 9 bits */
}

static_assert(2 * CODE_MAX_SITES == 1 << 9, "site_hash() gives 9 bits");

static unsigned char *put_switch(struct code_encoder *encoder, unsigned char *at,
                                 const struct code_sample *sample, unsigned time_shift)
{
	struct code_model *model = &encoder->model;
	uint16_t *slot = &encoder->site_slots[site_hash(sample->thread, sample->cpu)];
	const struct code_site *known = &model->sites[*slot];
	uint64_t step = sample->step >> time_shift;

	if (*slot < model->nr_sites && known->thread == sample->thread &&
	    known->cpu == sample->cpu) {
		*at++ = (unsigned char)((*slot < SITE_BYTE ? *slot : SITE_BYTE) << 2 |
		                        WHERE_SWITCH);
		if (*slot >= SITE_BYTE)
			*at++ = (unsigned char)*slot;
		go_to_site(model, (uint8_t)*slot);
		return at;
	}
	*at++ = SITE_NEW << 2 | WHERE_SWITCH;
	at = put_varint(at, sample->thread);
	at = put_varint(at, sample->cpu);
	at = put_varint(at, step);
	*slot = (uint16_t)(add_site(model, sample->thread, sample->cpu, step) - model->sites);
	return at;
}

static uint32_t where_hash(uint32_t context, uint64_t leaf)
{
	return (uint32_t)((leaf * 0x9e3779b97f4a7c15 ^ context * 0xd6e8feb86659fd93) >> 52);
}

static_assert(2 * CODE_MAX_PAIRS == 1 << 12, "where_hash() gives 12 bits");

/* The slot of the pair, or the empty slot where it belongs. */
static uint16_t *find_pair(struct code_encoder *encoder, uint32_t context, uint64_t leaf)
{
	for (uint32_t i = where_hash(context, leaf);; i++) {
		uint16_t *slot = &encoder->pair_slots[i % (2 * CODE_MAX_PAIRS)];
		const struct code_pair *pair;

		if (!*slot)
			return slot;
		pair = &encoder->model.pairs[*slot - 1];
		if (pair->leaf == leaf && pair->context == context)
			return slot;
	}
}

static uint16_t *find_context(struct code_encoder *encoder, uint32_t context)
{
	for (uint32_t i = where_hash(context, 0);; i++) {
		uint16_t *slot = &encoder->context_slots[i % (2 * CODE_MAX_PAIRS)];

		if (!*slot || encoder->model.pairs[*slot - 1].context == context)
			return slot;
	}
}

static uint16_t *find_leaf(struct code_encoder *encoder, uint64_t leaf)
{
	for (uint32_t i = where_hash(0, leaf);; i++) {
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
	return put_varint(at, (slot - 1U) << 1 | 1);
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
	at = put_varint(at, offset_distance(leaf, model->raw_leaf) << 2 | (unsigned)moved << 1);
	if (moved)
		at = put_varint(at, FRAME_MODULE(leaf));
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
	at = put_varint(at, distance << 1);
	note_leaf(encoder, slot, leaf);
	return at;
}

static unsigned char *put_new_pair(struct code_encoder *encoder, unsigned char *at,
                                   uint64_t residual, const struct code_sample *sample,
                                   uint16_t *pair_slot)
{
	struct code_model *model = &encoder->model;
	uint16_t *context_slot = find_context(encoder, sample->context);
	uint32_t number;

	if (*context_slot) {
		at = put_control(at, residual, WHERE_CONTEXT);
		at = put_number(at, *context_slot - 1U);
		at = put_leaf_near(encoder, at, sample->leaf, model->pairs[*context_slot - 1].leaf);
	} else {
		at = put_control(at, residual, WHERE_RAW);
		at = put_context(model, at, sample->context);
		at = put_leaf(encoder, at, sample->leaf);
	}
	number = add_pair(model, sample->context, sample->leaf);
	if (number == CODE_MAX_PAIRS)
		return at;
	*pair_slot = (uint16_t)(number + 1);
	if (!*context_slot)
		*context_slot = *pair_slot;
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

static bool at_site(const struct code_site *site, const struct code_sample *sample)
{
	return site && site->thread == sample->thread && site->cpu == sample->cpu;
}

void code_begin_counters(struct code_encoder *encoder, struct bin *bin, unsigned nr,
                         enum counter_owner owner, const uint8_t shifts[COUNTER_MAX])
{
	bin->nr_counters = (uint8_t)nr;
	bin->counter_owner = (uint8_t)owner;
	counter_begin(&encoder->counters, nr, owner);
	memcpy(encoder->counters.shifts, shifts, nr);
}

static uint32_t counter_stream(const struct counter_model *counters,
                               const struct code_sample *sample)
{
	return counters->owner == COUNTER_OF_THREAD ? sample->thread : sample->cpu;
}

/*
 * Adds a sample's counters to its record, and the record to the bin. Whoever reads the bin after a
 * crash finds no record before it is complete.
 */
static void append_record(struct code_encoder *encoder, struct bin *bin,
                          const struct code_sample *sample, unsigned char *end)
{
	if (bin->nr_counters)
		end = counter_put(&encoder->counters, end,
		                  counter_stream(&encoder->counters, sample), sample->counters,
		                  !bin->nr_records);
	bin->nr_records++;
	__atomic_store_n(&bin->record_bytes, (uint32_t)(end - bin_records(bin)), __ATOMIC_RELEASE);
}

/* Any record. Apart, so that the way of the usual one is short. */
__attribute__((noinline)) static void put_any(struct code_encoder *encoder, struct bin *bin,
                                              const struct code_sample *sample)
{
	struct code_model *model = &encoder->model;
	unsigned char *at = bin_records(bin) + bin->record_bytes;
	uint64_t time = sample->time >> bin->time_shift, residual;
	struct code_site *site = expected_site(model);
	uint16_t *pair_slot = find_pair(encoder, sample->context, sample->leaf);

	if (at_site(site, sample)) {
		model->site = model->sites[model->site].next;
	} else {
		at = put_switch(encoder, at, sample, bin->time_shift);
		site = &model->sites[model->site];
	}
	residual = zigzag(time - expected_time(site));
	site->last = model->time = time;
	if (*pair_slot) {
		at = put_control(at, residual, WHERE_PAIR);
		at = put_number(at, *pair_slot - 1U);
	} else {
		at = put_new_pair(encoder, at, residual, sample, pair_slot);
	}
	append_record(encoder, bin, sample, at);
}

/* Most records: the expected site of execution at about the expected time, a frequent pair. */
static bool put_usual(struct code_encoder *encoder, struct bin *bin,
                      const struct code_sample *sample)
{
	struct code_model *model = &encoder->model;
	unsigned char *at = bin_records(bin) + bin->record_bytes;
	uint64_t time = sample->time >> bin->time_shift, residual;
	struct code_site *site = expected_site(model);
	unsigned pair = *find_pair(encoder, sample->context, sample->leaf);

	if (!at_site(site, sample) || !pair || pair > NUMBER_DIRECT)
		return false;
	residual = zigzag(time - expected_time(site));
	if (residual >= TIME_DIRECT)
		return false;
	model->site = (uint8_t)(site - model->sites);
	site->last = model->time = time;
	at[0] = (unsigned char)(residual << 2 | WHERE_PAIR);
	at[1] = (unsigned char)(pair - 1);
	append_record(encoder, bin, sample, at + 2);
	return true;
}

void code_put(struct code_encoder *encoder, struct bin *bin, const struct code_sample *sample)
{
	if (!put_usual(encoder, bin, sample))
		put_any(encoder, bin, sample);
}

/* --- decoding --------------------------------------------------------------------------------- */

/* The getters return 0 behind the end and leave at == NULL: one check serves a whole record. */

static unsigned get_byte(struct code_cursor *cursor)
{
	if (!cursor->at || cursor->at == cursor->end) {
		cursor->at = NULL;
		return 0;
	}
	return *cursor->at++;
}

static uint64_t get_varint(struct code_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned byte = get_byte(cursor);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	cursor->at = NULL;
	return 0;
}

static uint32_t get_number(struct code_cursor *cursor)
{
	uint32_t number = get_byte(cursor);

	if (number < NUMBER_DIRECT)
		return number;
	return NUMBER_DIRECT + ((number - NUMBER_DIRECT) << 8) + get_byte(cursor);
}

static uint64_t get_residual(struct code_cursor *cursor, unsigned code)
{
	uint64_t rest = 0;

	if (code < TIME_DIRECT)
		return code;
	for (unsigned i = 0; i < 1U << (code - TIME_DIRECT); i++)
		rest |= (uint64_t)get_byte(cursor) << 8 * i;
	return rest + TIME_DIRECT;
}

static uint64_t get_known_leaf(struct code_cursor *cursor, uint64_t number)
{
	if (number < cursor->model.nr_leaves)
		return cursor->model.leaves[number];
	cursor->at = NULL;
	return 0;
}

static uint64_t get_leaf(struct code_cursor *cursor)
{
	struct code_model *model = &cursor->model;
	uint64_t code = get_varint(cursor), module = FRAME_MODULE(model->raw_leaf);
	uint32_t offset = (uint32_t)model->raw_leaf + (uint32_t)unzigzag(code >> 2);

	if (code & 1)
		return get_known_leaf(cursor, code >> 1);
	if (code & 2)
		module = get_varint(cursor) & 0xffff;
	add_leaf(model, module << 32 | offset);
	return model->raw_leaf;
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

static uint32_t get_context(struct code_cursor *cursor)
{
	cursor->model.raw_context += (uint32_t)unzigzag(get_varint(cursor));
	return cursor->model.raw_context;
}

static struct code_site *get_site(struct code_cursor *cursor, unsigned code)
{
	struct code_model *model = &cursor->model;
	unsigned number = code;

	if (code == SITE_NEW) {
		uint32_t thread = (uint32_t)get_varint(cursor);
		uint32_t cpu = (uint32_t)get_varint(cursor);

		return add_site(model, thread, cpu, get_varint(cursor));
	}
	if (code == SITE_BYTE)
		number = get_byte(cursor);
	if (number >= model->nr_sites)
		return NULL;
	return go_to_site(model, (uint8_t)number);
}

/* Reads what follows a control byte; -EBADMSG for numbers of pairs that do not exist. */
static int get_where(struct code_cursor *cursor, enum code_where where, struct code_pair *pair)
{
	struct code_model *model = &cursor->model;
	uint32_t number;

	if (where == WHERE_RAW) {
		pair->context = get_context(cursor);
		pair->leaf = get_leaf(cursor);
	} else {
		number = get_number(cursor);
		if (number >= model->nr_pairs)
			return -EBADMSG;
		*pair = model->pairs[number];
		if (where == WHERE_PAIR)
			return 0;
		pair->leaf = get_leaf_near(cursor, pair->leaf);
	}
	add_pair(model, pair->context, pair->leaf);
	return 0;
}

int code_open(struct code_cursor *cursor, const struct bin *bin, size_t size)
{
	if (size < sizeof(*bin) || bin->size_shift < MIN_SIZE_SHIFT ||
	    bin->size_shift > MAX_SIZE_SHIFT || bin_size(bin) > size ||
	    bin->record_bytes > bin_size(bin) || bin->node_bytes > bin_size(bin) ||
	    (size_t)bin->record_bytes + bin->node_bytes > bin_size(bin) - sizeof(*bin) ||
	    bin->node_bytes % sizeof(struct node) || bin->time_shift > CODE_MAX_TIME_SHIFT ||
	    bin->level >= 64 || bin->nr_counters > COUNTER_MAX ||
	    bin->counter_owner > COUNTER_OF_THREAD)
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
	cursor->at = counter_get(&cursor->counters, cursor->at, cursor->end,
	                         counter_stream(&cursor->counters, sample), cursor->totals,
	                         cursor->first);
	cursor->first = false;
	sample->counters = cursor->totals;
}

int code_next(struct code_cursor *cursor, struct code_sample *sample)
{
	struct code_model *model = &cursor->model;
	struct code_site *site = expected_site(model);
	struct code_pair pair;
	unsigned control;

	if (!cursor->left)
		return cursor->at == cursor->end ? 0 : -EBADMSG;
	control = get_byte(cursor);
	if ((control & 3) == WHERE_SWITCH) {
		site = get_site(cursor, control >> 2);
		control = get_byte(cursor);
	} else if (site) {
		model->site = model->sites[model->site].next;
	}
	if (!site || (control & 3) == WHERE_SWITCH)
		return -EBADMSG;
	model->time = expected_time(site) + unzigzag(get_residual(cursor, control >> 2));
	site->last = model->time;
	if (get_where(cursor, control & 3, &pair) || !cursor->at)
		return -EBADMSG;
	cursor->left--;
	*sample = (struct code_sample){
		.time = model->time << cursor->time_shift,
		.step = site->step << cursor->time_shift,
		.leaf = pair.leaf,
		.context = pair.context,
		.thread = site->thread,
		.cpu = site->cpu,
	};
	if (cursor->counters.nr)
		get_counters(cursor, sample);
	return cursor->at ? 1 : -EBADMSG;
}
