#include "hmb/arena_snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TRIES 1000 /* to read a ledger between two clears: a damaged one may never agree */

/* The contents of a bin at a moment. */
struct progress {
	uint32_t sequence; /* another one: it was taken anew since */
	uint32_t record_bytes, nr_records, node_bytes;
};

struct arena_copy {
	struct arena from, to;  /* for the places of things alone */
	struct progress *noted; /* of each bin, by its number, before bins are copied */
	struct progress *held;  /* the state in which a bin was copied last; zeros: it was not */
};

static uint32_t load(const uint32_t *from)
{
	return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

static unsigned shift_of(const struct bin *bin)
{
	return __atomic_load_n(&bin->size_shift, __ATOMIC_ACQUIRE);
}

/* Returns false if the bin has no records, or is being taken for another use. */
static bool read_progress(const struct bin *bin, struct progress *progress)
{
	uint8_t use;

	progress->sequence = load(&bin->sequence);
	use = __atomic_load_n(&bin->use, __ATOMIC_ACQUIRE);
	progress->record_bytes = load(&bin->record_bytes);
	progress->nr_records = load(&bin->nr_records);
	progress->node_bytes = load(&bin->node_bytes);
	return (use == BIN_SAMPLES || use == BIN_CALLS) &&
	       load(&bin->sequence) == progress->sequence;
}

/* Returns a bin by its offset in units of the smallest bin. */
static struct bin *numbered_bin(const struct arena *arena, uint32_t number)
{
	return (void *)(arena->memory + ((size_t)number << arena->sub_shift));
}

typedef void bin_fn(struct arena_copy *copy, uint32_t number, unsigned shift);

/* Calls fn with each of so many whole bins, or with the bins that one is carved into. */
static void each_bin(struct arena_copy *copy, uint32_t nr, bin_fn *fn)
{
	const struct arena *from = &copy->from;
	uint32_t subs = 1U << (from->bin_shift - from->sub_shift);

	for (uint32_t i = 0; i < nr; i++) {
		unsigned shift = shift_of(numbered_bin(from, i * subs));

		if (shift == from->bin_shift)
			fn(copy, i * subs, shift);
		for (uint32_t sub = 0; shift == from->sub_shift && sub < subs; sub++)
			fn(copy, i * subs + sub, shift);
	}
}

static void note(struct arena_copy *copy, uint32_t number, unsigned shift)
{
	struct progress *noted = &copy->noted[number];

	(void)shift;
	if (!read_progress(numbered_bin(&copy->from, number), noted))
		*noted = (struct progress){0};
}

/*
 * Cuts the copy at the progress that was noted before copying. A note of another use of the same
 * bin does not count: the copy then has no records.
 */
static void cut_records(struct bin *bin, const struct progress *now, const struct progress *noted)
{
	bool same = noted->sequence == now->sequence;

	bin->record_bytes = same ? noted->record_bytes : 0;
	bin->nr_records = same ? noted->nr_records : 0;
	bin->node_bytes = now->node_bytes;
}

/* A bin that has nothing now may have had something before. */
static void clear_bin(struct arena_copy *copy, uint32_t number, unsigned shift)
{
	struct bin *bin = numbered_bin(&copy->to, number);

	copy->held[number] = (struct progress){0};
	if (bin->use != BIN_FREE || bin->size_shift != shift)
		*bin = (struct bin){.size_shift = (uint8_t)shift};
}

static bool is_held(const struct progress *held, const struct progress *now)
{
	return held->sequence == now->sequence && held->record_bytes == now->record_bytes &&
	       held->nr_records == now->nr_records && held->node_bytes == now->node_bytes;
}

static void copy_bin(struct arena_copy *copy, uint32_t number, unsigned shift)
{
	const struct bin *bin = numbered_bin(&copy->from, number);
	struct bin *to = numbered_bin(&copy->to, number);
	struct progress now, *held = &copy->held[number];

	if (!read_progress(bin, &now)) {
		clear_bin(copy, number, shift);
		return;
	}
	if (to->size_shift == shift && is_held(held, &now))
		return;
	memcpy(to, bin, (size_t)1 << shift);
	to->size_shift = (uint8_t)shift;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (load(&bin->sequence) == now.sequence) {
		cut_records(to, &now, &copy->noted[number]);
		*held = (struct progress){now.sequence, to->record_bytes, to->nr_records,
		                          to->node_bytes};
	} else {
		clear_bin(copy, number, shift);
	}
}

static uint32_t taken_bins(const struct arena_copy *copy, const struct hmb_ledger *ledger)
{
	uint32_t nr = load(&ledger->nr_bins);

	return nr < copy->from.nr_bins ? nr : copy->from.nr_bins;
}

struct arena_copy *arena_copy_new(void *to, const void *from, size_t size)
{
	struct arena_copy *copy = calloc(1, sizeof(*copy));
	size_t nr;

	if (!copy)
		return NULL;
	arena_init(&copy->from, (void *)(uintptr_t)from, size);
	arena_init(&copy->to, to, size);
	nr = (size_t)copy->from.nr_bins << (copy->from.bin_shift - copy->from.sub_shift);
	copy->noted = calloc(nr, sizeof(*copy->noted));
	copy->held = calloc(nr, sizeof(*copy->held));
	if (copy->noted && copy->held)
		return copy;
	arena_copy_free(copy);
	return NULL;
}

void arena_copy_free(struct arena_copy *copy)
{
	if (!copy)
		return;
	free(copy->noted);
	free(copy->held);
	free(copy);
}

static void read_counts(struct hmb_ledger *to, const struct hmb_ledger *from, unsigned kind)
{
	to->since[kind] = load(&from->since[kind]);
	to->taken[kind] = __atomic_load_n(&from->taken[kind], __ATOMIC_ACQUIRE);
	to->reduced[kind] = __atomic_load_n(&from->reduced[kind], __ATOMIC_ACQUIRE);
}

void arena_copy_update(struct arena_copy *copy, struct hmb_ledger *to,
                       const struct hmb_ledger *ledger)
{
	for (unsigned k = 0; k < HMB_MAX_KINDS; k++)
		read_counts(to, ledger, k);
	each_bin(copy, taken_bins(copy, ledger), note);
	to->nr_bins = taken_bins(copy, ledger);
	each_bin(copy, to->nr_bins, copy_bin);
	to->nr_kinds = ledger->nr_kinds;
}

int hmb_snapshot(void *to, struct hmb_ledger *to_ledger, const void *from, size_t size,
                 const struct hmb_ledger *ledger)
{
	struct arena_copy *copy = arena_copy_new(to, from, size);

	if (!copy)
		return -ENOMEM;
	arena_copy_update(copy, to_ledger, ledger);
	arena_copy_free(copy);
	return 0;
}

/* Copies what is known of the closed levels. Returns false if the kind was cleared meanwhile. */
static bool copy_levels(struct hmb_ledger *to, const struct hmb_ledger *from, unsigned kind)
{
	uint32_t since = load(&from->since[kind]), floor = load(&from->floor[kind]);

	if (floor > NR_LEVELS)
		floor = NR_LEVELS;
	memcpy(to->reductions[kind], from->reductions[kind], floor * sizeof(**to->reductions));
	memcpy(to->order[kind], from->order[kind], floor * sizeof(**to->order));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	to->floor[kind] = floor;
	if (to->since[kind] != since) /* none of the samples counted before is stored */
		to->taken[kind] = to->reduced[kind] = 0;
	to->since[kind] = since;
	return load(&from->since[kind]) == since;
}

/*
 * Between two clears of a kind its floor only rises, and a reduction is told before it is in force.
 * A clear is told before the floor falls.
 */
void hmb_snapshot_levels(struct hmb_ledger *to, const struct hmb_ledger *from)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (unsigned k = 0; k < HMB_MAX_KINDS; k++) {
		unsigned tries = MOST_TRIES;

		while (!copy_levels(to, from, k) && --tries)
			;
	}
	to->nr_reductions = load(&from->nr_reductions);
	to->cleared = load(&from->cleared);
}
