#include "hmb/arena_snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The contents of a bin at a moment. */
struct progress {
	uint32_t sequence; /* another one: it was taken anew since */
	uint32_t record_bytes, nr_records, node_bytes;
};

struct snapshot {
	struct arena from, to; /* for the places of things alone */
	struct progress *noted;
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

typedef void bin_fn(struct snapshot *snapshot, uint32_t number, unsigned shift);

/* Calls fn with each of so many whole bins, or with the bins that one is carved into. */
static void each_bin(struct snapshot *snapshot, uint32_t nr, bin_fn *fn)
{
	const struct arena *from = &snapshot->from;
	uint32_t subs = 1U << (from->bin_shift - from->sub_shift);

	for (uint32_t i = 0; i < nr; i++) {
		unsigned shift = shift_of(numbered_bin(from, i * subs));

		if (shift == from->bin_shift)
			fn(snapshot, i * subs, shift);
		for (uint32_t sub = 0; shift == from->sub_shift && sub < subs; sub++)
			fn(snapshot, i * subs + sub, shift);
	}
}

static void note(struct snapshot *snapshot, uint32_t number, unsigned shift)
{
	struct progress *noted = &snapshot->noted[number];

	(void)shift;
	if (!read_progress(numbered_bin(&snapshot->from, number), noted))
		*noted = (struct progress){0};
}

/*
 * Cuts the copy at the progress that was noted before copying. A note of another use of the same
 * bin does not count: the copy then has no records.
 */
static void cut_records(struct bin *copy, const struct progress *now, const struct progress *noted)
{
	bool same = noted->sequence == now->sequence;

	copy->record_bytes = same ? noted->record_bytes : 0;
	copy->nr_records = same ? noted->nr_records : 0;
	copy->node_bytes = now->node_bytes;
}

static void copy_bin(struct snapshot *snapshot, uint32_t number, unsigned shift)
{
	const struct bin *bin = numbered_bin(&snapshot->from, number);
	struct bin *copy = numbered_bin(&snapshot->to, number);
	struct progress now;

	copy->size_shift = (uint8_t)shift;
	if (!read_progress(bin, &now))
		return;
	memcpy(copy, bin, (size_t)1 << shift);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (load(&bin->sequence) == now.sequence)
		cut_records(copy, &now, &snapshot->noted[number]);
	else
		*copy = (struct bin){.size_shift = (uint8_t)shift};
}

static uint32_t taken_bins(const struct snapshot *snapshot, const struct hmb_ledger *ledger)
{
	uint32_t nr = load(&ledger->nr_bins);

	return nr < snapshot->from.nr_bins ? nr : snapshot->from.nr_bins;
}

int hmb_snapshot(void *to, struct hmb_ledger *to_ledger, const void *from, size_t size,
                 const struct hmb_ledger *ledger)
{
	struct snapshot snapshot;
	uint32_t nr_bins;

	arena_init(&snapshot.from, (void *)(uintptr_t)from, size);
	arena_init(&snapshot.to, to, size);
	snapshot.noted = calloc((size_t)snapshot.from.nr_bins
	                                << (snapshot.from.bin_shift - snapshot.from.sub_shift),
	                        sizeof(*snapshot.noted));
	if (!snapshot.noted)
		return -ENOMEM;
	for (unsigned k = 0; k < HMB_MAX_KINDS; k++)
		to_ledger->taken[k] = __atomic_load_n(&ledger->taken[k], __ATOMIC_ACQUIRE);
	each_bin(&snapshot, taken_bins(&snapshot, ledger), note);
	nr_bins = taken_bins(&snapshot, ledger);
	each_bin(&snapshot, nr_bins, copy_bin);
	to_ledger->nr_kinds = ledger->nr_kinds;
	to_ledger->nr_bins = nr_bins;
	free(snapshot.noted);
	return 0;
}

/* Floors only rise, and a reduction is told before it is in force. */
void hmb_snapshot_levels(struct hmb_ledger *to, const struct hmb_ledger *from)
{
	uint32_t nr;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (unsigned k = 0; k < HMB_MAX_KINDS; k++)
		to->floor[k] = load(&from->floor[k]);
	nr = load(&from->nr_reductions);
	to->nr_reductions = nr < HMB_MAX_REDUCTIONS ? nr : HMB_MAX_REDUCTIONS;
	memcpy(to->reductions, from->reductions, to->nr_reductions * sizeof(*to->reductions));
}
