/* Sums of weights by subset and node of a profile's tree. */
#include "output/profile/profile_build.h"

#include "base/large_array.h"

#include <stdlib.h>

void sum_table_prefetch(const struct sum_table *table, uint32_t node, uint32_t subset)
{
	hash_slots_prefetch(&table->more, node_hash(node, subset));
}

uint32_t sum_table_guess(const struct sum_table *table, const uint64_t *firsts, uint32_t node,
                         uint32_t subset)
{
	const struct hash_slot *slot = hash_slots_first(&table->more, node_hash(node, subset));
	uint32_t sum = slot ? slot->node - 1 : (uint32_t)firsts[node] - 1;

	if (sum != PROFILE_NONE)
		__builtin_prefetch(&table->sums[sum]);
	return sum;
}

static bool is_of(const struct sum_table *table, const struct profile_row *rows, uint32_t sum,
                  uint32_t node, uint32_t subset)
{
	return table->sums[sum].node == node && rows[table->sums[sum].row].subset == subset;
}

uint32_t sum_table_find(const struct sum_table *table, const uint64_t *firsts,
                        const struct profile_row *rows, uint32_t node, uint32_t subset,
                        uint32_t guess)
{
	uint32_t first = (uint32_t)firsts[node] - 1;
	const struct hash_slot *slot;

	if (guess != PROFILE_NONE && is_of(table, rows, guess, node, subset))
		return guess;
	if (first == PROFILE_NONE || is_of(table, rows, first, node, subset))
		return first;
	slot = hash_slots_first(&table->more, node_hash(node, subset));
	while (slot && !is_of(table, rows, slot->node - 1, node, subset))
		slot = hash_slots_next(&table->more, slot);
	return slot ? slot->node - 1 : PROFILE_NONE;
}

uint32_t sum_table_add(struct sum_table *table, uint64_t *firsts, const struct profile_row *rows,
                       uint32_t node, uint32_t row)
{
	uint32_t number = large_array_add((void **)&table->sums, &table->nr, &table->room,
	                                  sizeof(*table->sums));

	if (number == PROFILE_NONE)
		return PROFILE_NONE;
	table->sums[number] = (struct profile_sum){.node = node, .row = row};
	if (!firsts[node])
		firsts[node] = number + 1;
	else if (hash_slots_put(&table->more, number, node_hash(node, rows[row].subset)))
		return PROFILE_NONE;
	return number;
}

uint32_t sum_table_weigh(struct sum_table *table, uint64_t *firsts, const struct profile_row *rows,
                         uint32_t node, uint32_t row, uint64_t weight)
{
	uint32_t number = sum_table_find(table, firsts, rows, node, rows[row].subset, PROFILE_NONE);

	if (number == PROFILE_NONE)
		number = sum_table_add(table, firsts, rows, node, row);
	if (number != PROFILE_NONE)
		table->sums[number].self += weight;
	return number;
}

void sum_table_give(struct sum_table *table, struct profile *profile)
{
	for (uint32_t i = 0; i < table->nr; i++)
		profile->self[table->sums[i].node] = 0;
	profile->sums = table->sums;
	profile->nr_sums = table->nr;
	table->sums = NULL;
	sum_table_fini(table);
}

void sum_table_fini(struct sum_table *table)
{
	hash_slots_fini(&table->more);
	free(table->sums);
	*table = (struct sum_table){0};
}

/* --- one subset alone --------------------------------------------------------------------------
 */

static int settle_counts(struct profile *profile)
{
	struct profile_count_table of_nodes = {NULL, 0};
	int err = 0;

	if (!profile->counts.at)
		return 0;
	for (uint32_t i = 0; i < profile->nr_sums && !err; i++)
		err = profile_count_more(&of_nodes, profile->sums[i].node,
		                         profile_counts_of(&profile->counts, i));
	free(profile->counts.at);
	profile->counts = of_nodes;
	return err;
}

int profile_settle_sums(struct profile *profile)
{
	int err;

	if (!profile->sums || profile->nr_subsets > 1)
		return 0;
	err = settle_counts(profile);
	for (uint32_t i = 0; i < profile->nr_sums; i++)
		profile->self[profile->sums[i].node] = profile->sums[i].self;
	free(profile->sums);
	profile->sums = NULL;
	profile->nr_sums = 0;
	return err;
}

/* Children come behind their parents. */
void profile_sum_nodes(struct path_node *nodes, const uint64_t *self, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		nodes[i].total = self[i];
	for (uint32_t i = nr; i-- > 0;)
		if (nodes[i].parent != PROFILE_NONE)
			nodes[nodes[i].parent].total += nodes[i].total;
}
