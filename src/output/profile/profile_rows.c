/* The rows of a profile while it is made. */
#include "output/profile/profile_build.h"

#include "base/large_array.h"

uint32_t builder_add_subset(struct builder *builder)
{
	struct profile *profile = builder->profile;

	return large_array_add((void **)&profile->subsets, &profile->nr_subsets,
	                       &builder->subsets_room, sizeof(*profile->subsets));
}

uint32_t builder_add_row(struct builder *builder, uint32_t subset, uint32_t name)
{
	struct profile *profile = builder->profile;
	uint32_t row = large_array_add((void **)&profile->rows, &profile->nr_rows,
	                               &builder->rows_room, sizeof(*profile->rows));

	if (row == PROFILE_NONE)
		return PROFILE_NONE;
	profile->rows[row].subset = subset;
	profile->rows[row].name = name;
	return row;
}

/* With a single subset, the number of a row is the number of its name. */
static uint32_t only_row(struct builder *builder, uint32_t name)
{
	while (name >= builder->profile->nr_rows)
		if (builder_add_row(builder, 0, builder->profile->nr_rows) == PROFILE_NONE)
			return PROFILE_NONE;
	return name;
}

static uint32_t find_row(const struct builder *builder, uint32_t subset, uint32_t name)
{
	const struct hash_slots *table = &builder->rows;
	const struct profile_row *rows = builder->profile->rows;
	const struct hash_slot *slot = hash_slots_first(table, node_hash(subset, name));

	while (slot && (rows[slot->node - 1].subset != subset || rows[slot->node - 1].name != name))
		slot = hash_slots_next(table, slot);
	return slot ? slot->node - 1 : PROFILE_NONE;
}

uint32_t builder_row(struct builder *builder, uint32_t subset, uint32_t name)
{
	uint32_t row;

	if (builder->one_subset)
		return only_row(builder, name);
	row = find_row(builder, subset, name);
	if (row != PROFILE_NONE)
		return row;
	row = builder_add_row(builder, subset, name);
	if (row != PROFILE_NONE && hash_slots_put(&builder->rows, row, node_hash(subset, name)))
		return PROFILE_NONE;
	return row;
}
