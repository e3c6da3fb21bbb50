#include "output/counter_columns.h"
#include "output/profile_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct profile_counts none;

/* The entry, made where it is not there yet; NULL: no memory. */
static struct profile_counts *entry(struct profile_count_table *table, uint32_t number)
{
	uint32_t room = table->room ? table->room : 256;
	struct profile_counts *grown;

	while (room <= number)
		room *= 2;
	if (room > table->room || !table->at) {
		grown = reallocarray(table->at, room, sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + table->room, 0, (room - table->room) * sizeof(*grown));
		table->at = grown;
		table->room = room;
	}
	return &table->at[number];
}

static void add(uint64_t *to, const uint64_t *counters)
{
	for (unsigned i = 0; i < COUNTER_MAX; i++)
		to[i] += counters[i];
}

int profile_count(struct profile *profile, const struct trace_sample *sample, uint32_t node)
{
	struct profile_counts *of_node = entry(&profile->node_counts, node);
	struct profile_counts *of_row = entry(&profile->row_counts, profile->nodes[node].row);

	if (!of_node || !of_row)
		return -ENOMEM;
	for (unsigned i = 0; i < sample->nr_counters; i++) {
		of_node->self[i] += sample->counters[i];
		of_row->self[i] += sample->counters[i];
		profile->counted[i] += sample->counters[i];
	}
	return 0;
}

int profile_count_more(struct profile_count_table *table, uint32_t number,
                       const struct profile_counts *self, const struct profile_counts *total)
{
	struct profile_counts *to = entry(table, number);

	if (!to)
		return -ENOMEM;
	if (self)
		add(to->self, self->self);
	if (total)
		add(to->total, total->total);
	return 0;
}

const struct profile_counts *profile_counts_of(const struct profile_count_table *table,
                                               uint32_t number)
{
	return number < table->room ? &table->at[number] : &none;
}

/* Children come behind their parents. */
int profile_sum_tree(struct profile_count_table *table, const struct profile_node *nodes,
                     uint32_t nr)
{
	/* As large as it will be: entries must stay where they are. */
	if (!entry(table, nr))
		return -ENOMEM;
	for (uint32_t i = nr; i-- > 0;) {
		add(table->at[i].total, table->at[i].self);
		if (nodes[i].parent != PROFILE_NONE)
			add(table->at[nodes[i].parent].total, table->at[i].total);
	}
	return 0;
}

int profile_sum_counts(struct profile *profile)
{
	if (!profile->node_counts.at)
		return 0;
	if (profile_sum_tree(&profile->node_counts, profile->nodes, profile->nr_nodes) ||
	    !entry(&profile->row_counts, profile->nr_rows))
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->nr_nodes; i++) {
		const struct profile_node *node = &profile->nodes[i];

		if (node->parent != PROFILE_NONE && !node->recursive)
			add(profile->row_counts.at[node->row].total,
			    profile->node_counts.at[i].total);
	}
	return 0;
}

static uint64_t scaled(double scale, uint64_t count)
{
	return scale > 1 ? (uint64_t)(scale * (double)count) : count;
}

void profile_weigh_by(struct profile *profile, uint32_t counter)
{
	double scale = trace_counter_scale(trace_counter(profile->trace, counter));
	uint32_t at = 1 + counter;

	for (uint32_t i = 0; i < profile->nr_nodes; i++) {
		const struct profile_counts *counts = profile_counts_of(&profile->node_counts, i);

		profile->nodes[i].self = scaled(scale, counts->self[at]);
		profile->nodes[i].total = scaled(scale, counts->total[at]);
	}
	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		const struct profile_counts *counts = profile_counts_of(&profile->row_counts, i);

		profile->rows[i].self = scaled(scale, counts->self[at]);
		profile->rows[i].total = scaled(scale, counts->total[at]);
		profile->rows[i].variance = 0;
	}
	profile->sampled = profile->total = scaled(scale, profile->counted[at]);
	profile->nr_unsampled = 0;
}
