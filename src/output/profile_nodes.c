/* The trees of a profile while they are made. */
#include "output/profile_build.h"
#include "output/profile_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_SHIFT 12
#define LARGE       ((size_t)4 << 20)

/*
 * What every sample looks into somewhere is spread over less pages where these are large: a look-up
 * by itself waits for the page tables longer than for the memory.
 */
static void *spread_over_less(void *memory, size_t nr, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)memory;

	if (memory && nr * size >= LARGE) {
		start = (start + page - 1) & ~(page - 1);
		madvise((void *)start, ((uintptr_t)memory + nr * size - start) & ~(page - 1),
		        MADV_HUGEPAGE);
	}
	return memory;
}

void *memory_new(size_t nr, size_t size)
{
	return spread_over_less(calloc(nr, size), nr, size);
}

static void *memory_grown(void *memory, size_t nr, size_t size)
{
	return spread_over_less(reallocarray(memory, nr, size), nr, size);
}

/* Doubles an array that is full; returns the number of a new zeroed entry, or PROFILE_NONE. */
static uint32_t add_entry(void **entries, uint32_t *nr, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? 2 * *room : 256;
	void *grown;

	if (*nr == *room) {
		grown = *nr < PROFILE_MAX_ROW / 2 ? memory_grown(*entries, wanted, size) : NULL;
		if (!grown)
			return PROFILE_NONE;
		*entries = grown;
		*room = wanted;
	}
	memset((char *)*entries + *nr * size, 0, size);
	return (*nr)++;
}

static uint32_t add_node(struct builder *builder)
{
	struct profile *profile = builder->profile;

	return add_entry((void **)&profile->nodes, &profile->nr_nodes, &builder->rooms[2],
	                 sizeof(*profile->nodes));
}

void builder_reserve_nodes(struct builder *builder, uint64_t nr)
{
	if (nr >= PROFILE_MAX_ROW / 2)
		return;
	builder->profile->nodes = memory_new(nr, sizeof(struct profile_node));
	if (builder->profile->nodes)
		builder->rooms[2] = (uint32_t)nr;
}

uint32_t builder_add_class(struct builder *builder)
{
	struct profile *profile = builder->profile;
	uint32_t class = add_entry((void **)&profile->classes, &profile->nr_classes,
	                           &builder->rooms[0], sizeof(*profile->classes));
	uint32_t root = add_node(builder);

	if (class == PROFILE_NONE || root == PROFILE_NONE)
		return PROFILE_NONE;
	profile->classes[class].root = root;
	profile->nodes[root].parent = PROFILE_NONE;
	profile->nodes[root].row = class & PROFILE_MAX_ROW;
	return class;
}

static uint32_t add_row(struct builder *builder, uint32_t class, uint32_t name)
{
	struct profile *profile = builder->profile;
	uint32_t row = add_entry((void **)&profile->rows, &profile->nr_rows, &builder->rooms[1],
	                         sizeof(*profile->rows));

	if (row == PROFILE_NONE || row > PROFILE_MAX_ROW)
		return PROFILE_NONE;
	profile->rows[row].class = class;
	profile->rows[row].name = name;
	return row;
}

/* Rows of the first class, which is the only one as a rule, stand in an array by their names. */
static uint32_t first_class_row(struct builder *builder, uint32_t name)
{
	uint32_t row;

	while (name >= builder->nr_first_rows)
		if (add_entry((void **)&builder->first_rows, &builder->nr_first_rows,
		              &builder->rooms[3], sizeof(*builder->first_rows)) == PROFILE_NONE)
			return PROFILE_NONE;
	if (builder->first_rows[name])
		return builder->first_rows[name] - 1;
	row = add_row(builder, 0, name);
	if (row != PROFILE_NONE)
		builder->first_rows[name] = row + 1;
	return row;
}

uint32_t builder_row(struct builder *builder, uint32_t class, uint32_t name)
{
	uint64_t key = (uint64_t) class << 32 | name;
	uint32_t row;

	if (!class && name != PROFILE_NONE)
		return first_class_row(builder, name);
	row = map64_get(&builder->row_by_key, key);
	if (row != PROFILE_NONE)
		return row;
	row = add_row(builder, class, name);
	return row == PROFILE_NONE || map64_add(&builder->row_by_key, key, row) ? PROFILE_NONE
	                                                                        : row;
}

/* --- children --------------------------------------------------------------------------------- */

/*
 * Most nodes have a child or two, which are found by following links. Those of a node with more
 * are in a table, all of them, for programs may call thousands of functions from one place.
 */
#define MAX_NARROW 2

/* The first slot that is free. */
static void put_slot(struct node_table *table, struct node_slot slot)
{
	uint32_t mask = (1U << table->shift) - 1, i = node_slot_at(table, slot.hash);

	while (table->slots[i].node)
		i = (i + 1) & mask;
	table->slots[i] = slot;
}

static int grow_table(struct node_table *table)
{
	struct node_table grown = {.nr = table->nr, .shift = FIRST_SHIFT};
	size_t nr = table->slots ? (size_t)1 << table->shift : 0;

	if (table->shift == 31)
		return -ENOMEM;
	if (nr)
		grown.shift = table->shift + 1;
	grown.slots = memory_new((size_t)1 << grown.shift, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (table->slots[i].node)
			put_slot(&grown, table->slots[i]);
	free(table->slots);
	*table = grown;
	return 0;
}

/* Two in three slots at most are taken. */
static int put_into_table(struct builder *builder, uint32_t node)
{
	struct node_table *table = &builder->children;
	const struct profile_node *entry = &builder->profile->nodes[node];
	uint32_t hash = node_hash(entry->parent, entry->row);

	if ((!table->slots || (uint64_t)table->nr * 3 >= (uint64_t)2 << table->shift) &&
	    grow_table(table))
		return -ENOMEM;
	put_slot(table, (struct node_slot){node + 1, hash});
	table->nr++;
	return 0;
}

static int widen(struct builder *builder, uint32_t parent)
{
	struct profile_node *nodes = builder->profile->nodes;
	int err = 0;

	nodes[parent].wide = 1;
	for (uint32_t i = nodes[parent].links.child; i && !err; i = nodes[i].links.sibling)
		err = put_into_table(builder, i);
	return err;
}

/* PROFILE_NONE: it is not there; then nr is how many are, up to a few. */
static uint32_t find_child(const struct builder *builder, uint32_t parent, uint32_t row,
                           unsigned *nr)
{
	const struct profile_node *nodes = builder->profile->nodes;
	uint32_t i;

	*nr = 0;
	if (nodes[parent].wide)
		return node_in_table(&builder->children, nodes, parent, row);
	for (i = nodes[parent].links.child; i; i = nodes[i].links.sibling, ++*nr)
		if (nodes[i].row == row)
			return i;
	return PROFILE_NONE;
}

static int add_child(struct builder *builder, uint32_t parent, uint32_t node, uint32_t row)
{
	struct profile_node *nodes = builder->profile->nodes;

	nodes[node].parent = parent;
	nodes[node].row = row & PROFILE_MAX_ROW;
	nodes[node].links.sibling = nodes[parent].links.child;
	nodes[parent].links.child = node;
	return nodes[parent].wide ? put_into_table(builder, node) : 0;
}

uint32_t builder_child(struct builder *builder, uint32_t class, uint32_t parent, uint32_t name)
{
	uint32_t row = builder_row(builder, class, name), node;
	unsigned nr;

	if (row == PROFILE_NONE)
		return PROFILE_NONE;
	node = find_child(builder, parent, row, &nr);
	if (node != PROFILE_NONE)
		return node;
	if (nr == MAX_NARROW && widen(builder, parent))
		return PROFILE_NONE;
	node = add_node(builder);
	return node == PROFILE_NONE || add_child(builder, parent, node, row) ? PROFILE_NONE : node;
}
