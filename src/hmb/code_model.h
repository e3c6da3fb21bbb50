/*
 * What encoder and decoder of samples share: both keep the same model of the bin so far. For the
 * two alone.
 */
#ifndef HMB_CODE_MODEL_H
#define HMB_CODE_MODEL_H

#include "hmb/code.h"
#include "hmb/varint.h"

#define TIME_DIRECT     60 /* residuals below need no more bytes */
#define SITE_BYTE       62
#define SITE_NEW        63
#define NUMBER_DIRECT   240
#define NUMBER_END      (NUMBER_DIRECT + 16 * 256)
#define FRAME_MODULE(f) ((uint32_t)((f) >> 32))

static_assert(CODE_MAX_PAIRS <= NUMBER_END, "every pair must have a number");

static inline void model_reset(struct code_model *model, uint64_t base_time)
{
	model->time = base_time;
	model->raw_leaf = 0;
	model->raw_context = 0;
	model->nr_leaves = 0;
	model->nr_pairs = 0;
	model->nr_sites = 0;
	model->site = 0;
	model->sites[0].next = 0;
}

/* The site that is expected next; means nothing before the first. */
static inline uint8_t expected_site(const struct code_model *model)
{
	return model->sites[model->site].next;
}

static inline uint64_t expected_time(const struct code_site *site)
{
	return site->last + site->step;
}

/* From now on `to` is expected after the present site. */
static inline struct code_site *go_to_site(struct code_model *model, uint8_t to)
{
	if (model->nr_sites)
		model->sites[model->site].next = to;
	model->site = to;
	return &model->sites[to];
}

static inline struct code_site *add_site(struct code_model *model, uint32_t thread, uint32_t cpu,
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
static inline bool add_leaf(struct code_model *model, uint64_t leaf)
{
	model->raw_leaf = leaf;
	if (model->nr_leaves == CODE_MAX_LEAVES)
		return false;
	model->leaves[model->nr_leaves++] = leaf;
	return true;
}

static inline uint32_t add_pair(struct code_model *model, uint32_t context, uint64_t leaf)
{
	if (model->nr_pairs == CODE_MAX_PAIRS)
		return CODE_MAX_PAIRS;
	model->pairs[model->nr_pairs] = (struct code_pair){leaf, context};
	return model->nr_pairs++;
}

#endif
