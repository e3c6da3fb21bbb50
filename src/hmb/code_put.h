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
 * Appends the rest of a sample, after its site and time, to a bin without counters. Always returns
 * true, so that callers can end with this call.
 */
bool code_put_where(struct code_encoder *encoder, struct bin *bin, uint64_t residual,
                    uint32_t context, uint64_t leaf);

/* Like code_put_where(), for a pair without a number. *slot is the empty slot of its hash. */
bool code_put_new(struct code_encoder *encoder, struct bin *bin, uint64_t residual,
                  uint32_t context, uint64_t leaf, uint16_t *slot);

static inline uint32_t code_slot(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15) >> 51);
}

static_assert(CODE_SLOTS == 1 << 13, "code_slot() gives 13 bits");

/* A byte of `first` and the high bits, then as many low bytes of the value; writes nine. */
static inline unsigned char *put_low_bytes(unsigned char *at, unsigned first, uint64_t value,
                                           unsigned nr)
{
	at[0] = (unsigned char)(first + (value >> 8 * nr));
	memcpy(at + 1, &value, sizeof(value));
	return at + 1 + nr;
}

static inline unsigned char *put_number(unsigned char *at, uint32_t number)
{
	unsigned more = number >= NUMBER_DIRECT;
	uint32_t first = more ? NUMBER_DIRECT : 0;

	return put_low_bytes(at, first, number - first, more);
}

/* For residuals below TIME_END. Of a comparison the compiler would make a branch. */
static inline unsigned char *put_near_control(unsigned char *at, uint64_t residual,
                                              enum code_where where)
{
	unsigned more = (unsigned)((TIME_DIRECT - 1 - residual) >> 63);
	unsigned first = TIME_DIRECT & -more;
	unsigned char *end = put_low_bytes(at, first, residual - first, more);

	at[0] = (unsigned char)((unsigned)at[0] << 2 | where);
	return end;
}

/* The number of a pair that is met; a long one becomes short. */
static inline unsigned char *put_pair(struct code_model *model, unsigned char *at,
                                      struct code_pair *pair)
{
	uint16_t number = pair->number;

	if (number < NUMBER_DIRECT) {
		*at = (unsigned char)number;
		return at + 1;
	}
	pair->number = (uint16_t)shorten_pair(model, number);
	model->pairs[model->order[number]].number = number;
	return put_number(at, number);
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
static inline bool code_site_expected(const struct code_encoder *encoder, uint64_t who)
{
	const struct code_model *model = &encoder->model;

	return model->streams[expected_stream(model)].who == who;
}

/* Returns the code of a time, in units, and updates the prediction of the stream's next time. */
static inline uint64_t code_residual(struct code_model *model, struct code_stream *stream,
                                     uint64_t time)
{
	uint64_t residual = time_residual(model, stream, time);

	stream->last = model->now = time;
	return residual;
}

/* Appends a sample at the expected site to a bin with room for it and without counters; true. */
static inline bool code_put_expected(struct code_encoder *encoder, struct bin *bin, uint64_t time,
                                     uint32_t context, uint64_t leaf)
{
	struct code_model *model = &encoder->model;
	uint32_t next = expected_stream(model);
	uint64_t residual = code_residual(model, &model->streams[next], time >> bin->time_shift);
	uint16_t *slot = &encoder->pair_slots[pair_slot(context, leaf)];
	unsigned char *at = bin_records(bin) + bin->record_bytes;
	struct code_pair *pair;

	__builtin_prefetch(at + 64, 1); /* the rest of the bin was not touched for long */
	model->stream = next;
	if (!*slot)
		return code_put_new(encoder, bin, residual, context, leaf, slot);
	pair = &model->pairs[*slot - 1];
	if (pair->leaf != leaf || pair->context != context || residual >= TIME_END)
		return code_put_where(encoder, bin, residual, context, leaf);
	model->last.leaf = leaf;
	model->last.context = context;
	at = put_near_control(at, residual, WHERE_PAIR);
	code_append(bin, put_pair(model, at, pair));
	return true;
}

#endif
