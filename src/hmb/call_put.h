/*
 * Appending a coded call: inline, so that the usual one is short. It is as one before it in the bin
 * but for its times, and perhaps for sizes; all else is a call of call_code_put().
 */
#ifndef HMB_CALL_PUT_H
#define HMB_CALL_PUT_H

#include "hmb/call_model.h"
#include "hmb/varint.h"

static inline unsigned char *call_put_number(unsigned char *at, unsigned number)
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

static inline uint64_t size_difference(unsigned type, uint64_t size, uint64_t last)
{
	return type == CALL_VALUE ? put_value(type, size ^ last) : zigzag(size - last);
}

static inline unsigned char *call_put_times(unsigned char *at, uint64_t gap, uint64_t duration)
{
	if (__builtin_expect((gap | duration) < 0x80, 1)) {
		at[0] = (unsigned char)gap;
		at[1] = (unsigned char)duration;
		return at + 2;
	}
	return varint_put(varint_put(at, gap), duration);
}

/*
 * Writes how sizes differ from those of the shape's last call, and stores them there. In
 * call_code.c.
 */
unsigned char *call_put_sizes(struct call_model *model, unsigned char *at,
                              const struct call_shape *shape, const struct call_part *parts);

/* A reader of the bin after a crash must find complete records only. */
static inline void call_append(struct bin *bin, const unsigned char *end, uint32_t nr)
{
	bin->nr_records += nr;
	__atomic_store_n(&bin->record_bytes, (uint32_t)(end - bin_records(bin)), __ATOMIC_RELEASE);
}

static inline void call_end(struct call_encoder *encoder, struct bin *bin, const unsigned char *at,
                            unsigned number, uint64_t enter, uint64_t leave)
{
	struct call_model *model = &encoder->model;

	encoder->last = (uint16_t)number;
	model->thread->enter = enter;
	model->thread->last = model->time = leave;
	call_append(bin, at, 1);
}

/* Tells whether the request is the expected one. If it is, it becomes the last one. */
static inline bool call_next_request(struct call_requests *requests, unsigned fields,
                                     uint64_t request)
{
	uint64_t *last = call_last_request(requests, fields);

	if (!(fields & PART_REQUEST))
		return true;
	if (request != *last + 1)
		return false;
	*last += !(fields & PART_ASKS);
	return true;
}

/* Does the same for all parts of a call, or for none of them. */
static inline bool call_next_requests(struct call_thread *thread, const struct call_alike *known,
                                      const struct call *call)
{
	struct call_requests after = thread->requests;

	if (call->nr_parts == 1)
		return call_next_request(&thread->requests, known->fields[0],
		                         call->parts[0].request);
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (!call_next_request(&after, known->fields[i], call->parts[i].request))
			return false;
	thread->requests = after;
	return true;
}

/*
 * Appends a call whose like the bin has seen, after the last one of its thread, with the requests
 * that are expected; for the rest as call_code_put(). false: it is another one, and nothing was
 * done.
 */
static inline bool call_put_alike(struct call_encoder *encoder, struct bin *bin,
                                  const struct call *call)
{
	const struct call_alike *known = &encoder->alikes[call->alike % CALL_CODE_ALIKES];
	struct call_model *model = &encoder->model;
	const struct call_shape *shape = &model->shapes[known->number];
	uint64_t enter = call->enter >> bin->time_shift, leave = call->leave >> bin->time_shift;
	struct call_thread *thread = model->thread;
	unsigned char *at = bin_records(bin) + bin->record_bytes;

	if (!call->alike || known->key != call_alike_key(encoder, call->alike) ||
	    thread->thread != call->thread || thread->continued || enter < thread->last)
		return false;
	if (known->requests && !call_next_requests(thread, known, call))
		return false;
	at = call_put_number(at, known->number);
	at = call_put_times(at, enter - thread->last, leave - enter);
	if (shape->flags & SHAPE_SIZES)
		at = call_put_sizes(model, at, shape, call->parts);
	call_end(encoder, bin, at, known->number + 1U, enter, leave);
	return true;
}

#endif
