/*
 * Appending a coded sample. Most come at the expected site of execution with a pair that is known:
 * these inline, so that they are short; all else is a call. What is as good as random is chosen
 * without a branch where that takes few instructions, for a wrong guess of the processor takes as
 * long as sixty. Bytes behind a record may be written, for the next one to overwrite.
 */
#ifndef HMB_CODE_PUT_H
#define HMB_CODE_PUT_H

#include "hmb/code_model.h"

/* Appends a sample to a bin with room for CODE_MAX_RECORD bytes and its counters. */
void code_put(struct code_encoder *encoder, struct bin *bin, const struct code_sample *sample);

/*
 * What follows a sample's site and time, to a bin without counters. True: whoever ends with it
 * needs no more.
 */
bool code_put_where(struct code_encoder *encoder, struct bin *bin, uint64_t residual,
                    uint32_t context, uint64_t leaf);

static inline uint32_t code_slot(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15) >> 52);
}

static_assert(CODE_SLOTS == 1 << 12, "code_slot() gives 12 bits");

/* A byte below the limit, else the limit and high bits, and a low byte. */
static inline unsigned char *put_number(unsigned char *at, uint32_t value, int limit)
{
	int above = (int)value - limit;
	unsigned more = above >= 0;

	at[0] = (unsigned char)(limit + (above >> 8 * more));
	at[1] = (unsigned char)above;
	return at + 1 + more;
}

/* For residuals below TIME_END. */
static inline unsigned char *put_near_control(unsigned char *at, uint64_t residual,
                                              enum code_where where)
{
	unsigned char *end = put_number(at, (uint32_t)residual, TIME_DIRECT);

	at[0] = (unsigned char)(at[0] << 2 | where);
	return end;
}

static inline uint32_t pair_slot(uint32_t context, uint64_t leaf)
{
	return code_slot(leaf ^ (uint64_t)context << 32);
}

/* Whoever reads the bin after a crash finds no record before it is complete. */
static inline void code_append(struct bin *bin, const unsigned char *end)
{
	bin->nr_records++;
	__atomic_store_n(&bin->record_bytes, (uint32_t)(end - bin_records(bin)), __ATOMIC_RELEASE);
}

/* Whether a sample comes at the expected site of execution, to a bin that has a record. */
static inline bool code_site_expected(const struct code_encoder *encoder, const struct bin *bin,
                                      uint64_t who)
{
	const struct code_model *model = &encoder->model;

	return bin->nr_records && model->sites[expected_site(model)].who == who;
}

/* How far from the expected one a time at a site is, in units; the next is expected after it. */
static inline uint64_t code_residual(struct code_site *site, uint64_t time)
{
	uint64_t residual = zigzag(time - expected_time(site));

	site->last = time;
	return residual;
}

/* Appends a sample at the expected site to a bin with room for it and without counters; true. */
static inline bool code_put_expected(struct code_encoder *encoder, struct bin *bin, uint64_t time,
                                     uint32_t context, uint64_t leaf)
{
	struct code_model *model = &encoder->model;
	uint8_t next = expected_site(model);
	uint64_t residual = code_residual(&model->sites[next], time >> bin->time_shift);
	size_t slot = encoder->pair_slots[pair_slot(context, leaf)];
	unsigned char *at = bin_records(bin) + bin->record_bytes;
	const struct code_pair *pair;

	__builtin_prefetch(at + 64, 1); /* the rest of the bin was not touched for long */
	model->site = next;
	if (!slot || residual >= TIME_END)
		return code_put_where(encoder, bin, residual, context, leaf);
	pair = &model->pairs[slot - 1];
	if (pair->leaf != leaf || pair->context != context || pair->number >= NUMBER_DIRECT)
		return code_put_where(encoder, bin, residual, context, leaf);
	model->last.leaf = leaf;
	model->last.context = context;
	at = put_near_control(at, residual, WHERE_PAIR);
	*at = (unsigned char)pair->number;
	code_append(bin, at + 1);
	return true;
}

#endif
