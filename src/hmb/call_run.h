/*
 * Appending many calls of one thread, all of them like some that the bin has seen: inline, so that
 * the loop around it keeps what is the same for all in registers. Whoever reads the bin meanwhile,
 * or after a crash, finds none of them before the run ends, and then all.
 */
#ifndef HMB_CALL_RUN_H
#define HMB_CALL_RUN_H

#include "hmb/call_put.h"

struct call_run {
	struct call_encoder *encoder;
	struct bin *bin;
	unsigned char *at, *most;       /* the next record; the last place where one has room */
	const struct call_alike *known; /* the last record's */
	uint64_t last;                  /* leave of the last record, time units */
	uint64_t key;                   /* of none that are alike, in this bin */
	uint32_t posted, done;          /* how many such requests the run has had */
	uint32_t nr;                    /* records */
	uint8_t time_shift;
	uint8_t unexpected; /* the next requests of the caller's are not those that the bin expects
	                     */
};

/*
 * Begins a run of the thread's calls. None of them is entered before this time, in ns; and these
 * are the last requests before. false: a call must be put alone first.
 */
static inline bool call_run_begin(struct call_run *run, struct call_encoder *encoder,
                                  struct bin *bin, uint32_t thread, uint64_t time,
                                  const struct call_requests *requests)
{
	const struct call_thread *of = encoder->model.thread;

	if (!of || of->thread != thread || of->continued || time >> bin->time_shift < of->last)
		return false;
	*run = (struct call_run){
		.encoder = encoder,
		.bin = bin,
		.at = bin_records(bin) + bin->record_bytes,
		.most = (unsigned char *)bin + bin_size(bin) - bin->node_bytes -
	                CALL_CODE_MAX_RECORD,
		.last = of->last,
		.key = call_alike_key(encoder, 0),
		.time_shift = bin->time_shift,
		.unexpected = requests->posted != of->requests.posted ||
	                      requests->done != of->requests.done,
	};
	return true;
}

static inline unsigned char *call_put_alike_sizes(struct call_model *model, unsigned char *at,
                                                  const struct call_alike *known,
                                                  const struct call_part *parts)
{
	struct call_shape_part *last = &model->parts[known->part];
	uint64_t difference = zigzag(parts->bytes - last->bytes);

	if (known->state == ALIKE_SIZES)
		return call_put_sizes(model, at, &model->shapes[known->number], parts);
	last->bytes = parts->bytes;
	return varint_put(at, difference);
}

/*
 * Appends a call with these times and parts, whose requests are each the next after the caller's.
 * Times never decrease. alike may be 0. false: this one must be put alone, behind the run's end.
 */
static inline bool call_run_put(struct call_run *run, uint32_t alike, uint64_t enter,
                                uint64_t leave, const struct call_part *parts)
{
	struct call_encoder *encoder = run->encoder;
	const struct call_alike *known = &encoder->alikes[alike % CALL_CODE_ALIKES];
	struct call_model *model = &encoder->model;
	unsigned char *at = run->at;

	if (known->key != (run->key | alike) || at > run->most || known->requests & run->unexpected)
		return false;
	enter >>= run->time_shift;
	leave >>= run->time_shift;
	at = call_put_number(at, known->number);
	at = call_put_times(at, enter - run->last, leave - enter);
	if (known->state != ALIKE_TIMES)
		at = call_put_alike_sizes(model, at, known, parts);
	run->at = at;
	run->last = leave;
	run->posted += known->nr_posted;
	run->done += known->nr_done;
	run->known = known;
	run->nr++;
	return true;
}

/* Makes the appended calls part of the bin. */
static inline void call_run_end(const struct call_run *run)
{
	struct call_model *model = &run->encoder->model;

	if (!run->nr)
		return;
	run->encoder->last = (uint16_t)(run->known->number + 1U);
	/* When it was entered does not matter: it is not continued. */
	model->thread->last = model->time = run->last;
	model->thread->requests.posted += run->posted;
	model->thread->requests.done += run->done;
	call_append(run->bin, run->at, run->nr);
}

#endif
