#include "trace/live/tables_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define IMAGE_MAGIC   "ADAPIMG" /* with its NUL */
#define IMAGE_VERSION 7
#define PAGE          ((size_t)4096)
#define PIECE         ((size_t)64 << 10) /* tables grow by this much */
#define ARENA_START   ((size_t)1 << 20)  /* enough bins to work with */

#define NR_COMMAND_SLOTS (2 * TRACE_MAX_COMMANDS)
#define OTHER_COMMANDS   "[other commands]"
/* Bounds the private memory that finds a string again. */
#define MAX_STRINGS (1 << 18)

static_assert(
	sizeof(struct hmb_reduction) == sizeof(struct trace_reduction) &&
		offsetof(struct hmb_reduction, kind) == offsetof(struct trace_reduction, event) &&
		offsetof(struct hmb_reduction, cause) == offsetof(struct trace_reduction, cause) &&
		offsetof(struct hmb_reduction, floor) == offsetof(struct trace_reduction, floor) &&
		offsetof(struct hmb_reduction, bins) == offsetof(struct trace_reduction, bins),
	"the ledger's reductions are the trace's");

struct table_limits table_limits(enum trace_section section)
{
	static const struct table_limits limits[NR_TRACE_SECTIONS] = {
		[TRACE_RUN] = {sizeof(struct trace_run), 1},
		[TRACE_STRINGS] = {1, TABLES_MAX_STRINGS},
		[TRACE_EVENTS] = {sizeof(struct trace_event), TABLES_MAX_EVENTS},
		[TRACE_STREAMS] = {sizeof(struct trace_stream), TABLES_MAX_STREAMS},
		[TRACE_MODULES] = {sizeof(struct trace_module), TABLES_MAX_MODULES},
		[TRACE_THREADS] = {sizeof(struct trace_thread), TABLES_MAX_THREADS},
		[TRACE_COMMANDS] = {sizeof(struct trace_command), TRACE_MAX_COMMANDS},
		[TRACE_REGIONS] = {sizeof(struct trace_region), TABLES_MAX_REGIONS},
		[TRACE_COMMS] = {sizeof(struct trace_comm), TABLES_MAX_COMMS},
		[TRACE_MEMBERS] = {sizeof(uint32_t), TABLES_MAX_MEMBERS},
		[TRACE_PROCESSES] = {sizeof(struct trace_process), TABLES_MAX_PROCESSES},
		[TRACE_OWNERS] = {sizeof(uint32_t), TABLES_MAX_THREADS},
		[TRACE_INSTRUMENTS] = {sizeof(struct trace_instrument), TABLES_MAX_EVENTS},
		[TRACE_COUNTERS] = {sizeof(struct trace_counter), TABLES_MAX_COUNTERS},
		[TRACE_CALL_SUMS] = {sizeof(struct trace_call_sum), TABLES_MAX_CALL_SUMS},
		[TRACE_ACTIONS] = {sizeof(struct trace_action), TABLES_MAX_ACTIONS},
		[TRACE_GAPS] = {sizeof(struct trace_gap), TABLES_MAX_GAPS},
		[TRACE_CONDITIONS] = {sizeof(struct trace_condition), TABLES_MAX_CONDITIONS},
		[TRACE_CALL_SITES] = {sizeof(struct trace_call_site), TABLES_MAX_SITES},
		[TRACE_OPENMP] = {sizeof(struct trace_openmp), TABLES_MAX_OPENMP},
		[TRACE_WINDOWS] = {sizeof(struct trace_window), TABLES_MAX_WINDOWS},
		[TRACE_ITERATIONS] = {sizeof(struct trace_iterations), TABLES_MAX_ITERATIONS},
	};

	return limits[section];
}

static size_t page_align(size_t size)
{
	return (size + PAGE - 1) & ~(PAGE - 1);
}

static struct layout layout_for(size_t budget)
{
	struct layout layout = {.ledger = page_align(sizeof(struct image_header))};
	size_t at = layout.ledger + page_align(sizeof(struct hmb_ledger));

	for (unsigned s = 0; s < NR_TRACE_SECTIONS; s++) {
		struct table_limits limits = table_limits(s);

		if (!limits.max)
			continue;
		layout.section[s] = at;
		at += page_align(limits.entry_size * limits.max);
	}
	layout.arena = at;
	layout.size = at + page_align(budget);
	return layout;
}

static uint32_t layout_hash(const struct layout *layout)
{
	return (uint32_t)XXH3_64bits_withSeed(layout, sizeof(*layout), sizeof(struct hmb_ledger));
}

/* --- growing ---------------------------------------------------------------------------------- */

int table_reserve(struct tables *tables, enum trace_section section, size_t size)
{
	struct table_limits limits = table_limits(section);
	size_t want, reserved = tables->reserved[section];
	int err;

	if (size <= reserved)
		return 0;
	if (size > limits.entry_size * limits.max)
		return -ENOSPC;
	want = (size + PIECE - 1) & ~(PIECE - 1);
	if (want > page_align(limits.entry_size * limits.max))
		want = page_align(limits.entry_size * limits.max);
	err = shm_image_reserve(&tables->image, tables->layout.section[section] + reserved,
	                        want - reserved);
	if (!err)
		tables->reserved[section] = want;
	return err;
}

int tables_reserve_arena(void *arg, size_t size)
{
	struct tables *tables = arg;
	size_t reserved = tables->reserved_arena;
	int err;

	if (size <= reserved)
		return 0;
	err = shm_image_reserve(&tables->image, tables->layout.arena + reserved, size - reserved);
	if (!err)
		tables->reserved_arena = size;
	return err;
}

int tables_release_arena(void *arg, size_t offset, size_t size)
{
	struct tables *tables = arg;

	return shm_image_release(&tables->image, tables->layout.arena + offset, size);
}

int tables_restore_arena(void *arg, size_t offset, size_t size)
{
	struct tables *tables = arg;

	return shm_image_reserve(&tables->image, tables->layout.arena + offset, size);
}

static int strings_reserve(void *arg, size_t size)
{
	return table_reserve(arg, TRACE_STRINGS, size);
}

void *table_grow(struct tables *tables, enum trace_section section)
{
	struct table_limits limits = table_limits(section);
	uint32_t nr = tables->header->nr[section];

	if (nr >= limits.max || table_reserve(tables, section, (nr + 1) * limits.entry_size))
		return NULL;
	return memset(table_entry(tables, section, nr), 0, limits.entry_size);
}

void table_publish(struct tables *tables, enum trace_section section, uint32_t nr)
{
	__atomic_store_n(&tables->header->nr[section], nr, __ATOMIC_RELEASE);
}

/* --- a new run -------------------------------------------------------------------------------- */

/* Reserves the sections that every trace needs: the run, and room for some threads and modules. */
static int reserve_first(struct tables *tables)
{
	static const enum trace_section sections[] = {
		TRACE_RUN, TRACE_STRINGS, TRACE_EVENTS, TRACE_STREAMS, TRACE_MODULES, TRACE_THREADS,
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(sections) / sizeof(*sections); i++)
		err = table_reserve(tables, sections[i], 1);
	return err;
}

static int reserve_fixed(struct tables *tables)
{
	const struct layout *layout = &tables->layout;
	const size_t arena = layout->size - layout->arena;
	int err = shm_image_reserve(&tables->image, 0, layout->section[TRACE_RUN]);

	if (!err)
		err = tables_reserve_arena(tables, arena < ARENA_START ? arena : ARENA_START);
	if (!err)
		err = reserve_first(tables);
	if (!err)
		err = table_reserve(tables, TRACE_COMMANDS,
		                    TRACE_MAX_COMMANDS * sizeof(struct trace_command));
	return err;
}

static void unmap(struct tables *tables)
{
	shm_image_close(&tables->image);
	memset(tables->reserved, 0, sizeof(tables->reserved));
	tables->reserved_arena = 0;
}

/*
 * In /dev/shm where it has room for the arena and all that cannot grow later, else in memory that
 * clients are given, else private.
 */
static int tables_map(struct tables *tables, const char *trace_path)
{
	const size_t size = tables->layout.size, arena = size - tables->layout.arena;
	int err = shm_image_create(&tables->image, size, trace_path);

	if (err || (shm_image_room(&tables->image) >= arena && !reserve_fixed(tables)))
		return err;
	unmap(tables);
	if (!shm_image_create_elsewhere(&tables->image, size, trace_path) && !reserve_fixed(tables))
		return 0;
	unmap(tables);
	err = shm_image_create(&tables->image, size, NULL);
	return err ? err : reserve_fixed(tables);
}

static int private_memory(struct tables *tables)
{
	tables->command_slots = calloc(NR_COMMAND_SLOTS, sizeof(*tables->command_slots));
	return tables->command_slots ? threads_init(&tables->threads) : -ENOMEM;
}

/* The first one is the empty one, which numbers of none stand for. */
static int strings_init(struct tables *tables)
{
	string_pool_init(&tables->strings, table_entry(tables, TRACE_STRINGS, 0),
	                 TABLES_MAX_STRINGS, MAX_STRINGS);
	tables->strings.reserve = strings_reserve;
	tables->strings.arg = tables;
	tables_string(tables, "");
	return tables_run(tables)->refused_strings ? -ENOMEM : 0;
}

static void store_path(struct image_header *header, const char *trace_path)
{
	char *absolute = trace_path ? shm_image_absolute(trace_path) : NULL;

	const size_t size = absolute ? strlen(absolute) + 1 : 0;

	if (size <= sizeof(header->trace_path))
		memcpy(header->trace_path, absolute ? absolute : "", size);
	free(absolute);
}

/* The header is complete before the image has a name. */
static int begin(struct tables *tables, size_t budget, const char *trace_path)
{
	tables->header = (void *)tables->image.memory;
	*tables->header = (struct image_header){
		.magic = IMAGE_MAGIC,
		.version = IMAGE_VERSION,
		.layout = layout_hash(&tables->layout),
		.size = tables->layout.size,
		.budget = budget,
		.nr = {[TRACE_RUN] = 1},
		.state = {.recorder = getpid()},
	};
	store_path(tables->header, trace_path);
	return strings_init(tables);
}

struct tables *tables_new(size_t budget, const char *trace_path)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	int err = -ENOMEM;

	if (!tables)
		goto out;
	tables->image.fd = -1;
	err = -EINVAL;
	if (budget < ARENA_MIN_SIZE || budget > ARENA_MAX_SIZE)
		goto out;
	tables->layout = layout_for(budget);
	err = private_memory(tables);
	if (!err)
		err = tables_map(tables, trace_path);
	if (!err)
		err = begin(tables, budget, trace_path);
	if (err)
		goto out;
	tables_tell(tables);
	shm_image_publish(&tables->image);
	return tables;
out:
	tables_free(tables);
	errno = -err;
	return NULL;
}

void tables_free(struct tables *tables)
{
	if (!tables)
		return;
	if (!tables->keep)
		shm_image_unlink(&tables->image);
	shm_image_close(&tables->image);
	string_pool_fini(&tables->strings);
	threads_fini(&tables->threads);
	free(tables->command_slots);
	free(tables);
}

void tables_keep(struct tables *tables)
{
	tables->keep = true;
}

bool tables_recoverable(const struct tables *tables)
{
	return tables->image.name && !tables->image.elsewhere;
}

int tables_memory_fd(const struct tables *tables)
{
	return tables->image.elsewhere ? tables->image.memory_fd : -1;
}

void tables_tell(struct tables *tables)
{
	const struct shm_image *image = &tables->image;

	if (!image->elsewhere)
		return;
	shm_image_write_stub(image, tables->header, sizeof(*tables->header), 0);
	shm_image_write_stub(image, tables_run(tables), sizeof(struct trace_run), STUB_RUN);
}

int tables_name_taken(const struct tables *tables)
{
	return tables->image.name_taken;
}

bool tables_kept_leftover(const struct tables *tables)
{
	return tables->image.kept_leftover;
}

/* --- what a killed recorder left -------------------------------------------------------------- */

static bool image_plausible(const struct tables *tables)
{
	const struct image_header *header = tables->header;

	if (tables->image.size < sizeof(*header) ||
	    memcmp(header->magic, IMAGE_MAGIC, sizeof(header->magic)) ||
	    header->version != IMAGE_VERSION || header->budget < ARENA_MIN_SIZE ||
	    header->budget > ARENA_MAX_SIZE)
		return false;
	for (unsigned s = 0; s < NR_TRACE_SECTIONS; s++)
		if (header->nr[s] > table_limits(s).max)
			return false;
	return header->nr[TRACE_RUN] == 1 && header->nr[TRACE_STRINGS];
}

int tables_check_layout(struct tables *tables)
{
	const struct image_header *header = tables->header;

	if (!image_plausible(tables))
		return -EBADMSG;
	tables->layout = layout_for(header->budget);
	if (header->layout != layout_hash(&tables->layout) || header->size != tables->layout.size ||
	    tables->image.size != tables->layout.size)
		return -EBADMSG;
	return 0;
}

int tables_check(const struct tables *tables)
{
	const struct hmb_ledger *ledger = tables_ledger(tables);
	uint32_t end = tables->header->nr[TRACE_STRINGS];

	if (!end || ledger->nr_kinds > HMB_MAX_KINDS)
		return -EBADMSG;
	return tables_string_at(tables, end - 1)[0] ? -EBADMSG : 0;
}

/*
 * A small file can claim to hold gigabytes of bins, and memory for them would be allocated when
 * they are read. Bins that a recorder took have memory.
 */
static int check_taken(struct tables *tables)
{
	struct arena arena;

	arena_init(&arena, tables_arena(tables), tables_budget(tables));
	return (uint64_t)tables_ledger(tables)->nr_bins << arena.bin_shift >
	                       shm_image_taken(&tables->image)
	               ? -EBADMSG
	               : 0;
}

struct tables *tables_recover(const char *trace_path)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	int err = -ENOMEM;

	if (!tables)
		goto out;
	tables->keep = true;
	tables->image.fd = -1;
	err = shm_image_open(&tables->image, trace_path);
	if (err)
		goto out;
	tables->header = (void *)tables->image.memory;
	err = tables_check_layout(tables);
	if (!err)
		err = tables_check(tables);
	if (!err)
		err = check_taken(tables);
	if (!err)
		return tables;
out:
	tables_free(tables);
	errno = -err;
	return NULL;
}

void tables_recovered(struct tables *tables)
{
	tables->keep = false;
}

/* --- what is in them -------------------------------------------------------------------------- */

void *tables_arena(struct tables *tables)
{
	return tables->image.memory + tables->layout.arena;
}

size_t tables_budget(const struct tables *tables)
{
	return tables->header->budget;
}

size_t tables_limit(const struct tables *tables)
{
	const size_t budget = tables_budget(tables), limit = tables_run(tables)->budget;

	return limit && limit < budget ? limit : budget;
}

struct hmb_ledger *tables_ledger(const struct tables *tables)
{
	return (void *)(tables->image.memory + tables->layout.ledger);
}

void tables_note_saved(const struct tables *tables)
{
	tables_state(tables)->flags |= RECORDING_SAVED;
	shm_image_mark_saved(&tables->image);
}

struct recording_state *tables_state(const struct tables *tables)
{
	return &tables->header->state;
}

const char *tables_image_file(const struct tables *tables)
{
	return tables->image.name;
}

struct trace_run *tables_run(const struct tables *tables)
{
	return table_entry(tables, TRACE_RUN, 0);
}

uint32_t tables_string(struct tables *tables, const char *string)
{
	uint32_t offset;

	if (!string_pool_put(&tables->strings, string, &offset)) {
		tables_run(tables)->refused_strings++;
		return 0;
	}
	table_publish(tables, TRACE_STRINGS, (uint32_t)tables->strings.size);
	return offset;
}

uint32_t tables_comm(struct tables *tables, const char *comm)
{
	bool full = tables->header->nr[TRACE_COMMANDS] == TRACE_MAX_COMMANDS;
	uint32_t known;

	if (full && !string_pool_find(&tables->strings, comm, &known))
		comm = OTHER_COMMANDS;
	return tables_string(tables, comm);
}

const char *tables_string_at(const struct tables *tables, uint32_t offset)
{
	const char *strings = table_entry(tables, TRACE_STRINGS, 0);

	return offset < tables->header->nr[TRACE_STRINGS] ? strings + offset : "";
}

static void *add_empty(struct tables *tables, enum trace_section section)
{
	void *entry = table_grow(tables, section);

	if (entry)
		table_publish(tables, section, tables->header->nr[section] + 1);
	return entry;
}

struct trace_event *tables_add_event(struct tables *tables)
{
	return add_empty(tables, TRACE_EVENTS);
}

struct trace_counter *tables_add_counter(struct tables *tables)
{
	return add_empty(tables, TRACE_COUNTERS);
}

struct trace_stream *tables_add_stream(struct tables *tables)
{
	return add_empty(tables, TRACE_STREAMS);
}

struct trace_event *tables_event(const struct tables *tables, uint32_t event)
{
	return table_entry_at(tables, TRACE_EVENTS, event);
}

bool tables_have_events(const struct tables *tables)
{
	const struct trace_event *event;
	uint32_t nr = 0;

	for (; (event = tables_event(tables, nr)); nr++)
		if (event->unit != TRACE_CALLS && !event->base_period)
			return false;
	return nr;
}

struct trace_counter *tables_counter(const struct tables *tables, uint32_t counter)
{
	return table_entry_at(tables, TRACE_COUNTERS, counter);
}

struct trace_stream *tables_stream(const struct tables *tables, uint32_t stream)
{
	return table_entry_at(tables, TRACE_STREAMS, stream);
}

struct trace_module *tables_module(struct tables *tables, uint16_t id)
{
	while (tables->header->nr[TRACE_MODULES] <= id)
		if (!add_empty(tables, TRACE_MODULES))
			return NULL;
	return table_entry(tables, TRACE_MODULES, id);
}

/* --- commands --------------------------------------------------------------------------------- */

/* The slot of a command, or the free one where it belongs. */
static uint16_t *command_slot(const struct tables *tables, uint32_t comm)
{
	const struct trace_command *commands = table_entry(tables, TRACE_COMMANDS, 0);

	static_assert(NR_COMMAND_SLOTS == 1 << 14, "the hash gives 14 bits");
	for (uint32_t i = comm * 0x9e3779b1U >> 18;; i++) {
		uint16_t *slot = &tables->command_slots[i % NR_COMMAND_SLOTS];

		if (!*slot || commands[*slot - 1].comm == comm)
			return slot;
	}
}

struct trace_command *tables_command(struct tables *tables, uint32_t comm)
{
	uint16_t *slot = command_slot(tables, comm);
	uint32_t nr = tables->header->nr[TRACE_COMMANDS];
	struct trace_command *command;

	if (*slot)
		return table_entry(tables, TRACE_COMMANDS, *slot - 1U);
	command = table_grow(tables, TRACE_COMMANDS);
	if (!command)
		return table_entry(tables, TRACE_COMMANDS, nr - 1);
	if (nr + 1 == TRACE_MAX_COMMANDS)
		comm = tables_string(tables, OTHER_COMMANDS);
	else
		*slot = (uint16_t)(nr + 1);
	command->comm = comm;
	table_publish(tables, TRACE_COMMANDS, nr + 1);
	return command;
}

struct trace_command *tables_command_at(const struct tables *tables, uint32_t index)
{
	return table_entry_at(tables, TRACE_COMMANDS, index);
}

struct live_table tables_section(const struct tables *tables, enum trace_section section)
{
	struct table_limits limits = table_limits(section);

	if (!limits.max)
		return (struct live_table){NULL, 0, 0};
	return (struct live_table){table_entry(tables, section, 0), tables->header->nr[section],
	                           limits.entry_size};
}
