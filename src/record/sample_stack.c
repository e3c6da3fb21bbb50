#include "record/sample_stack.h"

#include "symbolize/unwind/arch.h"
#include "base/access_class.h"

#include <limits.h>
#include <string.h>

#define RED_ZONE      256
#define VSYSCALL_SIZE 4096
#define STACK_MAX     ((uint64_t)8 << 20) /* the usual limit of a thread's stack */

static void add(struct sample_stack *s, uint64_t frame)
{
	s->frames[s->nr++] = frame;
}

static uint64_t frame_of(struct sample_stack *s, const struct space *space, uint64_t address)
{
	struct module *kernel;

	if (!(address >> 63))
		return space_frame(space, address);
	kernel = module_table_kernel(s->modules, address);
	return kernel ? frame_make(kernel->id, (uint32_t)address) : FRAME_UNKNOWN;
}

/*
 * Where a program keeps no frame pointers, the kernel takes whatever is there for addresses. Those
 * of its own half are none that a program calls from, but for one page.
 */
static uint64_t frame_of_user(struct sample_stack *s, const struct space *space, uint64_t address)
{
	bool is_beyond = address >> 63 && address - ARCH_VSYSCALL >= VSYSCALL_SIZE;

	return is_beyond ? FRAME_UNKNOWN : frame_of(s, space, address);
}

/* Adds what the link register says has called the user's innermost function, if it does. */
static void add_hidden_caller(struct sample_stack *s, const struct space *space,
                              const struct record *record)
{
	const struct unwind_sample sample = {.regs = record->sample.regs};
	uint64_t frames[2];
	enum unwind_end end;

	if (ARCH_HIDDEN_CALLER && s->unwinder && sample.regs && !record->sample.regs_32 &&
	    unwinder_walk(s->unwinder, space, &sample, frames, 2, &end) == 2 &&
	    frames[0] == s->frames[s->nr - 1])
		add(s, frames[1]);
}

/*
 * At most max parts of a call chain; the first address behind a mark is exact, others return. Where
 * the user's part begins, if there is one.
 */
static unsigned add_chain(struct sample_stack *s, const struct space *space,
                          const struct record *record, unsigned max)
{
	unsigned first = UINT_MAX;
	bool exact = true, user = false;

	for (size_t i = 0; i < record->sample.chain_size && s->nr < max; i++) {
		uint64_t address = record->sample.chain[i];

		if (record_is_mark(address)) {
			exact = true;
			user = record_is_user_mark(address);
			if (user)
				first = s->nr;
			continue;
		}
		address -= !exact;
		add(s, user ? frame_of_user(s, space, address) : frame_of(s, space, address));
		if (exact && user && s->nr < max)
			add_hidden_caller(s, space, record);
		exact = false;
	}
	return first < s->nr ? first : s->nr;
}

static void add_truncated(struct sample_stack *s, enum stack_cut why)
{
	s->truncated++;
	s->cut[why]++;
	add(s, FRAME_TRUNCATED);
}

/* An exec under way: the user's registers are of the old program, of which nothing is mapped. */
static bool between_programs(const struct space *space, const struct record *record)
{
	uint64_t pc = arch_sample_reg(record->sample.regs, ARCH_PC);

	return record->sample.in_kernel && !(pc >> 63) && !space_find(space, pc);
}

/*
 * A call into the vsyscall page enters the kernel, which reports this page as a part of its own
 * call chain. Removes the first unwound frame, which would repeat it.
 */
static void join_vsyscall(struct sample_stack *s, const struct record *record, unsigned first)
{
	uint64_t *at = &s->frames[first];

	if (!first || !(arch_sample_reg(record->sample.regs, ARCH_PC) >> 63))
		return;
	s->nr--;
	memmove(at, at + 1, (s->nr - first) * sizeof(*at));
}

static void add_unwound(struct sample_stack *s, const struct sampler *sampler,
                        const struct space *space, const struct record *record)
{
	struct unwind_sample sample = {
		.regs = record->sample.regs,
		.stack = record->sample.stack,
		.stack_size = record->sample.stack_size,
		.stack_full = record->sample.stack_cut,
		.tid = (pid_t)record->tid,
		.time = record->time,
	};
	const unsigned first = s->nr;
	enum unwind_end end;

	if (first && between_programs(space, record))
		return;
	s->nr += unwinder_walk(s->unwinder, space, &sample, s->frames + first,
	                       s->config->stack.max - first, &end);
	join_vsyscall(s, record, first);
	s->stitched += end == UNWIND_STITCHED;
	/* Not those that were copied before larger copies were asked for. */
	stack_copy_note(&s->copy, end == UNWIND_TRUNCATED && record->sample.stack_cut &&
	                                  sample.stack_size >= sampler_copied(sampler));
	if (end == UNWIND_TRUNCATED)
		add_truncated(s, unwinder_cut(s->unwinder));
}

/*
 * Call chains of frame pointers end where a function keeps none, and may go on to what is no
 * caller. The user's part begins at `first`.
 */
static void end_chain(struct sample_stack *s, unsigned first, unsigned max)
{
	unsigned nr = s->unwinder ? s->nr - first : 0;
	unsigned root = nr ? unwinder_find_root(s->unwinder, s->frames + first, nr) : 0;
	enum stack_cut why;

	if (root)
		s->nr = first + root;
	else if (s->nr >= max)
		add_truncated(s, max < s->config->stack.max ? STACK_CUT_KERNEL_MAX : STACK_CUT_MAX);
	else if (nr && unwinder_chain_cut(s->unwinder, s->frames + first, nr, &why))
		add_truncated(s, why);
}

unsigned branch_stack(const struct record *record, unsigned remembered, uint64_t *addresses,
                      unsigned max, bool *cut)
{
	const struct perf_branch_entry *branches = record->sample.branches;
	size_t nr_branches = record->sample.nr_branches, taken = 0;
	bool user = false;
	unsigned nr = 0;

	for (size_t i = 0; i < record->sample.chain_size && nr < max && !user; i++) {
		uint64_t address = record->sample.chain[i];

		if (record_is_mark(address))
			continue;
		user = !(address >> 63);
		addresses[nr++] = address;
	}
	for (; user && taken < nr_branches && nr < max; taken++)
		addresses[nr++] = branches[taken].from;
	*cut = nr_branches >= remembered || taken < nr_branches;
	return nr;
}

static void add_branches(struct sample_stack *s, const struct space *space,
                         const struct record *record, unsigned max)
{
	bool cut;

	s->nr = branch_stack(record, s->config->stack.branches, s->frames, max, &cut);
	for (unsigned i = 0; i < s->nr; i++)
		s->frames[i] = frame_of(s, space, s->frames[i]);
	if (cut)
		add_truncated(s, STACK_CUT_BRANCHES);
}

unsigned stack_longest_chain(const struct record_config *config, const struct sampler *sampler)
{
	unsigned max = config->stack.max;

	if (config->stack.mode == TRACE_STACKS_FP && max > sampler_max_chain(sampler))
		max = sampler_max_chain(sampler);
	return max;
}

static void add_stack(struct sample_stack *s, const struct sampler *sampler,
                      const struct space *space, const struct record *record)
{
	bool unwinds = record->sample.regs && s->config->stack.mode == TRACE_STACKS_DWARF;
	unsigned max = stack_longest_chain(s->config, sampler), first;

	s->built++;
	if (record->sample.nr_branches) {
		add_branches(s, space, record, max);
		return;
	}
	first = add_chain(s, space, record, max);
	if (!s->nr && (record->sample.in_kernel || !unwinds || record->sample.regs_32))
		add(s, frame_of(s, space, record->sample.ip));
	if (s->config->stack.mode == TRACE_STACKS_FP)
		end_chain(s, first, max);
	else if (s->nr >= max)
		add_truncated(s, STACK_CUT_MAX);
	else if (unwinds && record->sample.regs_32)
		add_truncated(s, STACK_CUT_32_BIT);
	else if (unwinds)
		add_unwound(s, sampler, space, record);
}

/*
 * Returns what the accessed address lies in, as far as that is known without reading the target's
 * memory.
 */
static enum access_origin place_of(const struct space *space, const struct record *record)
{
	uint64_t address = record->sample.address;
	uint64_t sp = record->sample.regs && !record->sample.regs_32
	                      ? arch_sample_reg(record->sample.regs, ARCH_SP)
	                      : 0;

	if (!address)
		return ACCESS_UNKNOWN;
	if (address >> 63)
		return ACCESS_KERNEL;
	if (space_find(space, address))
		return ACCESS_CODE;
	/* what is being pushed lies below */
	return sp && address + RED_ZONE >= sp && address - sp + RED_ZONE < STACK_MAX ? ACCESS_STACK
	                                                                             : ACCESS_DATA;
}

/* Puts the class of the access between the leaf and its callers. */
static void add_memory(struct sample_stack *s, const struct space *space,
                       const struct record *record)
{
	uint32_t class = access_class_make(record->sample.data_src, record->sample.latency,
	                                   place_of(space, record));

	memmove(&s->frames[2], &s->frames[1], (s->nr - 1) * sizeof(s->frames[0]));
	s->frames[1] = frame_of_access(class);
	s->nr++;
}

void sample_stack_build(struct sample_stack *s, const struct sampler *sampler,
                        const struct space *space, const struct record *record)
{
	s->nr = 0;
	add_stack(s, sampler, space, record);
	s->nr = own_code_hide(&s->own, s->modules, s->frames, s->nr);
	if (s->config->data)
		add_memory(s, space, record);
}
