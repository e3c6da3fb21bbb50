/*
 * The model that predicts the next sample of a bin. Encoder and decoder keep identical copies of
 * it; only they use this header.
 */
#ifndef HMB_CODE_MODEL_H
#define HMB_CODE_MODEL_H

#include <string.h>

#include "hmb/code.h"
#include "hmb/varint.h"

#define TIME_DIRECT      49 /* residuals below need no more bytes */
#define TIME_BYTES       60 /* those of TIME_END and above: 2 more bytes, … */
#define TIME_3_BYTES     62
#define TIME_VARINT      63
#define TIME_END         (TIME_DIRECT + (TIME_BYTES - TIME_DIRECT) * 256)
#define TIME_2_END       (TIME_END + ((TIME_3_BYTES - TIME_BYTES) << 16))
#define TIME_3_END       (TIME_END + (1 << 24))
#define SITE_BYTE        30 /* sites that are older have their age in the next byte */
#define SITE_NEAR        31 /* new ones of a thread near that of the last new one */
#define SITE_NEW         63
#define SITE_BELOW       3 /* how far below; above it is as far as there are codes */
#define NUMBER_DIRECT    240
#define NUMBER_END       (NUMBER_DIRECT + 16 * 256)
#define LEAF_FAR         32 /* numbers of leaves from here on need another byte */
#define LEAF_CALLER      40 /* distances from the caller: a byte, … */
#define LEAF_CALLER_2    120
#define LEAF_BLOCK       168
#define LEAF_NEW_BLOCK   232
#define LEAF_HIGH        5 /* codes of high bits for each module */
#define LEAF_ANY_BLOCK   255
#define CALLER_END       ((LEAF_CALLER_2 - LEAF_CALLER) << 8)
#define CALLER_2_END     ((LEAF_BLOCK - LEAF_CALLER_2) << 16)
#define CONTEXT_VICINITY 64  /* distances from here on need more: in a vicinity, a byte, … */
#define CONTEXT_2_BYTES  152 /* … or the number itself: this and 2 more */
#define CONTEXT_3_BYTES  252
#define CONTEXT_ANY      255
#define VICINITY_SHIFT   8
#define CONTEXT_2_END    ((CONTEXT_3_BYTES - CONTEXT_2_BYTES) << 16)
#define CONTEXT_3_END    ((CONTEXT_ANY - CONTEXT_3_BYTES) << 24)
#define BLOCK_SHIFT      16
#define FRAME_MODULE(f)  ((uint32_t)((f) >> 32))
#define FRAME_BLOCK(f)   ((uint32_t)((f) >> BLOCK_SHIFT))
#define BLOCK_MODULE(b)  ((b) >> (32 - BLOCK_SHIFT))

static_assert(CODE_MAX_SITES <= 256, "every site's age must fit a byte");
static_assert(CODE_MAX_PAIRS < NUMBER_END, "every pair, and every context + 1, must have a number");
static_assert(CODE_MAX_LEAVES <= (LEAF_CALLER - LEAF_FAR) * 256, "every leaf must have a number");
static_assert(CODE_BLOCKS <= LEAF_NEW_BLOCK - LEAF_BLOCK, "every block must have a code");
static_assert(CODE_VICINITIES <= CONTEXT_2_BYTES - CONTEXT_VICINITY, "as must vicinities");
static_assert(LEAF_NEW_BLOCK + CODE_MODULES * LEAF_HIGH <= LEAF_ANY_BLOCK, "as must new blocks");

static inline void model_reset(struct code_model *model, uint64_t base_time,
                               enum stream_owner owner)
{
	model->last = (struct code_pair){0};
	model->trails[0] = model->trails[1] = 0;
	model->trail = 0;
	model->nr_leaves = 0;
	model->nr_pairs = 0;
	model->nr_contexts = 0;
	model->nr_modules = 0;
	model->nr_sites = 0;
	model->turn = 0;
	model->context_turn = 0;
	model->thread = 0;
	model->step = 0;
	model->stream = 0;
	model->stream_shift = owner == STREAM_OF_CPU ? 32 : 0;
	memset(model->streams, 0, sizeof(model->streams));
	model->now = base_time;
	memset(model->vicinities, 0, sizeof(model->vicinities));
	memset(model->blocks, 0, sizeof(model->blocks));
}

/* Returns the number of the CPU or thread that identifies the stream of a sample. */
static inline uint32_t stream_number(const struct code_model *model, uint64_t who)
{
	return (uint32_t)(who >> model->stream_shift);
}

/* Returns the stream that is expected next. The result is undefined before the first record. */
static inline uint32_t expected_stream(const struct code_model *model)
{
	return model->streams[model->stream].next;
}

static inline uint32_t stream_cpu(const struct code_model *model, uint32_t stream)
{
	return (uint32_t)(model->streams[stream].who >> 32);
}

/* Before the first record 0. */
static inline uint32_t expected_cpu(const struct code_model *model)
{
	return stream_cpu(model, expected_stream(model));
}

/* Another one: that of the last record, if it is. */
static inline uint32_t second_cpu(const struct code_model *model)
{
	uint32_t expected = expected_cpu(model), last = stream_cpu(model, model->stream);

	return last == expected ? expected ^ 1 : last;
}

/* Convert between the index of a site and its age: the number of newer sites. */
static inline uint32_t site_age(const struct code_model *model, uint32_t index)
{
	return (model->nr_sites - 1 - index) % CODE_MAX_SITES;
}
static_assert((CODE_MAX_SITES & (CODE_MAX_SITES - 1)) == 0, "they wrap as the count does");

/* Returns how far a time is from the expected one, in units. An overdue stream can only be late. */
static inline uint64_t time_residual(const struct code_model *model,
                                     const struct code_stream *stream, uint64_t time)
{
	uint64_t due = stream->last + stream->step;

	return due > model->now ? zigzag(time - due) : time - model->now;
}

static inline uint64_t time_from_residual(const struct code_model *model,
                                          const struct code_stream *stream, uint64_t residual)
{
	uint64_t due = stream->last + stream->step;

	return due > model->now ? due + unzigzag(residual) : model->now + residual;
}

/*
 * From now on this site's stream is expected after the present one, and there this site; after one
 * that takes the place of another that one itself.
 */
static inline struct code_stream *go_to_site(struct code_model *model, uint64_t who)
{
	uint32_t to = stream_number(model, who) % CODE_STREAMS;
	struct code_stream *stream = &model->streams[to];

	model->streams[model->stream].next = to;
	if (stream_number(model, stream->who) != stream_number(model, who))
		stream->next = to;
	model->stream = to;
	stream->who = who;
	return stream;
}

static inline bool stream_known(const struct code_model *model, uint64_t who)
{
	return model->streams[stream_number(model, who) % CODE_STREAMS].known;
}

/* The step is used only for a stream that has no record yet. */
static inline struct code_stream *add_site(struct code_model *model, uint64_t who, uint64_t step)
{
	bool known = stream_known(model, who);
	struct code_stream *stream = go_to_site(model, who);

	model->sites[model->nr_sites++ % CODE_MAX_SITES] = who;
	model->thread = (uint32_t)who;
	if (known)
		return stream;
	model->step = step;
	*stream = (struct code_stream){
		.who = who,
		.step = step,
		.last = model->now - step,
		.next = model->stream,
		.known = true,
	};
	return stream;
}

static inline uint64_t code_caller(const struct code_nodes *nodes, uint32_t context)
{
	return context == NODE_NONE ? 0 : nodes->frame(nodes->of, context);
}

/* Gives a number to a leaf that was written in full. Returns false if there are no more numbers. */
static inline bool add_leaf(struct code_model *model, uint64_t leaf)
{
	if (model->nr_leaves == CODE_MAX_LEAVES)
		return false;
	model->leaves[model->nr_leaves++] = leaf;
	return true;
}

/*
 * Returns the index of a module among the latest modules of the bin; CODE_MODULES: it is not among
 * them.
 */
static inline unsigned find_module(const struct code_model *model, uint32_t module)
{
	for (unsigned i = 0; i < CODE_MODULES && i < model->nr_modules; i++)
		if (BLOCK_MODULE(model->new_blocks[i]) == module)
			return i;
	return CODE_MODULES;
}

static inline uint32_t *known_block(struct code_model *model, uint32_t block)
{
	return &model->blocks[block % CODE_BLOCKS];
}

/* A block that was written out. */
static inline void add_block(struct code_model *model, uint32_t block)
{
	unsigned module = find_module(model, BLOCK_MODULE(block));

	if (module == CODE_MODULES)
		module = model->nr_modules++ % CODE_MODULES;
	model->new_blocks[module] = block;
	*known_block(model, block) = block;
}

static inline uint32_t vicinity_number(uint32_t context)
{
	return (context >> VICINITY_SHIFT) % CODE_VICINITIES;
}

/*
 * A context was written out. Near the last one of a trail it follows that, which may be the other
 * one than last time; from afar it comes to the trail that was not followed last.
 */
static inline void add_to_trail(struct code_model *model, uint32_t context, bool other, bool near)
{
	model->vicinities[vicinity_number(context)] = context >> VICINITY_SHIFT;
	model->trails[model->trail ^ (other | !near)] = context;
	model->trail ^= other & near;
}

static inline uint32_t add_pair(struct code_model *model, uint32_t context, uint64_t leaf)
{
	if (model->nr_pairs == CODE_MAX_PAIRS)
		return CODE_MAX_PAIRS;
	model->pairs[model->nr_pairs] = (struct code_pair){
		.leaf = leaf,
		.context = context,
		.number = (uint16_t)model->nr_pairs,
	};
	model->order[model->nr_pairs] = (uint16_t)model->nr_pairs;
	return model->nr_pairs++;
}

/*
 * Gives what has a number that takes two bytes another that takes one, each in turn of those below
 * `direct`; the number it gets.
 */
static inline uint32_t shorten_number(uint16_t *order, uint32_t number, uint32_t *turn,
                                      uint32_t direct)
{
	uint32_t shorter = *turn;
	uint16_t moved = order[number];

	order[number] = order[shorter];
	order[shorter] = moved;
	*turn = shorter + 1 < direct ? shorter + 1 : 0;
	return shorter;
}

static inline uint32_t shorten_pair(struct code_model *model, uint32_t number)
{
	return shorten_number(model->order, number, &model->turn, NUMBER_DIRECT);
}

/* Contexts are written as their number + 1. */
static inline uint32_t shorten_context(struct code_model *model, uint32_t number)
{
	return shorten_number(model->contexts, number, &model->context_turn, NUMBER_DIRECT - 1);
}

/* Numbers the context of a pair that was just added, where none was known to have it. */
static inline void add_context(struct code_model *model, uint32_t pair)
{
	if (pair != CODE_MAX_PAIRS)
		model->contexts[model->nr_contexts++] = (uint16_t)pair;
}

#endif
