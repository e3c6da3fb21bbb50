#include "hmb/call_put.h"

/* From how many shapes on that differ in one thing alone this is written with every record. */
#define MANY_SIZES 4
#define MANY_PEERS 64

static_assert(CALL_CODE_SHAPES <= CONTROL_DIRECT + 256 * (CONTROL_NEW - CONTROL_DIRECT),
              "every shape must have a number");
static_assert(CALL_CODE_SHAPE_PARTS <= UINT16_MAX + 1, "first_part holds it");
/* Switch, control, shape, times; and each part with its request. */
static_assert(6 + 1 + 1 + 5 + 5 + 5 + 1 + 2 * VARINT_MAX <= CALL_CODE_ROOM(0),
              "no record is longer");
static_assert(1 + 3 * 5 + 3 * VARINT_MAX <= CALL_CODE_ROOM(1) - CALL_CODE_ROOM(0),
              "no part is longer");
/* A known shape with all its differences is shorter: these are not longer than a part. */
static_assert(2 * VARINT_MAX + 2 * 5 <= 3 * 5 + 2 * VARINT_MAX, "no record is longer");
static_assert(CALL_CODE_MAX_RECORD <= (1 << 8) - sizeof(struct bin), "the smallest bin has room");

static struct call_shape_part shape_part(const struct call_part *part)
{
	unsigned fields = call_part_fields(part->type);

	return (struct call_shape_part){
		.type = part->type,
		.comm = fields & PART_COMM ? part->comm : 0,
		.peer = fields & PART_PEER ? part->peer : 0,
		.tag = fields & PART_TAG ? part->tag : 0,
		.bytes = fields & PART_BYTES ? part->bytes : 0,
		.bytes_in = fields & PART_BYTES_IN ? part->bytes_in : 0,
	};
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static uint64_t shape_hash(const struct shaped *shaped, unsigned flags)
{
	const struct call_shape *shape = &shaped->shape;
	uint64_t hash = mix(flags, (uint64_t)shape->region << 32 | shape->depth) + shape->site;

	for (unsigned i = 0; i < shape->nr_parts; i++) {
		const struct call_shape_part *part = &shaped->parts[i];

		hash = mix(hash, (uint64_t)part->type << 32 | part->comm);
		if (!(flags & SHAPE_PEERS))
			hash = mix(hash,
			           (uint64_t)(uint32_t)part->peer << 32 | (uint32_t)part->tag);
		if (!(flags & SHAPE_SIZES))
			hash = mix(mix(hash, part->bytes), part->bytes_in);
	}
	return hash;
}

static bool same_part(const struct call_shape_part *a, const struct call_shape_part *b,
                      unsigned flags)
{
	return a->type == b->type && a->comm == b->comm &&
	       (flags & SHAPE_PEERS || (a->peer == b->peer && a->tag == b->tag)) &&
	       (flags & SHAPE_SIZES || (a->bytes == b->bytes && a->bytes_in == b->bytes_in));
}

static bool same_shape(const struct call_model *model, const struct call_shape *known,
                       const struct shaped *shaped, unsigned flags)
{
	const struct call_shape *shape = &shaped->shape;
	bool same = known->flags == flags && known->region == shape->region &&
	            known->depth == shape->depth && known->site == shape->site &&
	            known->nr_parts == shape->nr_parts;

	for (unsigned i = 0; same && i < known->nr_parts; i++)
		same = same_part(&model->parts[known->first_part + i], &shaped->parts[i], flags);
	return same;
}

/* Returns the slot of the shape with these flags, or the empty one for it. */
static uint16_t *find_shape(struct call_encoder *encoder, const struct shaped *shaped,
                            unsigned flags)
{
	for (uint32_t i = (uint32_t)(shape_hash(shaped, flags) >> 32);; i++) {
		uint16_t *slot = &encoder->slots[i % (2 * CALL_CODE_SHAPES)];

		if (!*slot ||
		    same_shape(&encoder->model, &encoder->model.shapes[*slot - 1], shaped, flags))
			return slot;
	}
}

/*
 * Returns the slot of a shape that the call fits, or the empty one for a new shape. Sets its flags.
 */
static uint16_t *choose_shape(struct call_encoder *encoder, struct shaped *shaped)
{
	static const unsigned choices[] = {0, SHAPE_SIZES, SHAPE_SIZES | SHAPE_PEERS};
	unsigned base = shaped->shape.flags, choice = 0;
	uint8_t *sizes, *peers;

	for (unsigned i = 0; i < (shaped->shape.nr_parts ? 3 : 1); i++) {
		uint16_t *slot = find_shape(encoder, shaped, base | choices[i]);

		shaped->shape.flags = (uint8_t)(base | choices[i]);
		if (*slot)
			return slot;
	}
	sizes = &encoder->sizes[shape_hash(shaped, base | choices[1]) >> 56];
	peers = &encoder->peers[shape_hash(shaped, base | choices[2]) >> 56];
	if (shaped->shape.nr_parts)
		choice = *peers >= MANY_PEERS ? 2 : *sizes >= MANY_SIZES;
	if (*sizes < UINT8_MAX)
		++*sizes;
	if (*peers < UINT8_MAX)
		++*peers;
	shaped->shape.flags = (uint8_t)(base | choices[choice]);
	return find_shape(encoder, shaped, shaped->shape.flags);
}

static unsigned char *put_shape(unsigned char *at, const struct shaped *shaped)
{
	const struct call_shape *shape = &shaped->shape;

	*at++ = CONTROL_NEW;
	*at++ = shape->flags;
	at = varint_put(at, shape->region);
	at = varint_put(at, shape->depth);
	if (shape->flags & SHAPE_SITE)
		at = varint_put(at, shape->site);
	*at++ = shape->nr_parts;
	for (unsigned i = 0; i < shape->nr_parts; i++) {
		const struct call_shape_part *part = &shaped->parts[i];
		unsigned fields = call_part_fields(part->type);

		*at++ = part->type;
		if (fields & PART_COMM)
			at = varint_put(at, part->comm);
		if (fields & PART_PEER)
			at = varint_put(at, (uint32_t)zigzag((uint64_t)(int64_t)part->peer));
		if (fields & PART_TAG)
			at = varint_put(at, (uint32_t)zigzag((uint64_t)(int64_t)part->tag));
		if (fields & PART_BYTES)
			at = varint_put(at, put_value(part->type, part->bytes));
		if (fields & PART_BYTES_IN)
			at = varint_put(at, part->bytes_in);
	}
	return at;
}

static unsigned char *put_rank_difference(unsigned char *at, int32_t to, int32_t from)
{
	return varint_put(
		at, (uint32_t)zigzag((uint64_t)(int64_t)(int32_t)((uint32_t)to - (uint32_t)from)));
}

static inline unsigned char *put_sizes(unsigned char *at, struct call_shape_part *last,
                                       const struct call_part *part, unsigned fields)
{
	if (fields & PART_BYTES) {
		at = varint_put(at, size_difference(part->type, part->bytes, last->bytes));
		last->bytes = part->bytes;
	}
	if (fields & PART_BYTES_IN) {
		at = varint_put(at, zigzag(part->bytes_in - last->bytes_in));
		last->bytes_in = part->bytes_in;
	}
	return at;
}

unsigned char *call_put_sizes(struct call_model *model, unsigned char *at,
                              const struct call_shape *shape, const struct call_part *parts)
{
	for (unsigned i = 0; i < shape->nr_parts; i++)
		at = put_sizes(at, &model->parts[shape->first_part + i], &parts[i],
		               call_part_fields(parts[i].type));
	return at;
}

static unsigned char *put_ranks(unsigned char *at, struct call_shape_part *last,
                                const struct call_part *part, unsigned fields)
{
	if (fields & PART_PEER) {
		at = put_rank_difference(at, part->peer, last->peer);
		last->peer = part->peer;
	}
	if (fields & PART_TAG) {
		at = put_rank_difference(at, part->tag, last->tag);
		last->tag = part->tag;
	}
	return at;
}

/* How the parts differ from the last ones of a known shape, which they become. */
static inline unsigned char *put_differences(struct call_model *model, unsigned char *at,
                                             const struct call_shape *known,
                                             const struct call *call)
{
	if (!(known->flags & (SHAPE_SIZES | SHAPE_PEERS)))
		return at;
	for (unsigned i = 0; i < known->nr_parts; i++) {
		struct call_shape_part *last = &model->parts[known->first_part + i];
		const struct call_part *part = &call->parts[i];
		unsigned fields = call_part_fields(part->type);

		if (known->flags & SHAPE_PEERS)
			at = put_ranks(at, last, part, fields);
		if (known->flags & SHAPE_SIZES)
			at = put_sizes(at, last, part, fields);
	}
	return at;
}

/* Tells whether all requests are the expected ones. */
static bool requests_expected(const struct call_thread *thread, const struct call *call)
{
	struct call_requests after = thread->requests;

	for (uint32_t i = 0; i < call->nr_parts; i++) {
		const struct call_part *part = &call->parts[i];

		if (!call_next_request(&after, call_part_fields(part->type), part->request))
			return false;
	}
	return true;
}

static unsigned char *put_requests(struct call_thread *thread, unsigned char *at,
                                   const struct call *call, unsigned flags)
{
	for (uint32_t i = 0; i < call->nr_parts; i++) {
		const struct call_part *part = &call->parts[i];
		unsigned fields = call_part_fields(part->type);

		if (!(fields & PART_REQUEST))
			continue;
		if (flags & SHAPE_REQUESTS)
			at = varint_put(
				at, zigzag(part->request -
			                   (*call_last_request(&thread->requests, fields) + 1)));
		call_note_request(&thread->requests, fields, part->request);
	}
	return at;
}

static unsigned char *put_thread(struct call_model *model, unsigned char *at, uint32_t thread)
{
	uint32_t nr = model->nr_threads < CALL_CODE_THREADS ? model->nr_threads : CALL_CODE_THREADS;

	if (model->thread && model->thread->thread == thread)
		return at;
	for (uint32_t i = 0; i < nr; i++)
		if (model->threads[i].thread == thread) {
			model->thread = &model->threads[i];
			*at++ = CONTROL_THREAD;
			*at++ = (unsigned char)i;
			return at;
		}
	*at++ = CONTROL_NEW_THREAD;
	model->thread = add_thread(model, thread);
	return varint_put(at, thread);
}

static unsigned flags_of(const struct call_thread *thread, const struct call *call, uint64_t enter,
                         uint64_t leave)
{
	unsigned flags = call->flags & (CALL_UNFINISHED | CALL_CONTINUED);

	if (thread->continued && enter == thread->enter && leave == thread->last)
		flags |= SHAPE_MORE;
	else if (enter < thread->last)
		flags |= SHAPE_BACK;
	if (!requests_expected(thread, call))
		flags |= SHAPE_REQUESTS;
	if (call->site)
		flags |= SHAPE_SITE;
	return flags;
}

static struct shaped shape_of(const struct call *call, unsigned flags)
{
	struct shaped shaped;

	shaped.shape = (struct call_shape){.region = call->region,
	                                   .depth = call->depth,
	                                   .site = call->site,
	                                   .flags = (uint8_t)flags,
	                                   .nr_parts = (uint8_t)call->nr_parts};
	for (uint32_t i = 0; i < call->nr_parts; i++)
		shaped.parts[i] = shape_part(&call->parts[i]);
	return shaped;
}

/* Tells whether the call can be written with this shape. */
static bool shape_holds(const struct call_model *model, const struct call_shape *known,
                        const struct call *call, unsigned flags)
{
	if ((known->flags & ~(unsigned)(SHAPE_SIZES | SHAPE_PEERS)) != flags ||
	    known->region != call->region || known->depth != call->depth ||
	    known->site != call->site || known->nr_parts != call->nr_parts)
		return false;
	for (uint32_t i = 0; i < call->nr_parts; i++) {
		struct call_shape_part part = shape_part(&call->parts[i]);

		if (!same_part(&model->parts[known->first_part + i], &part, known->flags))
			return false;
	}
	return true;
}

static unsigned char *put_times(unsigned char *at, const struct call_thread *thread, unsigned flags,
                                uint64_t enter, uint64_t leave)
{
	if (flags & SHAPE_MORE)
		return at;
	at = varint_put(at, flags & SHAPE_BACK ? thread->last - enter : enter - thread->last);
	return varint_put(at, leave - enter);
}

void call_code_begin(struct call_encoder *encoder, struct bin *bin, uint64_t time,
                     unsigned time_shift)
{
	bin->time_shift = (uint8_t)time_shift;
	bin->base_time = time >> time_shift;
	call_model_reset(&encoder->model, bin->base_time);
	memset(encoder->slots, 0, sizeof(encoder->slots));
	memset(encoder->sizes, 0, sizeof(encoder->sizes));
	memset(encoder->peers, 0, sizeof(encoder->peers));
	memset(encoder->next, 0, sizeof(encoder->next));
	/* Keys of before the number came round again are not worth a thought. */
	encoder->nr_bins++;
	encoder->last = 0;
}

/* A shape that nobody has looked for: the number of the one that followed the last one, + 1. */
static unsigned likely_shape(const struct call_encoder *encoder, const struct call *call,
                             unsigned flags)
{
	unsigned guess = encoder->next[encoder->last];

	if (guess && shape_holds(&encoder->model, &encoder->model.shapes[guess - 1], call, flags))
		return guess;
	return 0;
}

/* Gives a new shape a number, if there is room: its number + 1. */
static unsigned learn_shape(struct call_model *model, uint16_t *slot, const struct shaped *shaped)
{
	if (!room_for_shape(model, shaped->shape.nr_parts))
		return 0;
	add_shape(model, &shaped->shape, shaped->parts);
	*slot = (uint16_t)model->nr_shapes;
	return *slot;
}

static enum call_alike_state alike_state(const struct call_shape *shape, const struct call *call)
{
	const unsigned sizes = PART_BYTES | PART_BYTES_IN;

	if (!(shape->flags & SHAPE_SIZES))
		return ALIKE_TIMES;
	if (call->nr_parts == 1 && call->parts[0].type != CALL_VALUE &&
	    (call_part_fields(call->parts[0].type) & sizes) == PART_BYTES)
		return ALIKE_SIZE;
	return ALIKE_SIZES;
}

static void note_alike(struct call_encoder *encoder, const struct call *call, unsigned number)
{
	struct call_alike *known = &encoder->alikes[call->alike % CALL_CODE_ALIKES];
	const struct call_shape *shape;

	if (!call->alike || !number)
		return;
	shape = &encoder->model.shapes[number - 1];
	if (shape->flags & ~(unsigned)(SHAPE_SIZES | SHAPE_SITE))
		return;
	*known = (struct call_alike){
		.key = call_alike_key(encoder, call->alike),
		.number = (uint16_t)(number - 1),
		.part = shape->first_part,
		.state = (uint8_t)alike_state(shape, call),
	};
	for (uint32_t i = 0; i < call->nr_parts; i++) {
		unsigned fields = call_part_fields(call->parts[i].type);
		bool noted = (fields & (PART_REQUEST | PART_ASKS)) == PART_REQUEST;

		known->fields[i] = (uint8_t)fields;
		known->requests |= (fields & PART_REQUEST) != 0;
		known->nr_posted += noted && fields & PART_POSTS;
		known->nr_done += noted && !(fields & PART_POSTS);
	}
}

void call_code_put(struct call_encoder *encoder, struct bin *bin, const struct call *call)
{
	struct call_model *model = &encoder->model;
	uint64_t enter = call->enter >> bin->time_shift, leave = call->leave >> bin->time_shift;
	unsigned char *at = put_thread(model, bin_records(bin) + bin->record_bytes, call->thread);
	unsigned flags = flags_of(model->thread, call, enter, leave);
	unsigned number = likely_shape(encoder, call, flags);
	uint16_t *slot = NULL;
	struct shaped shaped;

	if (!number) {
		shaped = shape_of(call, flags);
		slot = choose_shape(encoder, &shaped);
		number = *slot;
	}
	at = number ? call_put_number(at, number - 1) : put_shape(at, &shaped);
	at = put_times(at, model->thread, flags, enter, leave);
	at = put_requests(model->thread, at, call, flags);
	if (number)
		at = put_differences(model, at, &model->shapes[number - 1], call);
	else
		number = learn_shape(model, slot, &shaped);
	note_alike(encoder, call, number);
	encoder->next[encoder->last] = (uint16_t)number;
	model->thread->continued = call->flags & CALL_CONTINUED;
	call_end(encoder, bin, at, number, enter, leave);
}
