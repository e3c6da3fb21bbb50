/* The tree of a profile while it is made. */
#include "output/profile_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((size_t)4 << 20)

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

/* The same, but only what there was before is in it. */
static void *memory_grown(void *memory, size_t nr, size_t size)
{
	return spread_over_less(reallocarray(memory, nr, size), nr, size);
}

uint32_t memory_add(void **entries, uint32_t *nr, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? 2 * *room : 256;
	void *grown;

	if (*nr == *room) {
		grown = *nr < PROFILE_MAX_NR / 2 ? memory_grown(*entries, wanted, size) : NULL;
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

	return memory_add((void **)&profile->nodes, &profile->nr_nodes, &builder->nodes_room,
	                  sizeof(*profile->nodes));
}

void builder_reserve_nodes(struct builder *builder, uint64_t nr)
{
	if (nr >= PROFILE_MAX_NR / 2)
		return;
	builder->profile->nodes = memory_new(nr, sizeof(struct profile_node));
	if (builder->profile->nodes)
		builder->nodes_room = (uint32_t)nr;
}

uint32_t builder_add_root(struct builder *builder)
{
	uint32_t root = add_node(builder);

	if (root != PROFILE_NONE)
		builder->profile->nodes[root].parent = PROFILE_NONE;
	return root;
}

uint32_t builder_add_class(struct builder *builder)
{
	struct profile *profile = builder->profile;

	return memory_add((void **)&profile->classes, &profile->nr_classes, &builder->classes_room,
	                  sizeof(*profile->classes));
}

uint32_t builder_add_row(struct builder *builder, uint32_t class, uint32_t name)
{
	struct profile *profile = builder->profile;
	uint32_t row = memory_add((void **)&profile->rows, &profile->nr_rows, &builder->rows_room,
	                          sizeof(*profile->rows));

	if (row == PROFILE_NONE)
		return PROFILE_NONE;
	profile->rows[row].class = class;
	profile->rows[row].name = name;
	return row;
}

/* Of one class alone, rows have the numbers of their names. */
static uint32_t only_row(struct builder *builder, uint32_t name)
{
	while (name >= builder->profile->nr_rows)
		if (builder_add_row(builder, 0, builder->profile->nr_rows) == PROFILE_NONE)
			return PROFILE_NONE;
	return name;
}

static uint32_t find_row(const struct builder *builder, uint32_t class, uint32_t name)
{
	const struct node_table *table = &builder->rows;
	const struct profile_row *rows = builder->profile->rows;
	const struct node_slot *slot = node_slot_first(table, node_hash(class, name));

	while (slot && (rows[slot->node - 1].class != class || rows[slot->node - 1].name != name))
		slot = node_slot_next(table, slot);
	return slot ? slot->node - 1 : PROFILE_NONE;
}

uint32_t builder_row(struct builder *builder, uint32_t class, uint32_t name)
{
	uint32_t row;

	if (builder->one_class)
		return only_row(builder, name);
	row = find_row(builder, class, name);
	if (row != PROFILE_NONE)
		return row;
	row = builder_add_row(builder, class, name);
	if (row != PROFILE_NONE && node_table_put(&builder->rows, row, node_hash(class, name)))
		return PROFILE_NONE;
	return row;
}

/* --- children --------------------------------------------------------------------------------- */

/*
 * Most nodes have a child or two, which are found by following links. Those of a node with more
 * are in a table, all of them, for programs may call thousands of functions from one place.
 */
#define MAX_NARROW 2

static int put_into_table(struct builder *builder, uint32_t node)
{
	const struct profile_node *entry = &builder->profile->nodes[node];

	return node_table_put(&builder->children, node, node_hash(entry->parent, entry->name));
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

static uint32_t find_wide_child(const struct builder *builder, uint32_t parent, uint32_t name)
{
	const struct node_table *table = &builder->children;
	const struct profile_node *nodes = builder->profile->nodes;
	const struct node_slot *slot = node_slot_first(table, node_hash(parent, name));

	while (slot &&
	       (nodes[slot->node - 1].parent != parent || nodes[slot->node - 1].name != name))
		slot = node_slot_next(table, slot);
	return slot ? slot->node - 1 : PROFILE_NONE;
}

/* PROFILE_NONE: it is not there; then nr is how many are, up to a few. */
static uint32_t find_child(const struct builder *builder, uint32_t parent, uint32_t name,
                           unsigned *nr)
{
	const struct profile_node *nodes = builder->profile->nodes;
	uint32_t i;

	*nr = 0;
	if (nodes[parent].wide)
		return find_wide_child(builder, parent, name);
	for (i = nodes[parent].links.child; i; i = nodes[i].links.sibling, ++*nr)
		if (nodes[i].name == name)
			return i;
	return PROFILE_NONE;
}

static int add_child(struct builder *builder, uint32_t parent, uint32_t node, uint32_t name)
{
	struct profile_node *nodes = builder->profile->nodes;

	nodes[node].parent = parent;
	nodes[node].name = name & PROFILE_MAX_NAME;
	nodes[node].links.sibling = nodes[parent].links.child;
	nodes[parent].links.child = node;
	return nodes[parent].wide ? put_into_table(builder, node) : 0;
}

uint32_t builder_child(struct builder *builder, uint32_t parent, uint32_t name)
{
	unsigned nr;
	uint32_t node = find_child(builder, parent, name, &nr);

	if (node != PROFILE_NONE)
		return node;
	if (nr == MAX_NARROW && widen(builder, parent))
		return PROFILE_NONE;
	node = add_node(builder);
	return node == PROFILE_NONE || add_child(builder, parent, node, name) ? PROFILE_NONE : node;
}
