/*
 * Appending a coded sample: inline, so that the usual one is short. Most come at the expected site
 * of execution, at about the expected time, with a pair that is known; all else is a call.
 */
#ifndef HMB_CODE_PUT_H
#define HMB_CODE_PUT_H

#include "hmb/code_model.h"

static inline uint32_t code_where_hash(uint32_t context, uint64_t leaf)
{
	return (uint32_t)(((leaf ^ (uint64_t)context << 32) * 0x9e3779b97f4a7c15) >> 52);
}

static_assert(2 * CODE_MAX_PAIRS == 1 << 12, "code_where_hash() gives 12 bits");

/* The slot of the pair, or the empty slot where it belongs. */
static inline uint16_t *code_find_pair(struct code_encoder *encoder, uint32_t context,
                                       uint64_t leaf)
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

/* What is not usual, in code.c. All return where the record goes on. */
unsigned char *code_put_residual(unsigned char *at, uint64_t residual, enum code_where where);
unsigned char *code_put_switch(struct code_encoder *encoder, unsigned char *at, uint64_t who,
                               uint64_t step);
unsigned char *code_put_pair(struct code_encoder *encoder, unsigned char *at, uint32_t pair);
unsigned char *code_put_new_pair(struct code_encoder *encoder, unsigned char *at, uint64_t residual,
                                 uint32_t context, uint64_t leaf, uint16_t *slot);
unsigned char *code_put_counters(struct code_encoder *encoder, unsigned char *at, uint64_t who,
                                 const uint64_t *totals, bool first);

static inline unsigned char *code_put_control(unsigned char *at, uint64_t residual,
                                              enum code_where where)
{
	if (residual >= TIME_DIRECT)
		return code_put_residual(at, residual, where);
	*at++ = (unsigned char)(residual << 2 | where);
	return at;
}

/* Goes to the sample's site of execution, saying so where it is not the expected one. */
static inline unsigned char *code_put_site(struct code_encoder *encoder, unsigned char *at,
                                           const struct code_sample *sample, unsigned time_shift)
{
	struct code_model *model = &encoder->model;
	uint8_t next = expected_site(model);
	uint64_t who = code_who(sample->thread, sample->cpu);

	if (!model->nr_sites || model->sites[next].who != who)
		return code_put_switch(encoder, at, who, sample->step >> time_shift);
	model->site = next;
	return at;
}

/* Whoever reads the bin after a crash finds no record before it is complete. */
static inline void code_append(struct bin *bin, uint32_t size)
{
	bin->nr_records++;
	__atomic_store_n(&bin->record_bytes, bin->record_bytes + size, __ATOMIC_RELEASE);
}

/*
 * Appends a sample whose site of execution and time are as expected, and whose pair is known, found
 * at once and of a short number, to a bin without counters that has room for it. False with nothing
 * done: it is not such a one.
 */
static inline bool code_put_usual(struct code_encoder *encoder, struct bin *bin,
                                  const struct code_sample *sample)
{
	struct code_model *model = &encoder->model;
	uint32_t pair = encoder->pair_slots[code_where_hash(sample->context, sample->leaf)], next;
	const struct code_pair *known;
	struct code_site *site;
	uint64_t time, residual;
	unsigned char *at;

	if (!pair) /* else there was a record, and so a site */
		return false;
	known = &model->pairs[--pair];
	if (known->leaf != sample->leaf || known->context != sample->context ||
	    encoder->numbers[pair] >= NUMBER_DIRECT)
		return false;
	next = expected_site(model);
	site = &model->sites[next];
	time = sample->time >> bin->time_shift;
	residual = zigzag(time - expected_time(site));
	if (site->who != code_who(sample->thread, sample->cpu) || residual >= TIME_DIRECT)
		return false;
	model->last = *known;
	model->site = (uint8_t)next;
	site->last = time;
	at = bin_records(bin) + bin->record_bytes;
	__builtin_prefetch(at + 64, 1); /* the rest of the bin was not touched for long */
	at[0] = (unsigned char)(residual << 2 | WHERE_PAIR);
	at[1] = (unsigned char)encoder->numbers[pair];
	code_append(bin, 2);
	return true;
}

/* Appends a sample to a bin with room for CODE_MAX_RECORD bytes and its counters. */
static inline void code_put(struct code_encoder *encoder, struct bin *bin,
                            const struct code_sample *sample)
{
	struct code_model *model = &encoder->model;
	unsigned char *start = bin_records(bin) + bin->record_bytes;
	unsigned char *at = code_put_site(encoder, start, sample, bin->time_shift);
	struct code_site *site = &model->sites[model->site];
	uint64_t time = sample->time >> bin->time_shift;
	uint64_t residual = zigzag(time - expected_time(site));
	uint16_t *slot = code_find_pair(encoder, sample->context, sample->leaf);

	site->last = time;
	if (*slot)
		at = code_put_pair(encoder, code_put_control(at, residual, WHERE_PAIR), *slot - 1U);
	else
		at = code_put_new_pair(encoder, at, residual, sample->context, sample->leaf, slot);
	model->last = (struct code_pair){sample->leaf, sample->context};
	if (bin->nr_counters)
		at = code_put_counters(encoder, at, code_who(sample->thread, sample->cpu),
		                       sample->counters, !bin->nr_records);
	code_append(bin, (uint32_t)(at - start));
}

#endif
