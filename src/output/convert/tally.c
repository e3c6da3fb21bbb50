#include "output/convert/tally.h"

#include "trace/read_ahead.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int grow(struct tally *tally)
{
	size_t most = tally->most; /* both arrays have room for as many */
	struct tally_entry *entries =
		array_reach(tally->entries, tally->nr, &most, sizeof(*entries));
	uint64_t *weights;

	if (!entries)
		return -ENOMEM;
	tally->entries = entries;
	weights = array_reach(tally->weights, tally->nr, &tally->most,
	                      tally->nr_weights * sizeof(*weights));
	if (!weights)
		return -ENOMEM;
	tally->weights = weights;
	return 0;
}

static uint32_t hash_of(const struct tally_entry *entry)
{
	return node_hash(entry->path, entry->thread);
}

static uint32_t find_entry(struct tally *tally, const struct tally_entry *wanted)
{
	const struct tally_entry *entries = tally->entries;
	const struct hash_slot *slot = hash_slots_first(&tally->found, hash_of(wanted));

	while (slot && (entries[slot->node - 1].path != wanted->path ||
	                entries[slot->node - 1].thread != wanted->thread))
		slot = hash_slots_next(&tally->found, slot);
	if (slot)
		return slot->node - 1;
	if (grow(tally) || hash_slots_put(&tally->found, tally->nr, hash_of(wanted)))
		return UINT32_MAX;
	tally->entries[tally->nr] = *wanted;
	memset(&tally->weights[(size_t)tally->nr * tally->nr_weights], 0,
	       tally->nr_weights * sizeof(*tally->weights));
	return tally->nr++;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Samples that wait together for the memory that each of them needs. */
struct batch {
	const struct trace_sample *samples;
	struct trace_sample chosen[PATH_BATCH]; /* of a part: what they are then */
	struct tally_entry wanted[PATH_BATCH];
	uint32_t entries[PATH_BATCH];
	unsigned nr;
};

static void choose_part(struct conversion *conversion, struct batch *batch)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < batch->nr; i++)
		if (selection_has(conversion->selection, &batch->samples[i]))
			batch->chosen[nr++] = batch->samples[i];
	conversion->steps += batch->nr - nr;
	batch->samples = batch->chosen;
	batch->nr = nr;
}

static int find_wanted(struct tally *tally, struct paths *paths, struct batch *batch,
                       bool by_thread)
{
	uint32_t found[PATH_BATCH];

	if (paths_find_some(paths, batch->samples, batch->nr, found))
		return -ENOMEM;
	for (unsigned i = 0; i < batch->nr; i++) {
		struct tally_entry *wanted = &batch->wanted[i];

		wanted->path = found[i];
		wanted->thread = by_thread ? batch->samples[i].thread : 0;
		hash_slots_prefetch(&tally->found, hash_of(wanted));
	}
	return 0;
}

/* Finds the entries from one sample on; returns the first one that finds the tally full. */
static unsigned find_entries(struct tally *tally, struct batch *batch, unsigned first,
                             const struct tally_config *config)
{
	unsigned i;

	for (i = first; i < batch->nr && !(config->full && tally->nr == config->many); i++) {
		batch->entries[i] = find_entry(tally, &batch->wanted[i]);
		if (batch->entries[i] != UINT32_MAX)
			__builtin_prefetch(tally_weights(tally, batch->entries[i]));
	}
	return i;
}

static int add_sample(struct tally *tally, const struct trace_sample *sample, uint32_t entry)
{
	uint64_t *weights;

	if (entry == UINT32_MAX)
		return -ENOMEM;
	weights = &tally->weights[(size_t)entry * tally->nr_weights];
	weights[sample->event] += sample->weight;
	for (unsigned i = 1; i < sample->nr_counters; i++)
		weights[tally->nr_events + i - 1] += sample->counters[i];
	return 0;
}

static int empty(struct tally *tally, const struct tally_config *config)
{
	int err = config->full(config->arg, tally);

	hash_slots_fini(&tally->found);
	tally->nr = 0;
	return err;
}

static int add_batch(struct tally *tally, struct conversion *conversion, struct paths *paths,
                     struct batch *batch, const struct tally_config *config)
{
	int err = find_wanted(tally, paths, batch, config->by_thread);

	for (unsigned first = 0, end; first < batch->nr && !err; first = end) {
		end = find_entries(tally, batch, first, config);
		for (unsigned i = first; i < end && !err; i++) {
			err = add_sample(tally, &batch->samples[i], batch->entries[i]);
			if (!err)
				err = convert_step(conversion);
		}
		if (end < batch->nr && !err)
			err = empty(tally, config);
	}
	return err;
}

int tally_init(struct tally *tally, struct conversion *conversion, struct paths *paths,
               const struct tally_config *config)
{
	struct read_ahead *ahead = read_ahead_new(conversion->trace, TRACE_ALL_EVENTS);
	int got = 1, err = 0;
	struct batch batch;

	*tally = (struct tally){0};
	if (!ahead)
		return -errno;
	tally->nr_events = trace_nr_events(conversion->trace);
	tally->nr_weights = tally->nr_events + trace_nr(conversion->trace, TRACE_COUNTERS);
	while (got == 1 && !err) {
		got = read_ahead_some(ahead, PATH_BATCH, &batch.samples, &batch.nr);
		if (conversion->selection)
			choose_part(conversion, &batch);
		err = add_batch(tally, conversion, paths, &batch, config);
	}
	read_ahead_free(ahead);
	if (!err)
		err = got;
	return !err && config->full ? config->full(config->arg, tally) : err;
}

void tally_fini(struct tally *tally)
{
	hash_slots_fini(&tally->found);
	free(tally->entries);
	free(tally->weights);
	*tally = (struct tally){0};
}
