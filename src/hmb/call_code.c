#include "hmb/call_code.h"
#include "hmb/code.h"
#include "hmb/varint.h"

#include <errno.h>
#include <string.h>

#define CONTROL_DIRECT     240
#define CONTROL_NEW        253
#define CONTROL_THREAD     254
#define CONTROL_NEW_THREAD 255

/* From how many shapes on that differ in one thing alone this is written with every record. */
#define MANY_SIZES 4
#define MANY_PEERS 64

static_assert(CALL_CODE_SHAPES <= CONTROL_DIRECT + 256 * (CONTROL_NEW - CONTROL_DIRECT),
              "every shape must have a number");
static_assert(CALL_CODE_SHAPE_PARTS <= UINT16_MAX + 1, "first_part holds it");
/* Switch, control, shape, times; and each part with its request. */
static_assert(6 + 1 + 1 + 5 + 5 + 1 + 2 * VARINT_MAX <= CALL_CODE_ROOM(0), "no record is longer");
static_assert(1 + 3 * 5 + 3 * VARINT_MAX <= CALL_CODE_ROOM(1) - CALL_CODE_ROOM(0),
              "no part is longer");
/* A known shape with all its differences is shorter: these are not longer than a part. */
static_assert(2 * VARINT_MAX + 2 * 5 <= 3 * 5 + 2 * VARINT_MAX, "no record is longer");
static_assert(CALL_CODE_MAX_RECORD <= (1 << 8) - sizeof(struct bin), "the smallest bin has room");

#define MESSAGE    (PART_COMM | PART_PEER | PART_TAG | PART_BYTES)
#define COLLECTIVE (PART_COMM | PART_PEER | PART_BYTES | PART_BYTES_IN)
#define ONE_SIDED  (PART_COMM | PART_PEER | PART_BYTES)

unsigned call_part_fields(unsigned kind)
{
	static const uint8_t fields[NR_CALL_PARTS] = {
		[CALL_SEND] = MESSAGE,
		[CALL_RECEIVE] = MESSAGE,
		[CALL_SEND_POSTED] = MESSAGE | PART_REQUEST | PART_POSTS,
		[CALL_SEND_DONE] = PART_REQUEST,
		[CALL_RECEIVE_POSTED] = PART_REQUEST | PART_POSTS,
		[CALL_RECEIVE_DONE] = MESSAGE | PART_REQUEST,
		[CALL_TEST_FAILED] = PART_REQUEST,
		[CALL_CANCELLED] = PART_REQUEST,
		[CALL_COLLECTIVE] = COLLECTIVE,
		[CALL_COLLECTIVE_POSTED] = PART_REQUEST | PART_POSTS,
		[CALL_COLLECTIVE_DONE] = COLLECTIVE | PART_REQUEST,
		[CALL_COMM_CREATED] = PART_COMM,
		[CALL_COMM_FREED] = PART_COMM,
		[CALL_PUT] = ONE_SIDED,
		[CALL_GET] = ONE_SIDED,
		[CALL_ATOMIC] = ONE_SIDED,
		[CALL_READ] = PART_BYTES,
		[CALL_WRITE] = PART_BYTES,
		[CALL_VALUE] = PART_BYTES,
	};

	return kind < NR_CALL_PARTS ? fields[kind] : 0;
}

/* --- the model -------------------------------------------------------------------------------- */

static void model_reset(struct call_model *model, uint64_t base_time)
{
	model->time = base_time;
	model->nr_shapes = 0;
	model->nr_parts = 0;
	model->nr_threads = 0;
	model->thread = NULL;
}

static struct call_thread *add_thread(struct call_model *model, uint32_t thread)
{
	struct call_thread *entry = &model->threads[model->nr_threads++ % CALL_CODE_THREADS];

	*entry = (struct call_thread){.thread = thread, .enter = model->time, .last = model->time};
	return entry;
}

/* Room for a shape and its parts; false: this one gets no number. */
static bool room_for_shape(const struct call_model *model, unsigned nr_parts)
{
	return model->nr_shapes < CALL_CODE_SHAPES &&
	       model->nr_parts + nr_parts <= CALL_CODE_SHAPE_PARTS;
}

static void add_shape(struct call_model *model, const struct call_shape *shape,
                      const struct call_shape_part *parts)
{
	struct call_shape *entry = &model->shapes[model->nr_shapes++];

	*entry = *shape;
	entry->first_part = (uint16_t)model->nr_parts;
	memcpy(&model->parts[model->nr_parts], parts, shape->nr_parts * sizeof(*parts));
	model->nr_parts += shape->nr_parts;
}

/* The request that is expected in a part of the kind, and that later ones are expected after. */
static uint64_t *last_request(struct call_thread *thread, unsigned fields)
{
	return fields & PART_POSTS ? &thread->posted : &thread->done;
}

static void note_request(struct call_thread *thread, unsigned kind, uint64_t request)
{
	if (kind != CALL_TEST_FAILED) /* it is still to be done */
		*last_request(thread, call_part_fields(kind)) = request;
}

/* --- encoding --------------------------------------------------------------------------------- */

/* A call as a shape, whose parts have only what their kinds have. */
struct shaped {
	struct call_shape shape;
	struct call_shape_part parts[CALL_CODE_PARTS];
};

static struct call_shape_part shape_part(const struct call_part *part)
{
	unsigned fields = call_part_fields(part->kind);

	return (struct call_shape_part){
		.kind = part->kind,
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
	uint64_t hash = mix(flags, (uint64_t)shape->region << 32 | shape->depth);

	for (unsigned i = 0; i < shape->nr_parts; i++) {
		const struct call_shape_part *part = &shaped->parts[i];

		hash = mix(hash, (uint64_t)part->kind << 32 | part->comm);
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
	return a->kind == b->kind && a->comm == b->comm &&
	       (flags & SHAPE_PEERS || (a->peer == b->peer && a->tag == b->tag)) &&
	       (flags & SHAPE_SIZES || (a->bytes == b->bytes && a->bytes_in == b->bytes_in));
}

static bool same_shape(const struct call_model *model, const struct call_shape *known,
                       const struct shaped *shaped, unsigned flags)
{
	const struct call_shape *shape = &shaped->shape;
	bool same = known->flags == flags && known->region == shape->region &&
	            known->depth == shape->depth && known->nr_parts == shape->nr_parts;

	for (unsigned i = 0; same && i < known->nr_parts; i++)
		same = same_part(&model->parts[known->first_part + i], &shaped->parts[i], flags);
	return same;
}

/* The slot of the shape with these flags, or the empty one where it belongs. */
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

/* The slot of a shape that holds the call, or where a new one for it belongs, with its flags. */
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
	*sizes += *sizes < UINT8_MAX;
	*peers += *peers < UINT8_MAX;
	shaped->shape.flags = (uint8_t)(base | choices[choice]);
	return find_shape(encoder, shaped, shaped->shape.flags);
}

static uint64_t put_value(unsigned kind, uint64_t value)
{
	return kind == CALL_VALUE ? __builtin_bswap64(value) : value;
}

static unsigned char *put_shape(unsigned char *at, const struct shaped *shaped)
{
	const struct call_shape *shape = &shaped->shape;

	*at++ = CONTROL_NEW;
	*at++ = shape->flags;
	at = varint_put(at, shape->region);
	at = varint_put(at, shape->depth);
	*at++ = shape->nr_parts;
	for (unsigned i = 0; i < shape->nr_parts; i++) {
		const struct call_shape_part *part = &shaped->parts[i];
		unsigned fields = call_part_fields(part->kind);

		*at++ = part->kind;
		if (fields & PART_COMM)
			at = varint_put(at, part->comm);
		if (fields & PART_PEER)
			at = varint_put(at, (uint32_t)zigzag((uint64_t)(int64_t)part->peer));
		if (fields & PART_TAG)
			at = varint_put(at, (uint32_t)zigzag((uint64_t)(int64_t)part->tag));
		if (fields & PART_BYTES)
			at = varint_put(at, put_value(part->kind, part->bytes));
		if (fields & PART_BYTES_IN)
			at = varint_put(at, part->bytes_in);
	}
	return at;
}

static unsigned char *put_number(unsigned char *at, unsigned number)
{
	if (number < CONTROL_DIRECT) {
		*at++ = (unsigned char)number;
		return at;
	}
	number -= CONTROL_DIRECT;
	*at++ = (unsigned char)(CONTROL_DIRECT + (number >> 8));
	*at++ = (unsigned char)number;
	return at;
}

static uint64_t size_difference(unsigned kind, uint64_t size, uint64_t last)
{
	return kind == CALL_VALUE ? put_value(kind, size ^ last) : zigzag(size - last);
}

static unsigned char *put_rank_difference(unsigned char *at, int32_t to, int32_t from)
{
	return varint_put(
		at, (uint32_t)zigzag((uint64_t)(int64_t)(int32_t)((uint32_t)to - (uint32_t)from)));
}

/* How the parts differ from the last ones of a known shape, which they become. */
static unsigned char *put_differences(struct call_model *model, unsigned char *at,
                                      const struct call_shape *known, const struct shaped *shaped)
{
	for (unsigned i = 0; i < known->nr_parts; i++) {
		struct call_shape_part *last = &model->parts[known->first_part + i];
		const struct call_shape_part *part = &shaped->parts[i];
		unsigned fields = call_part_fields(part->kind);

		if (known->flags & SHAPE_PEERS && fields & PART_PEER)
			at = put_rank_difference(at, part->peer, last->peer);
		if (known->flags & SHAPE_PEERS && fields & PART_TAG)
			at = put_rank_difference(at, part->tag, last->tag);
		if (known->flags & SHAPE_SIZES && fields & PART_BYTES)
			at = varint_put(at, size_difference(part->kind, part->bytes, last->bytes));
		if (known->flags & SHAPE_SIZES && fields & PART_BYTES_IN)
			at = varint_put(at, zigzag(part->bytes_in - last->bytes_in));
		*last = *part;
	}
	return at;
}

/* Whether all requests are those that are expected. */
static bool requests_expected(const struct call_thread *thread, const struct call *call)
{
	struct call_thread after = *thread;

	for (uint32_t i = 0; i < call->nr_parts; i++) {
		const struct call_part *part = &call->parts[i];
		unsigned fields = call_part_fields(part->kind);

		if (!(fields & PART_REQUEST))
			continue;
		if (part->request != *last_request(&after, fields) + 1)
			return false;
		note_request(&after, part->kind, part->request);
	}
	return true;
}

static unsigned char *put_requests(struct call_thread *thread, unsigned char *at,
                                   const struct call *call, unsigned flags)
{
	for (uint32_t i = 0; i < call->nr_parts; i++) {
		const struct call_part *part = &call->parts[i];
		unsigned fields = call_part_fields(part->kind);

		if (!(fields & PART_REQUEST))
			continue;
		if (flags & SHAPE_REQUESTS)
			at = varint_put(
				at, zigzag(part->request - (*last_request(thread, fields) + 1)));
		note_request(thread, part->kind, part->request);
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

static struct shaped shape_of(const struct call_thread *thread, const struct call *call,
                              uint64_t enter, uint64_t leave)
{
	struct shaped shaped = {.shape = {.region = call->region,
	                                  .depth = call->depth,
	                                  .nr_parts = (uint8_t)call->nr_parts}};
	unsigned flags = call->flags & (CALL_UNFINISHED | CALL_CONTINUED);

	if (thread->continued && enter == thread->enter && leave == thread->last)
		flags |= SHAPE_MORE;
	else if (enter < thread->last)
		flags |= SHAPE_BACK;
	if (!requests_expected(thread, call))
		flags |= SHAPE_REQUESTS;
	shaped.shape.flags = (uint8_t)flags;
	for (uint32_t i = 0; i < call->nr_parts; i++)
		shaped.parts[i] = shape_part(&call->parts[i]);
	return shaped;
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
	model_reset(&encoder->model, bin->base_time);
	memset(encoder->slots, 0, sizeof(encoder->slots));
	memset(encoder->sizes, 0, sizeof(encoder->sizes));
	memset(encoder->peers, 0, sizeof(encoder->peers));
}

/* Whoever reads the bin after a crash finds no record before it is complete. */
static void append_record(struct bin *bin, const unsigned char *end)
{
	bin->nr_records++;
	__atomic_store_n(&bin->record_bytes, (uint32_t)(end - bin_records(bin)), __ATOMIC_RELEASE);
}

void call_code_put(struct call_encoder *encoder, struct bin *bin, const struct call *call)
{
	struct call_model *model = &encoder->model;
	uint64_t enter = call->enter >> bin->time_shift, leave = call->leave >> bin->time_shift;
	unsigned char *at = put_thread(model, bin_records(bin) + bin->record_bytes, call->thread);
	struct shaped shaped = shape_of(model->thread, call, enter, leave);
	uint16_t *slot = choose_shape(encoder, &shaped);
	bool known = *slot;

	at = known ? put_number(at, *slot - 1U) : put_shape(at, &shaped);
	at = put_times(at, model->thread, shaped.shape.flags, enter, leave);
	at = put_requests(model->thread, at, call, shaped.shape.flags);
	if (known && shaped.shape.flags & (SHAPE_SIZES | SHAPE_PEERS)) {
		at = put_differences(model, at, &model->shapes[*slot - 1], &shaped);
	} else if (!known && room_for_shape(model, call->nr_parts)) {
		add_shape(model, &shaped.shape, shaped.parts);
		*slot = (uint16_t)model->nr_shapes;
	}
	model->thread->continued = call->flags & CALL_CONTINUED;
	model->thread->enter = enter;
	model->thread->last = model->time = leave;
	append_record(bin, at);
}

/* --- decoding --------------------------------------------------------------------------------- */

static unsigned get_byte(struct call_cursor *cursor)
{
	return byte_get(&cursor->at, cursor->end);
}

static uint64_t get_varint(struct call_cursor *cursor)
{
	return varint_get(&cursor->at, cursor->end);
}

static uint32_t get_varint32(struct call_cursor *cursor)
{
	uint64_t value = get_varint(cursor);

	if (value > UINT32_MAX)
		cursor->at = NULL;
	return (uint32_t)value;
}

static int32_t get_signed32(struct call_cursor *cursor)
{
	return (int32_t)(uint32_t)unzigzag(get_varint32(cursor));
}

/* A control byte behind any switch of the thread; 0 where there is no thread. */
static unsigned get_control(struct call_cursor *cursor)
{
	struct call_model *model = &cursor->model;
	unsigned control = get_byte(cursor), number;

	if (control == CONTROL_THREAD) {
		number = get_byte(cursor);
		if (number >= model->nr_threads)
			cursor->at = NULL;
		model->thread = &model->threads[number];
		control = get_byte(cursor);
	} else if (control == CONTROL_NEW_THREAD) {
		model->thread = add_thread(model, get_varint32(cursor));
		control = get_byte(cursor);
	}
	if (!model->thread || control >= CONTROL_THREAD)
		cursor->at = NULL;
	return control;
}

static struct call_shape_part get_part(struct call_cursor *cursor)
{
	struct call_shape_part part = {.kind = (uint8_t)get_byte(cursor)};
	unsigned fields = call_part_fields(part.kind);

	if (!fields)
		cursor->at = NULL;
	if (fields & PART_COMM)
		part.comm = get_varint32(cursor);
	if (fields & PART_PEER)
		part.peer = get_signed32(cursor);
	if (fields & PART_TAG)
		part.tag = get_signed32(cursor);
	if (fields & PART_BYTES)
		part.bytes = put_value(part.kind, get_varint(cursor));
	if (fields & PART_BYTES_IN)
		part.bytes_in = get_varint(cursor);
	return part;
}

static void get_new_shape(struct call_cursor *cursor, struct shaped *shaped)
{
	struct call_shape *shape = &shaped->shape;

	*shape = (struct call_shape){.flags = (uint8_t)get_byte(cursor)};
	shape->region = get_varint32(cursor);
	shape->depth = get_varint32(cursor);
	shape->nr_parts = (uint8_t)get_byte(cursor);
	if (shape->nr_parts > CALL_CODE_PARTS || shape->flags & ~SHAPE_ALL) {
		shape->nr_parts = 0;
		cursor->at = NULL;
	}
	for (unsigned i = 0; i < shape->nr_parts; i++)
		shaped->parts[i] = get_part(cursor);
}

/* The shape behind a control byte; a known one's number, or CALL_CODE_SHAPES. */
static unsigned get_shape(struct call_cursor *cursor, unsigned control, struct shaped *shaped)
{
	const struct call_model *model = &cursor->model;
	unsigned number = control;

	if (control == CONTROL_NEW) {
		get_new_shape(cursor, shaped);
		return CALL_CODE_SHAPES;
	}
	if (control >= CONTROL_DIRECT)
		number = CONTROL_DIRECT + ((control - CONTROL_DIRECT) << 8) + get_byte(cursor);
	if (number >= model->nr_shapes) {
		*shaped = (struct shaped){0};
		cursor->at = NULL;
		return CALL_CODE_SHAPES;
	}
	shaped->shape = model->shapes[number];
	memcpy(shaped->parts, &model->parts[shaped->shape.first_part],
	       shaped->shape.nr_parts * sizeof(*shaped->parts));
	return number;
}

static void get_differences(struct call_cursor *cursor, struct shaped *shaped)
{
	const struct call_shape *shape = &shaped->shape;

	for (unsigned i = 0; i < shape->nr_parts; i++) {
		struct call_shape_part *part = &shaped->parts[i];
		unsigned fields = call_part_fields(part->kind);

		if (shape->flags & SHAPE_PEERS && fields & PART_PEER)
			part->peer =
				(int32_t)((uint32_t)part->peer + (uint32_t)get_signed32(cursor));
		if (shape->flags & SHAPE_PEERS && fields & PART_TAG)
			part->tag = (int32_t)((uint32_t)part->tag + (uint32_t)get_signed32(cursor));
		if (shape->flags & SHAPE_SIZES && fields & PART_BYTES)
			part->bytes =
				part->kind == CALL_VALUE
					? part->bytes ^ put_value(part->kind, get_varint(cursor))
					: part->bytes + unzigzag(get_varint(cursor));
		if (shape->flags & SHAPE_SIZES && fields & PART_BYTES_IN)
			part->bytes_in += unzigzag(get_varint(cursor));
		cursor->model.parts[shape->first_part + i] = *part;
	}
}

static void get_requests(struct call_cursor *cursor, const struct shaped *shaped)
{
	struct call_thread *thread = cursor->model.thread;

	for (unsigned i = 0; i < shaped->shape.nr_parts; i++) {
		struct call_part *part = &cursor->parts[i];
		unsigned kind = shaped->parts[i].kind, fields = call_part_fields(kind);

		part->request = 0;
		if (!(fields & PART_REQUEST))
			continue;
		part->request = *last_request(thread, fields) + 1;
		if (shaped->shape.flags & SHAPE_REQUESTS)
			part->request += unzigzag(get_varint(cursor));
		note_request(thread, kind, part->request);
	}
}

/* 0, or -EBADMSG for times that cannot be. */
static int get_times(struct call_cursor *cursor, const struct call_shape *shape)
{
	struct call_thread *thread = cursor->model.thread;
	uint64_t gap, duration, enter, limit = UINT64_MAX >> cursor->time_shift;

	if (shape->flags & SHAPE_MORE)
		return thread->continued ? 0 : -EBADMSG;
	gap = get_varint(cursor);
	duration = get_varint(cursor);
	if (gap > (shape->flags & SHAPE_BACK ? thread->last : limit - thread->last))
		return -EBADMSG;
	enter = shape->flags & SHAPE_BACK ? thread->last - gap : thread->last + gap;
	if (duration > limit - enter)
		return -EBADMSG;
	thread->enter = enter;
	thread->last = enter + duration;
	return 0;
}

int call_code_open(struct call_cursor *cursor, const struct bin *bin, size_t size)
{
	if (!code_bin_plausible(bin, size) || bin->base_time > UINT64_MAX >> bin->time_shift)
		return -EBADMSG;
	cursor->at = bin_records(bin);
	cursor->end = cursor->at + bin->record_bytes;
	cursor->time_shift = bin->time_shift;
	cursor->left = bin->nr_records;
	model_reset(&cursor->model, bin->base_time);
	return 0;
}

static void fill_parts(struct call_cursor *cursor, const struct shaped *shaped)
{
	for (unsigned i = 0; i < shaped->shape.nr_parts; i++) {
		const struct call_shape_part *from = &shaped->parts[i];
		struct call_part *part = &cursor->parts[i];

		part->kind = from->kind;
		part->comm = from->comm;
		part->peer = from->peer;
		part->tag = from->tag;
		part->bytes = from->bytes;
		part->bytes_in = from->bytes_in;
	}
}

int call_code_next(struct call_cursor *cursor, struct call *call)
{
	struct call_model *model = &cursor->model;
	struct shaped shaped;
	unsigned number, control;

	if (!cursor->left)
		return cursor->at == cursor->end ? 0 : -EBADMSG;
	control = get_control(cursor);
	if (!cursor->at)
		return -EBADMSG;
	number = get_shape(cursor, control, &shaped);
	if (!cursor->at || get_times(cursor, &shaped.shape))
		return -EBADMSG;
	get_requests(cursor, &shaped);
	if (number < CALL_CODE_SHAPES)
		get_differences(cursor, &shaped);
	else if (room_for_shape(model, shaped.shape.nr_parts))
		add_shape(model, &shaped.shape, shaped.parts);
	if (!cursor->at)
		return -EBADMSG;
	cursor->left--;
	fill_parts(cursor, &shaped);
	model->time = model->thread->last;
	model->thread->continued = shaped.shape.flags & CALL_CONTINUED;
	*call = (struct call){
		.enter = model->thread->enter << cursor->time_shift,
		.leave = model->thread->last << cursor->time_shift,
		.thread = model->thread->thread,
		.region = shaped.shape.region,
		.flags = shaped.shape.flags & (CALL_UNFINISHED | CALL_CONTINUED),
		.depth = shaped.shape.depth,
		.nr_parts = shaped.shape.nr_parts,
		.parts = cursor->parts,
	};
	return 1;
}
