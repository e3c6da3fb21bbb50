#include "hmb/call_model.h"
#include "hmb/code.h"
#include "hmb/varint.h"

#include <errno.h>
#include <stdlib.h>

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

/* A control byte behind any switch of the thread; after a second switch the number of no shape. */
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
	if (!model->thread)
		cursor->at = NULL;
	return control;
}

static struct call_shape_part get_part(struct call_cursor *cursor)
{
	struct call_shape_part part = {.type = (uint8_t)get_byte(cursor)};
	unsigned fields = call_part_fields(part.type);

	if (!fields)
		cursor->at = NULL;
	if (fields & PART_COMM)
		part.comm = get_varint32(cursor);
	if (fields & PART_PEER)
		part.peer = get_signed32(cursor);
	if (fields & PART_TAG)
		part.tag = get_signed32(cursor);
	if (fields & PART_BYTES)
		part.bytes = put_value(part.type, get_varint(cursor));
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
	if (shape->flags & SHAPE_SITE)
		shape->site = get_varint32(cursor);
	shape->nr_parts = (uint8_t)get_byte(cursor);
	if (shape->nr_parts > CALL_CODE_PARTS) {
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
		unsigned fields = call_part_fields(part->type);

		if (shape->flags & SHAPE_PEERS && fields & PART_PEER)
			part->peer =
				(int32_t)((uint32_t)part->peer + (uint32_t)get_signed32(cursor));
		if (shape->flags & SHAPE_PEERS && fields & PART_TAG)
			part->tag = (int32_t)((uint32_t)part->tag + (uint32_t)get_signed32(cursor));
		if (shape->flags & SHAPE_SIZES && fields & PART_BYTES)
			part->bytes =
				part->type == CALL_VALUE
					? part->bytes ^ put_value(part->type, get_varint(cursor))
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
		unsigned type = shaped->parts[i].type, fields = call_part_fields(type);

		part->request = 0;
		if (!(fields & PART_REQUEST))
			continue;
		part->request = *call_last_request(&thread->requests, fields) + 1;
		if (shaped->shape.flags & SHAPE_REQUESTS)
			part->request += unzigzag(get_varint(cursor));
		call_note_request(&thread->requests, fields, part->request);
	}
}

/* Reads the times of a call. Returns 0, or -EBADMSG for impossible times. */
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

struct call_cursor *call_cursor_new(void)
{
	struct call_cursor *cursor = malloc(sizeof(*cursor));

	if (cursor) {
		cursor->at = cursor->end = NULL;
		cursor->left = 0;
	}
	return cursor;
}

int call_code_open(struct call_cursor *cursor, const struct bin *bin, size_t size)
{
	if (!code_bin_plausible(bin, size) || bin->base_time > UINT64_MAX >> bin->time_shift)
		return -EBADMSG;
	cursor->at = bin_records(bin);
	cursor->end = cursor->at + bin->record_bytes;
	cursor->time_shift = bin->time_shift;
	cursor->left = bin->nr_records;
	call_model_reset(&cursor->model, bin->base_time);
	return 0;
}

static void fill_parts(struct call_cursor *cursor, const struct shaped *shaped)
{
	for (unsigned i = 0; i < shaped->shape.nr_parts; i++) {
		const struct call_shape_part *from = &shaped->parts[i];
		struct call_part *part = &cursor->parts[i];

		part->type = from->type;
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
	unsigned number;

	if (!cursor->left)
		return cursor->at == cursor->end ? 0 : -EBADMSG;
	number = get_shape(cursor, get_control(cursor), &shaped);
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
		.site = shaped.shape.site,
		.nr_parts = shaped.shape.nr_parts,
		.parts = cursor->parts,
	};
	return 1;
}
