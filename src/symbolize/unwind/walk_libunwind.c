/*
 * The walk by libunwind, in a "remote address space": it asks for registers, memory and tables,
 * and we answer from the sample and the files.
 */
#include "symbolize/unwind/arch.h"
#include "symbolize/unwind/cfi.h"
#include "symbolize/unwind/walk.h"

#include <errno.h>
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_ENTRIES 4096

struct libunwind_walker {
	struct cfi_reader *reader;
	unw_addr_space_t space;
	uint64_t generation;       /* of the mappings that libunwind's cache is about */
	struct walk *walk;         /* the walk in progress */
	const struct mapping *map; /* whose tables libunwind reads */
	uint64_t last;             /* the address of the last frame */
};

/* Exported by libunwind for its own debugger library, and by no header. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *table,
                                       unw_proc_info_t *info, int need_unwind_info, void *arg);

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info,
                          int need_unwind_info, void *arg)
{
	struct libunwind_walker *walker = arg;
	const struct mapping *map = space_lookup(walker->walk->space, ip);
	struct cfi *cfi = map ? cfi_get(walker->reader, map->module) : NULL;
	unw_dyn_info_t table = {.format = UNW_INFO_FORMAT_REMOTE_TABLE};

	if (!cfi || !cfi->eh.table)
		return -UNW_ENOINFO;
	walker->map = map;
	table.start_ip = map->start;
	table.end_ip = map->end;
	table.u.rti.segbase = map->bias + cfi->eh.table_vaddr;
	table.u.rti.table_data = table.u.rti.segbase + 12;
	table.u.rti.table_len = cfi->eh.nr;
	return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &table, info, need_unwind_info, arg);
}

/* libunwind does not handle signed return addresses, so it gets them without their signature. */
static unw_word_t without_signature(const struct walk *walk, unw_word_t word)
{
	unw_word_t code = word & ARCH_CODE_MASK;

	return code == word || word >> 55 & 1 || !space_lookup(walk->space, code) ? word : code;
}

static bool read_stack(struct walk *walk, uint64_t addr, unw_word_t *value)
{
	const struct unwind_sample *sample = walk->sample;
	uint64_t at = addr - arch_sample_reg(sample->regs, ARCH_SP);

	if (at < sample->stack_size && sample->stack_size - at >= sizeof(*value))
		memcpy(value, sample->stack + at, sizeof(*value));
	else if (!walk->live || !live_stack_word(walk->live, addr, value))
		return false;
	*value = without_signature(walk, *value);
	return true;
}

/* libunwind reads other segments than executable ones, too. They have the bias of the mapping. */
static bool read_module(struct libunwind_walker *walker, uint64_t addr, unw_word_t *value)
{
	const struct mapping *map = space_lookup(walker->walk->space, addr);
	struct cfi *cfi;

	if (!map)
		map = walker->map;
	cfi = map ? cfi_get(walker->reader, map->module) : NULL;
	*value = 0;
	return cfi && cfi_read(walker->reader, cfi, addr - map->bias, value, sizeof(*value)) > 0;
}

static int access_mem(unw_addr_space_t space, unw_word_t addr, unw_word_t *value, int write,
                      void *arg)
{
	struct libunwind_walker *walker = arg;

	(void)space;
	if (!write && (read_stack(walker->walk, addr, value) || read_module(walker, addr, value)))
		return 0;
	walker->walk->cut |= addr > arch_sample_reg(walker->walk->sample->regs, ARCH_SP);
	return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value, int write,
                      void *arg)
{
	struct libunwind_walker *walker = arg;

	(void)space;
	if (write || reg < 0 || reg >= ARCH_REGS)
		return -UNW_EBADREG;
	*value = without_signature(walker->walk,
	                           arch_sample_reg(walker->walk->sample->regs, (unsigned)reg));
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write,
                        void *arg)
{
	(void)space, (void)reg, (void)value, (void)write, (void)arg;
	return -UNW_EBADREG;
}

static int get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *addr, void *arg)
{
	(void)space, (void)addr, (void)arg;
	return -UNW_ENOINFO;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
	(void)space, (void)info, (void)arg;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space, (void)cursor, (void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t addr, char *name, size_t size,
                         unw_word_t *offset, void *arg)
{
	(void)space, (void)addr, (void)name, (void)size, (void)offset, (void)arg;
	return -UNW_ENOINFO;
}

struct libunwind_walker *libunwind_walker_new(struct module_table *modules)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name,
	};
	struct libunwind_walker *walker = calloc(1, sizeof(*walker));

	if (!walker)
		return NULL;
	walker->reader = cfi_reader_new(modules);
	walker->space = unw_create_addr_space(&accessors, 0);
	if (!walker->reader || !walker->space) {
		libunwind_walker_free(walker);
		errno = ENOMEM;
		return NULL;
	}
	unw_set_caching_policy(walker->space, UNW_CACHE_GLOBAL);
	unw_set_cache_size(walker->space, CACHE_ENTRIES, 0);
	return walker;
}

void libunwind_walker_free(struct libunwind_walker *walker)
{
	if (!walker)
		return;
	if (walker->space)
		unw_destroy_addr_space(walker->space);
	cfi_reader_free(walker->reader);
	free(walker);
}

static bool enter_frame(struct libunwind_walker *walker, unw_cursor_t *cursor, bool inner)
{
	bool exact = inner || unw_is_signal_frame(cursor) > 0; /* a trampoline was not called */
	struct walk *walk = walker->walk;
	unw_word_t ip, sp;

	if (unw_get_reg(cursor, UNW_REG_IP, &ip) || unw_get_reg(cursor, UNW_REG_SP, &sp))
		return false;
	walker->last = exact ? ip : ip - 1;
	walk->entries[walk->nr++] = (struct stack_entry){
		.slot = inner ? 0 : sp - 8,
		.frame = space_frame(walk->space, walker->last),
	};
	return true;
}

/*
 * Whether nobody called the last frame. libunwind also says so where it does not understand (up to
 * 1.6 on aarch64: functions that sign their return address).
 */
static bool is_root(struct libunwind_walker *walker)
{
	const struct mapping *map = space_lookup(walker->walk->space, walker->last);
	struct cfi *cfi = map ? cfi_get(walker->reader, map->module) : NULL;
	struct unwind_rule rule = {0};
	struct cfi_range range;

	return cfi && (!cfi_rule(walker->reader, cfi, walker->last - map->bias, &rule, &range) ||
	               rule.type == RULE_ROOT);
}

void walk_libunwind(struct walk *walk, struct libunwind_walker *walker)
{
	unw_cursor_t cursor;
	bool inner = true;
	int more = 1;

	if (walker->generation != space_generation(walk->space))
		unw_flush_cache(walker->space, 0, 0);
	walker->generation = space_generation(walk->space);
	walker->walk = walk;
	walker->map = NULL;
	if (unw_init_remote(&cursor, walker->space, walker))
		more = -1;
	while (more > 0 && walk->nr < walk->max && enter_frame(walker, &cursor, inner)) {
		inner = unw_is_signal_frame(&cursor) > 0;
		more = unw_step(&cursor);
	}
	walk->complete = more == 0 && is_root(walker);
	if (walk->nr == 0)
		walk->entries[walk->nr++] = (struct stack_entry){
			0, space_frame(walk->space, arch_sample_reg(walk->sample->regs, ARCH_PC))};
}
