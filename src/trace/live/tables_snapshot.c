/* The tables of a recorder at work, copied while it goes on. */
#include "hmb/arena_snapshot.h"
#include "trace/live/tables_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Counts are stored last, so what they count is whole. Strings and members of communicators never
 * change, so that new ones alone are copied.
 */
static void copy_section(struct tables *to, const struct tables *from, enum trace_section section)
{
	struct table_limits limits = table_limits(section);
	uint32_t nr = __atomic_load_n(&from->header->nr[section], __ATOMIC_ACQUIRE), first = 0;

	if (nr > limits.max)
		nr = (uint32_t)limits.max;
	if (section == TRACE_STRINGS || section == TRACE_MEMBERS)
		first = to->header->nr[section];
	if (nr > first)
		memcpy(table_entry(to, section, first), table_entry(from, section, first),
		       (nr - first) * limits.entry_size);
	to->header->nr[section] = nr;
}

/* Clears of windows are frequent: a reset is not waited for without end. */
#define MAX_TURNS 3

static uint32_t nr_cleared(const struct tables *from)
{
	return __atomic_load_n(&tables_ledger(from)->cleared, __ATOMIC_ACQUIRE);
}

int tables_copy_init(struct tables *to, struct tables *from)
{
	int err = shm_image_create(&to->image, from->image.size, NULL);

	if (err)
		return err;
	from->header = (void *)from->image.memory;
	to->header = (void *)to->image.memory;
	if (to->image.size < sizeof(*to->header))
		return -EBADMSG;
	memcpy(to->header, from->header, sizeof(*to->header));
	err = tables_check_layout(to);
	from->layout = to->layout;
	memset(to->header->nr, 0, sizeof(to->header->nr));
	return err;
}

/*
 * The buffer first: what its records refer to was in the tables before them. Its levels last: a
 * thread's place goes to another when the levels of its samples are closed. A recording that was
 * reset meanwhile is copied once more: its sums were replaced.
 */
int tables_copy_update(struct tables *to, struct tables *from, struct arena_copy *arena)
{
	uint32_t cleared;

	for (unsigned turn = 0; turn < MAX_TURNS; turn++) {
		cleared = nr_cleared(from);
		arena_copy_update(arena, tables_ledger(to), tables_ledger(from));
		for (unsigned s = 0; s < NR_TRACE_SECTIONS; s++)
			if (table_limits(s).max)
				copy_section(to, from, s);
		hmb_snapshot_levels(tables_ledger(to), tables_ledger(from));
		if (nr_cleared(from) == cleared)
			break;
	}
	return tables_check(to);
}

static int copy_living(struct tables *to, struct tables *from)
{
	struct arena_copy *arena;
	int err = tables_copy_init(to, from);

	if (err)
		return err;
	arena = arena_copy_new(tables_arena(to), tables_arena(from), tables_budget(to));
	err = arena ? tables_copy_update(to, from, arena) : -ENOMEM;
	arena_copy_free(arena);
	return err;
}

struct tables *tables_snapshot(const char *trace_path)
{
	struct tables *to = calloc(1, sizeof(*to)), from = {.image.fd = -1};
	int err = -ENOMEM;

	if (to) {
		to->image.fd = -1;
		err = shm_image_watch(&from.image, trace_path);
	}
	if (!err)
		err = copy_living(to, &from);
	shm_image_close(&from.image);
	if (!err)
		return to;
	tables_free(to);
	errno = -err;
	return NULL;
}
