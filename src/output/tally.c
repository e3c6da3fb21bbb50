#include "output/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MANY (1 << 20)

static int grow(struct tally *tally)
{
	uint32_t room = tally->room ? 2 * tally->room : 256;
	struct tally_entry *entries;
	uint64_t *weights;

	if (tally->nr < tally->room)
		return 0;
	if (room < tally->room)
		return -ENOMEM;
	entries = reallocarray(tally->entries, room, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	tally->entries = entries;
	weights = reallocarray(tally->weights, room, tally->nr_weights * sizeof(*weights));
	if (!weights)
		return -ENOMEM;
	tally->weights = weights;
	tally->room = room;
	return 0;
}

static uint32_t find_entry(struct tally *tally, uint32_t path, uint32_t thread)
{
	uint64_t key = (uint64_t)path << 32 | thread;
	uint32_t entry = map64_get(&tally->by_key, key);

	if (entry != UINT32_MAX)
		return entry;
	if (grow(tally) || map64_add(&tally->by_key, key, tally->nr))
		return UINT32_MAX;
	tally->entries[tally->nr] = (struct tally_entry){path, thread};
	memset(&tally->weights[(size_t)tally->nr * tally->nr_weights], 0,
	       tally->nr_weights * sizeof(*tally->weights));
	return tally->nr++;
}

static int add_sample(struct tally *tally, struct paths *paths, const struct trace_sample *sample,
                      const struct tally_config *config)
{
	uint32_t path = paths_find(paths, sample), entry;
	uint64_t *weights;
	int err = 0;

	if (config->full && tally->nr == MANY) {
		err = config->full(config->arg, tally);
		map64_fini(&tally->by_key);
		tally->nr = 0;
	}
	entry = path == PATH_NONE || err
	                ? UINT32_MAX
	                : find_entry(tally, path, config->by_thread ? sample->thread : 0);
	if (entry == UINT32_MAX)
		return err ? err : -ENOMEM;
	weights = &tally->weights[(size_t)entry * tally->nr_weights];
	weights[sample->event] += sample->weight;
	for (unsigned i = 1; i < sample->nr_counters; i++)
		weights[tally->nr_events + i - 1] += sample->counters[i];
	return 0;
}

int tally_init(struct tally *tally, struct conversion *conversion, struct paths *paths,
               const struct tally_config *config)
{
	struct trace_walk *walk = trace_walk_new(conversion->trace, TRACE_ALL_EVENTS);
	struct trace_sample sample;
	int got = -errno, err = 0;

	*tally = (struct tally){0};
	if (!walk)
		return got;
	while (trace_event(conversion->trace, tally->nr_events))
		tally->nr_events++;
	tally->nr_weights = tally->nr_events + trace_nr_counters(conversion->trace);
	while ((got = trace_walk_next(walk, &sample)) == 1) {
		err = add_sample(tally, paths, &sample, config);
		if (!err)
			err = convert_step(conversion);
		if (err)
			break;
	}
	trace_walk_free(walk);
	if (!err)
		err = got;
	return !err && config->full ? config->full(config->arg, tally) : err;
}

void tally_fini(struct tally *tally)
{
	map64_fini(&tally->by_key);
	free(tally->entries);
	free(tally->weights);
	*tally = (struct tally){0};
}
