/*
 * Appending a coded sample. Most come at the expected site of execution, at about the expected
 * time, with a pair that is known: these inline, so that they are short; all else is a call.
 */
#ifndef HMB_CODE_PUT_H
#define HMB_CODE_PUT_H

#include "hmb/code_model.h"

static inline uint32_t code_where_hash(uint32_t context, uint64_t leaf)
{
	return (uint32_t)(((leaf ^ (uint64_t)context << 32) * 0x9e3779b97f4a7c15) >> 52);
}

static_assert(2 * CODE_MAX_PAIRS == 1 << 12, "code_where_hash() gives 12 bits");

/* Appends a sample to a bin with room for CODE_MAX_RECORD bytes and its counters. */
void code_put(struct code_encoder *encoder, struct bin *bin, const struct code_sample *sample);
/*
 * Ends one that code_put_usual() began: its pair, the model's last one, has a long number. True, so
 * that whoever ends with it needs no more.
 */
bool code_put_long(struct code_encoder *encoder, struct bin *bin);

/* Whoever reads the bin after a crash finds no record before it is complete. */
static inline void code_append(struct bin *bin, uint32_t size)
{
	bin->nr_records++;
	__atomic_store_n(&bin->record_bytes, bin->record_bytes + size, __ATOMIC_RELEASE);
}

enum code_usual { CODE_OTHER, CODE_PUT, CODE_LONG };

/*
 * Appends a sample whose site of execution and time are as expected, and whose pair is known and
 * found at once, to a bin without counters that has room for it. CODE_OTHER with nothing done: it
 * is not such a one. CODE_LONG: code_put_long() has to end it.
 */
static inline enum code_usual code_put_usual(struct code_encoder *encoder, struct bin *bin,
                                             const struct code_sample *sample)
{
	struct code_model *model = &encoder->model;
	size_t slot = encoder->pair_slots[code_where_hash(sample->context, sample->leaf)], next;
	const struct code_pair *known;
	struct code_site *site;
	uint64_t time, residual;
	unsigned char *at;

	if (!slot) /* else there was a record, and so a site */
		return CODE_OTHER;
	known = &model->pairs[slot - 1];
	if (known->leaf != sample->leaf || known->context != sample->context)
		return CODE_OTHER;
	next = expected_site(model);
	site = &model->sites[next];
	time = sample->time >> bin->time_shift;
	residual = zigzag(time - expected_time(site));
	if (site->who != code_who(sample->thread, sample->cpu) || residual >= TIME_DIRECT)
		return CODE_OTHER;
	model->last = *known;
	model->site = (uint8_t)next;
	site->last = time;
	at = bin_records(bin) + bin->record_bytes;
	__builtin_prefetch(at + 64, 1); /* the rest of the bin was not touched for long */
	at[0] = (unsigned char)(residual << 2 | WHERE_PAIR);
	if (encoder->numbers[slot - 1] >= NUMBER_DIRECT)
		return CODE_LONG;
	at[1] = (unsigned char)encoder->numbers[slot - 1];
	code_append(bin, 2);
	return CODE_PUT;
}

#endif
