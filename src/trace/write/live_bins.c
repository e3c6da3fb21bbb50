#include "trace/write/live_bins.h"
#include "hmb/code.h"
#include "hmb/call_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

union cursor {
	struct code_cursor samples;
	struct call_cursor calls;
};

static bool bin_is_live(const struct live_bins *live, const struct bin *bin)
{
	return (bin->use == BIN_SAMPLES || bin->use == BIN_CALLS) &&
	       hmb_ledger_has(live->ledger, bin);
}

/* Whether there is a node with this number in a bin that goes into the trace. */
static bool node_is_live(const struct live_bins *live, uint32_t node)
{
	const struct arena *arena = &live->arena;
	size_t at = (size_t)node * NODE_UNIT, granule = at >> arena->bin_shift;
	const struct bin *whole = (const void *)(arena->memory + (granule << arena->bin_shift));
	const struct bin *bin;

	if (granule >= arena->fresh ||
	    (whole->size_shift != arena->bin_shift && whole->size_shift != arena->sub_shift))
		return false;
	bin = node_bin(arena, node);
	return bin->size_shift == whole->size_shift && bin->use == BIN_SAMPLES &&
	       bin_is_live(live, bin) && code_bin_plausible(bin, bin_size(bin)) &&
	       (at & (bin_size(bin) - 1)) >= bin_size(bin) - bin->node_bytes;
}

static uint64_t live_frame(const void *of, uint32_t node)
{
	const struct live_bins *live = of;

	return node_is_live(live, node) ? arena_frame(&live->arena, node) : 0;
}

/* Keeps the records that can be decoded. The last one may be counted but incomplete. */
static void keep_records(struct live_bins *live, struct bin *bin, uint32_t nr, uint32_t bytes)
{
	live->cut += bytes != bin->record_bytes;
	bin->nr_records = nr;
	bin->record_bytes = bytes;
}

static void check_records(struct live_bins *live, struct bin *bin, struct code_cursor *cursor)
{
	uint32_t nr = 0, bytes = 0;
	struct code_sample sample;

	while (code_next(cursor, &sample) == 1) {
		frame_set_add(live->frames, sample.leaf);
		if (sample.time > live->last_time)
			live->last_time = sample.time;
		bytes = (uint32_t)(cursor->at - bin_records(bin));
		nr++;
	}
	keep_records(live, bin, nr, bytes);
	live->stored[bin->kind] += nr;
}

static void check_calls(struct live_bins *live, struct bin *bin, struct call_cursor *cursor)
{
	uint32_t nr = 0, bytes = 0;
	struct call call;

	while (call_code_next(cursor, &call) == 1) {
		if (call.leave > live->last_time)
			live->last_time = call.leave;
		live->stored[bin->kind] += !(call.flags & CALL_CONTINUED);
		bytes = (uint32_t)(cursor->at - bin_records(bin));
		nr++;
	}
	keep_records(live, bin, nr, bytes);
}

static void check_nodes(struct live_bins *live, const struct bin *bin)
{
	const unsigned char *end = (const unsigned char *)bin + bin_size(bin);

	for (const unsigned char *at = end - bin->node_bytes; at < end; at += sizeof(struct node))
		frame_set_add(live->frames, ((const struct node *)(const void *)at)->frame);
	live->node_bytes += bin->node_bytes;
}

static int bin_open(const struct live_bins *live, const struct bin *bin, union cursor *cursor)
{
	if (bin->use == BIN_CALLS)
		return call_code_open(&cursor->calls, bin, bin_size(bin));
	return code_open(&cursor->samples, bin, bin_size(bin),
	                 (struct code_nodes){live_frame, live});
}

/* Takes a bin into account; a bin whose header makes no sense is given up. */
static bool bin_check(struct live_bins *live, struct bin *bin, union cursor *cursor)
{
	if (!bin_is_live(live, bin))
		return false;
	if (bin_open(live, bin, cursor)) {
		live->cut++;
		bin->use = BIN_FREE;
		return false;
	}
	if (bin->use == BIN_SAMPLES) {
		check_records(live, bin, &cursor->samples);
		check_nodes(live, bin);
	} else {
		check_calls(live, bin, &cursor->calls);
	}
	return true;
}

static bool carved_check(struct live_bins *live, unsigned char *granule, union cursor *cursor)
{
	bool any = false;

	for (size_t at = 0; at < (size_t)1 << live->arena.bin_shift;
	     at += (size_t)1 << live->arena.sub_shift) {
		struct bin *bin = (void *)(granule + at);

		if (bin->size_shift == live->arena.sub_shift && bin_check(live, bin, cursor))
			any = true;
	}
	return any;
}

static bool granule_check(struct live_bins *live, uint32_t number, union cursor *cursor)
{
	struct bin *bin = (void *)(live->arena.memory + ((size_t)number << live->arena.bin_shift));

	if (bin->size_shift == live->arena.bin_shift)
		return bin_check(live, bin, cursor);
	return bin->size_shift == live->arena.sub_shift &&
	       carved_check(live, (unsigned char *)bin, cursor);
}

int live_bins_init(struct live_bins *live, void *memory, size_t size,
                   const struct hmb_ledger *ledger)
{
	union cursor *cursor = malloc(sizeof(*cursor));
	int err = -ENOMEM;

	*live = (struct live_bins){.ledger = ledger, .frames = frame_set_new()};
	arena_init(&live->arena, memory, size);
	/* Bins that were never taken may have no memory, so they must not be read. */
	if (ledger->nr_bins < live->arena.nr_bins)
		live->arena.fresh = ledger->nr_bins;
	else
		live->arena.fresh = live->arena.nr_bins;
	live->granules = calloc(live->arena.nr_bins, sizeof(*live->granules));
	if (!cursor || !live->frames || !live->granules)
		goto out;
	for (uint32_t i = 0; i < live->arena.fresh; i++)
		if (granule_check(live, i, cursor))
			live->granules[i] = ++live->nr;
	err = 0;
out:
	free(cursor);
	if (err)
		live_bins_fini(live);
	return err;
}

void live_bins_fini(struct live_bins *live)
{
	frame_set_free(live->frames);
	free(live->granules);
	live->frames = NULL;
	live->granules = NULL;
}

/* Copies a bin that is cut into sub-bins; dead sub-bins become empty. */
static void carved_copy(const struct live_bins *live, const unsigned char *from, unsigned char *to)
{
	size_t size = (size_t)1 << live->arena.sub_shift;

	memset(to, 0, (size_t)1 << live->arena.bin_shift);
	for (size_t at = 0; at < (size_t)1 << live->arena.bin_shift; at += size) {
		const struct bin *bin = (const void *)(from + at);
		struct bin *copy = (void *)(to + at);

		if (bin->size_shift == live->arena.sub_shift && bin_is_live(live, bin))
			memcpy(copy, bin, size);
		copy->size_shift = (uint8_t)live->arena.sub_shift;
	}
}

int live_bins_each(const struct live_bins *live, live_bins_fn *fn, void *arg)
{
	size_t size = (size_t)1 << live->arena.bin_shift;
	unsigned char *copy = aligned_alloc(64, size);
	int err = copy ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < live->arena.nr_bins && !err; i++) {
		const unsigned char *bytes = live->arena.memory + (i * size);

		if (!live->granules[i])
			continue;
		if (((const struct bin *)(const void *)bytes)->size_shift ==
		    live->arena.bin_shift) {
			err = fn(arg, bytes, size);
			continue;
		}
		carved_copy(live, bytes, copy);
		err = fn(arg, copy, size);
	}
	free(copy);
	return err;
}
