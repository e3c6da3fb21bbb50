#include "symbolize/unwind/large_frames.h"

#include <stdlib.h>
#include <string.h>

#define NR_FRAMES   256
#define MAX_ENTRIES 1024
#define READ_EVERY  5000000 /* ns */
#define BELIEVE     2       /* times the same, at first */
#define BELIEVE_MAX 4096

struct frame {
	struct large_frame key; /* tid 0: nobody's */
	uint64_t read, since;   /* when it was last read, and when first as it is now */
	unsigned same, needed;  /* times in a row */
	unsigned nr;
};

/* 4 MiB, of which only the pages are ever touched that stacks reach. */
struct large_frames {
	same_function_fn *same;
	void *arg; /* for it */
	unsigned nr_used;
	struct frame frames[NR_FRAMES];
	struct stack_entry entries[NR_FRAMES][MAX_ENTRIES];
};

struct large_frames *large_frames_new(same_function_fn *same, void *arg)
{
	struct large_frames *table = calloc(1, sizeof(*table));

	if (table) {
		table->same = same;
		table->arg = arg;
	}
	return table;
}

void large_frames_free(struct large_frames *table)
{
	free(table);
}

static size_t place_of(const struct large_frame *key)
{
	uint64_t hash =
		((uint64_t)key->tid << 32 ^ key->slot ^ key->bottom << 7) * 0x9e3779b97f4a7c15ull;

	return hash >> 56;
}

static bool is_of(const struct frame *frame, const struct large_frame *key)
{
	return frame->key.tid == key->tid && frame->key.slot == key->slot &&
	       frame->key.bottom == key->bottom;
}

bool large_frames_is_due(struct large_frames *table, const struct large_frame *key, uint64_t now)
{
	struct frame *frame = &table->frames[place_of(key)];

	if (now < frame->read + READ_EVERY)
		return false;
	if (!is_of(frame, key)) {
		table->nr_used += !frame->key.tid;
		*frame = (struct frame){.key = *key, .needed = BELIEVE};
	}
	frame->read = now;
	return true;
}

void large_frames_learn(struct large_frames *table, const struct large_frame *key, uint64_t now,
                        const struct stack_entry *entries, size_t nr)
{
	size_t place = place_of(key);
	struct frame *frame = &table->frames[place];

	if (!is_of(frame, key) || !nr || nr > MAX_ENTRIES)
		return;
	if (nr == frame->nr &&
	    entries_alike(entries, table->entries[place], nr, table->same, table->arg)) {
		frame->same++;
	} else {
		if (frame->nr && frame->needed < BELIEVE_MAX)
			frame->needed *= 2;
		frame->since = now;
		frame->same = 1;
	}
	memcpy(table->entries[place], entries, nr * sizeof(*entries));
	frame->nr = (unsigned)nr;
}

size_t large_frames_append(const struct large_frames *table, const struct large_frame *key,
                           uint64_t time, const struct cut *cut)
{
	size_t place = place_of(key);
	const struct frame *frame = &table->frames[place];

	if (!is_of(frame, key) || frame->same < frame->needed || time < frame->since ||
	    frame->nr > cut->max - cut->nr)
		return cut->nr;
	memcpy(cut->entries + cut->nr, table->entries[place], frame->nr * sizeof(*cut->entries));
	return cut->nr + frame->nr;
}

void large_frames_forget(struct large_frames *table, pid_t tid)
{
	for (size_t i = 0; table->nr_used && i < NR_FRAMES; i++)
		if (table->frames[i].key.tid == tid) {
			table->frames[i] = (struct frame){0};
			table->nr_used--;
		}
}
