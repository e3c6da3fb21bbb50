#include "record/tasks/counter_sums.h"

#include <stdlib.h>
#include <string.h>

/* One kernel event with its group, as it was seen last. */
struct counter_instance {
	uint32_t key;
	uint64_t counts[COUNTER_MAX];
};

struct counter_sums {
	uint64_t totals[COUNTER_MAX];
	struct counter_instance *instances; /* the latest first */
	unsigned nr;
};

struct counter_sums *counter_sums_new(void)
{
	return calloc(1, sizeof(struct counter_sums));
}

void counter_sums_free(struct counter_sums *sums)
{
	if (!sums)
		return;
	free(sums->instances);
	free(sums);
}

void counter_sums_restart(struct counter_sums *sums)
{
	memset(sums->totals, 0, sizeof(sums->totals));
}

void counter_counts(uint64_t counts[COUNTER_MAX], unsigned nr, const struct record *record)
{
	bool right = record->sample.nr_counts == nr;

	for (unsigned i = 0; i < nr; i++)
		counts[i] = right ? record->sample.counts[i * record->sample.count_stride] : 0;
}

/* The instance, moved to the front, where it will be looked for next; NULL: no memory. */
static struct counter_instance *find_instance(struct counter_sums *sums, uint32_t key)
{
	struct counter_instance found = {.key = key}, *more;
	unsigned i = 0;

	while (i < sums->nr && sums->instances[i].key != key)
		i++;
	if (i == sums->nr) {
		more = reallocarray(sums->instances, sums->nr + 1, sizeof(*more));
		if (!more)
			return NULL;
		sums->instances = more;
		sums->nr++;
	} else {
		found = sums->instances[i];
	}
	memmove(sums->instances + 1, sums->instances, i * sizeof(*sums->instances));
	sums->instances[0] = found;
	return &sums->instances[0];
}

const uint64_t *counter_sums_add(struct counter_sums *sums, unsigned nr,
                                 const struct record *record, const struct sampler_origin *origin)
{
	struct counter_instance *instance;
	uint64_t counts[COUNTER_MAX];

	if (record->sample.nr_counts != nr)
		return sums->totals;
	instance = find_instance(sums, origin->rung << 16 | origin->cpu);
	if (!instance)
		return sums->totals;
	counter_counts(counts, nr, record);
	for (unsigned i = 0; i < nr; i++) {
		/* An event that went over to another thread begins anew. */
		if (counts[i] > instance->counts[i])
			sums->totals[i] += counts[i] - instance->counts[i];
		instance->counts[i] = counts[i];
	}
	return sums->totals;
}
