/* How the tables lie in their image; for the files that tables.h promises, alone. */
#ifndef TRACE_LIVE_TABLES_LAYOUT_H
#define TRACE_LIVE_TABLES_LAYOUT_H

#include "trace/live/shm_image.h"
#include "base/string_pool.h"
#include "trace/live/tables.h"

#define IMAGE_PATH_SIZE 4096

/* The start of the image. Counts are stored last, so that what they count is always whole. */
struct image_header {
	char magic[8];
	uint32_t version;
	uint32_t layout; /* a hash over all sizes: images are read by the program that wrote them */
	uint64_t size, budget;
	uint32_t nr[NR_TRACE_SECTIONS]; /* entries; STRINGS: bytes */
	/* The file's name does not tell it. Absolute; empty: too long, or there was no memory. */
	char trace_path[IMAGE_PATH_SIZE];
	struct recording_state state;
};

/* Where a stub has the run, behind its header. */
#define STUB_RUN ((sizeof(struct image_header) + 7) & ~(size_t)7)
static_assert(STUB_RUN + sizeof(struct trace_run) <= SHM_IMAGE_STUB, "a stub has room for both");

/* The fixed places in the image; the arena is behind all of them. */
struct layout {
	size_t ledger;
	size_t section[NR_TRACE_SECTIONS]; /* 0: not a table */
	size_t arena, size;
};

/* The state that decides when a thread's slot may be given to another task. */
struct thread_state {
	uint8_t top[TABLES_MAX_EVENTS]; /* highest level stored + 1; 0: none of this kind */
	bool summed;                    /* sums of calls refer to it, or will */
	uint32_t cleared;               /* the ledger's, when these levels were noted */
};

struct threads {
	struct thread_state *states; /* of every slot */
	uint32_t *unused;            /* slots that were given back */
	uint32_t nr_unused, nr_shared;
	uint32_t reductions_seen, clear_seen; /* of the ledger, when slots were collected */
	uint32_t *shared;                     /* by command: slot + 1 */
};

struct tables {
	struct shm_image image;
	struct layout layout;
	struct image_header *header;
	size_t reserved[NR_TRACE_SECTIONS]; /* bytes of each table that may be touched */
	size_t reserved_arena;
	struct string_pool strings;
	uint16_t *command_slots; /* index + 1 by comm */
	struct threads threads;
	bool keep; /* the image stays when the tables go */
};

/* 0 or -ENOMEM. */
int threads_init(struct threads *threads);
void threads_fini(struct threads *threads);

/* The size of an entry, and how many there may be; 0 for what is not a table. */
struct table_limits {
	size_t entry_size, max;
};

struct table_limits table_limits(enum trace_section section);

static inline void *table_entry(const struct tables *tables, enum trace_section section,
                                uint32_t index)
{
	return tables->image.memory + tables->layout.section[section] +
	       index * table_limits(section).entry_size;
}

/* NULL: there is no such entry. */
static inline void *table_entry_at(const struct tables *tables, enum trace_section section,
                                   uint32_t index)
{
	return index < tables->header->nr[section] ? table_entry(tables, section, index) : NULL;
}

/*
 * Whether an image that somebody else wrote makes sense: its header, from which the layout follows,
 * and then the rest. What entries say is for the trace's writer and readers to doubt. 0, -EBADMSG.
 */
int tables_check_layout(struct tables *tables);
int tables_check(const struct tables *tables);

/*
 * Empty tables with the layout of an image that a recorder is writing; from: the image, mapped. 0,
 * -ENOMEM, -EBADMSG. tables_copy_update() copies what the recorder has now: all of it or what is
 * new, as the copy of the arena does.
 */
struct arena_copy;
int tables_copy_init(struct tables *to, struct tables *from);
int tables_copy_update(struct tables *to, struct tables *from, struct arena_copy *arena);

/* Memory for the first `size` bytes of a table; 0 or -errno. */
int table_reserve(struct tables *tables, enum trace_section section, size_t size);
/* A new zeroed entry behind the last, not counted yet; NULL: full, or memory was refused. */
void *table_grow(struct tables *tables, enum trace_section section);
/* Counts it. */
void table_publish(struct tables *tables, enum trace_section section, uint32_t nr);

#endif
