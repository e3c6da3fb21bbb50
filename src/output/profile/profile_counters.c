#include "output/profile/counter_columns.h"
#include "output/profile/profile_build.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static const struct profile_counts none;

/* Returns the entry, which is added if it is missing; NULL: no memory. */
static struct profile_counts *entry(struct profile_count_table *table, uint32_t number)
{
	return ARRAY_RESERVE_ZEROED(table->at, table->room, (size_t)number + 1)
	               ? NULL
	               : &table->at[number];
}

static void add(uint64_t *to, const uint64_t *counters)
{
	for (unsigned i = 0; i < COUNTER_MAX; i++)
		to[i] += counters[i];
}

int profile_count(struct profile *profile, const struct trace_sample *sample, uint32_t number,
                  uint32_t row, bool goes_on)
{
	struct profile_counts *there = entry(&profile->counts, number);
	struct profile_counts *of_row = entry(&profile->row_counts, row);

	if (!there || !of_row)
		return -ENOMEM;
	for (unsigned i = 0; i < sample->nr_counters; i++) {
		there->self[i] += sample->counters[i];
		of_row->self[i] += sample->counters[i];
		profile->counted[i] += sample->counters[i];
		profile->between[i] += goes_on ? 0 : sample->counters[i];
	}
	return 0;
}

int profile_count_more(struct profile_count_table *table, uint32_t number,
                       const struct profile_counts *counts)
{
	struct profile_counts *to = entry(table, number);

	if (!to)
		return -ENOMEM;
	add(to->self, counts->self);
	return 0;
}

const struct profile_counts *profile_counts_of(const struct profile_count_table *table,
                                               uint32_t number)
{
	return number < table->room ? &table->at[number] : &none;
}

/* Children come behind their parents. */
int profile_sum_counts(struct profile_count_table *table, const struct path_node *nodes,
                       uint32_t nr)
{
	if (!table->at)
		return 0;
	/* The table grows to its final size first, because entries must stay where they are. */
	if (!entry(table, nr))
		return -ENOMEM;
	for (uint32_t i = nr; i-- > 0;) {
		add(table->at[i].total, table->at[i].self);
		if (nodes[i].parent != PROFILE_NONE)
			add(table->at[nodes[i].parent].total, table->at[i].total);
	}
	return 0;
}

static uint64_t scaled(double scale, uint64_t count)
{
	return scale > 1 ? (uint64_t)(scale * (double)count) : count;
}

static double scale_of(const struct profile *profile)
{
	return trace_counter_scale(trace_counter(profile->trace, profile->weighed_by - 1));
}

void profile_weigh_nodes(const struct profile *profile, struct path_node *nodes, uint64_t *self,
                         uint32_t nr, const struct profile_count_table *counts)
{
	uint32_t at = profile->weighed_by;

	for (uint32_t i = 0; i < nr && at; i++) {
		const struct profile_counts *of_node = profile_counts_of(counts, i);

		self[i] = scaled(scale_of(profile), of_node->self[at]);
		nodes[i].total = scaled(scale_of(profile), of_node->total[at]);
	}
}

void profile_weigh_by(struct profile *profile, uint32_t counter)
{
	uint32_t at = profile->weighed_by = 1 + counter;
	double scale = scale_of(profile);

	if (!profile->sums)
		profile_weigh_nodes(profile, profile->nodes, profile->self, profile->nr_nodes,
		                    &profile->counts);
	for (uint32_t i = 0; i < profile->nr_subsets; i++)
		profile->subsets[i].weight = 0;
	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		const struct profile_counts *counts = profile_counts_of(&profile->row_counts, i);

		profile->rows[i].self = scaled(scale, counts->self[at]);
		profile->rows[i].variance = 0;
		profile->subsets[profile->rows[i].subset].weight += counts->self[at];
	}
	for (uint32_t i = 0; i < profile->nr_subsets; i++)
		profile->subsets[i].weight = scaled(scale, profile->subsets[i].weight);
	profile->sampled = profile->total = scaled(scale, profile->counted[at]);
	profile->nr_unsampled = 0;
}
