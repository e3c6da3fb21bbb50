#include "symbolize/unwind/unwind.h"
#include "base/clock.h"
#include "symbolize/unwind/arch.h"
#include "symbolize/unwind/large_frames.h"
#include "symbolize/unwind/known_callers.h"
#include "symbolize/unwind/live_stack.h"
#include "symbolize/unwind/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_COPY 65528 /* bytes of stack; see perf_event_attr.sample_stack_user */
#define RECORD_REST \
	2048 /* bytes of a sample that are no stack: the largest copy is smaller by them */
#define MAX_BEHIND_ROOT 4 /* frames that are no callers and may follow the root of a call chain */
#define NR_ROOTS        256

#define LIVE_MISSES 16      /* cut stacks that match nothing */
#define LIVE_EVERY  2000000 /* ns */

struct unwinder {
	struct module_table *modules;
	struct rule_cache *rules;        /* UNWIND_RULES */
	struct libunwind_walker *walker; /* UNWIND_LIBUNWIND */
	struct stack_cache *stacks;
	struct large_frames *large_frames;
	struct known_callers *callers;
	uint64_t looked; /* time of the last read of a process because of a stack that matched
	                    nothing */
	bool any_cut;    /* false: known_callers is not filled */
	struct live_stack *live;
	struct unwind_stats stats;
	enum stack_cut cut;
	struct {
		uint64_t frame;
		bool is_root;
	} roots[NR_ROOTS]; /* results of is_root(), by hash of the frame */
	struct stack_entry entries[UNWIND_MAX_FRAMES], more[UNWIND_MAX_FRAMES];
	struct frame_regs regs[UNWIND_MAX_FRAMES], more_regs[UNWIND_MAX_FRAMES];
};

uint64_t unwind_regs_mask(void)
{
	return arch_sample_mask();
}

static bool same_function(void *arg, uint64_t a, uint64_t b)
{
	struct unwinder *unwinder = arg;
	struct module *module = module_table_get(unwinder->modules, frame_module(a));

	return module && unwinder->rules && frame_module(a) == frame_module(b) &&
	       rule_cache_same_function(unwinder->rules, module,
	                                module_address(module, frame_offset(a)),
	                                module_address(module, frame_offset(b)));
}

struct unwinder *unwinder_new(struct module_table *modules, enum unwind_engine engine)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->modules = modules;
	unwinder->stacks = stack_cache_new();
	unwinder->large_frames = large_frames_new(same_function, unwinder);
	unwinder->callers = known_callers_new(same_function, unwinder);
	unwinder->live = live_stack_new(module_table_memory(modules));
	if (engine == UNWIND_RULES)
		unwinder->rules = rule_cache_new(modules);
	else
		unwinder->walker = libunwind_walker_new(modules);
	if (!unwinder->stacks || !unwinder->large_frames || !unwinder->callers || !unwinder->live ||
	    (!unwinder->rules && !unwinder->walker)) {
		unwinder_free(unwinder);
		errno = ENOMEM;
		return NULL;
	}
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	rule_cache_free(unwinder->rules);
	libunwind_walker_free(unwinder->walker);
	stack_cache_free(unwinder->stacks);
	large_frames_free(unwinder->large_frames);
	known_callers_free(unwinder->callers);
	live_stack_free(unwinder->live);
	free(unwinder);
}

static void walk_run(struct unwinder *unwinder, struct walk *walk)
{
	if (unwinder->rules)
		walk_rules(walk, unwinder->rules);
	else
		walk_libunwind(walk, unwinder->walker);
}

/*
 * Walks a cut stack once more and reads from the process what the copy lacks. The first `nr` frames
 * must still have their return addresses. Returns whether the walk reached the root.
 */
static bool walk_again(struct unwinder *unwinder, const struct walk *walk, unsigned nr,
                       struct walk *again)
{
	*again = *walk;
	if (!live_stack_begin(unwinder->live, space_pid(walk->space), walk->sample, walk->entries,
	                      nr))
		return false;
	again->live = unwinder->live;
	again->entries = unwinder->more;
	again->regs = unwinder->more_regs;
	again->last.nr = 0;
	again->nr = 0;
	again->other = 0;
	again->cut = false;
	walk_run(unwinder, again);
	return again->complete;
}

/*
 * Stores a stack that was read from the process. It is valid for later samples only: one that was
 * cut at the same return address shows that the thread had not left the function meanwhile.
 */
static void store_live(struct unwinder *unwinder, const struct walk *again)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	stack_cache_store(unwinder->stacks, again->sample->tid,
	                  &(struct new_stack){.entries = again->entries,
	                                      .regs = unwinder->rules ? again->regs : NULL,
	                                      .nr = again->nr,
	                                      .since = now,
	                                      .seen = now});
	known_callers_learn(unwinder->callers, again->sample->tid, now, again->entries, again->nr,
	                    0);
}

/*
 * Tells whether a process may be read, which takes as long as many walks. If a thread's stacks
 * match nothing again and again, it is read ever more rarely, but one of all threads each
 * LIVE_EVERY.
 */
static bool live_is_due(struct unwinder *unwinder, pid_t tid)
{
	unsigned misses = stack_cache_miss(unwinder->stacks, tid);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if ((misses & (misses - 1) && misses % LIVE_MISSES) && now < unwinder->looked + LIVE_EVERY)
		return false;
	unwinder->looked = now;
	return true;
}

static void walk_live(struct unwinder *unwinder, const struct walk *walk)
{
	struct walk again;

	if (walk->sample->time && live_is_due(unwinder, walk->sample->tid) &&
	    walk_again(unwinder, walk, walk->nr, &again))
		store_live(unwinder, &again);
}

/*
 * Tells whether the process has the same stack beyond the copy as it was completed with. Only the
 * positions of calls within functions may differ; those that were read are taken.
 */
static bool same_beyond(struct unwinder *unwinder, struct walk *walk, const struct walk *again,
                        size_t completed)
{
	struct stack_entry *ours = walk->entries + walk->nr;
	const struct stack_entry *found = again->entries + walk->nr;
	const size_t nr = completed - walk->nr;

	if (again->nr != completed || !entries_alike(ours, found, nr, same_function, unwinder))
		return false;
	memcpy(ours, found, nr * sizeof(*ours));
	return true;
}

/*
 * Tells whether a stack that was completed to so many entries is trusted: its thread was seen to
 * have the part that was added. If it has another one now, the time of the change is unknown.
 */
static bool is_believed(struct unwinder *unwinder, struct walk *walk, size_t completed)
{
	pid_t tid = walk->sample->tid;
	struct walk again;
	uint64_t now;
	bool same;

	if (!walk->sample->time)
		return true;
	now = clock_ns(CLOCK_MONOTONIC);
	if (stack_cache_is_due(unwinder->stacks, tid, now) &&
	    walk_again(unwinder, walk, walk->nr, &again)) {
		same = same_beyond(unwinder, walk, &again, completed);
		stack_cache_looked(unwinder->stacks, tid, now, same);
		if (!same)
			store_live(unwinder, &again);
	}
	return stack_cache_is_believed(unwinder->stacks, tid, walk->sample->time);
}

/* Returns the key of the outermost frame, which is larger than the copy. */
static struct large_frame frame_key(const struct walk *walk)
{
	const struct stack_entry *last = &walk->entries[walk->nr - 1];

	return (struct large_frame){
		.tid = walk->sample->tid,
		.slot = walk->wanted,
		.bottom = last->slot ? last->slot : arch_sample_reg(walk->sample->regs, ARCH_SP),
	};
}

static struct cut walk_cut(const struct walk *walk)
{
	return (struct cut){walk->entries, walk->regs, walk->nr, walk->max};
}

/*
 * Completes a stack that ends in a large frame with that frame's trusted callers. Returns the new
 * number of entries.
 */
static size_t walk_beyond(struct unwinder *unwinder, const struct walk *walk)
{
	const struct cut cut = walk_cut(walk);
	struct large_frame key;
	struct walk again;
	uint64_t now;

	if (!walk->nr || walk->wanted_nr != walk->nr || !walk->sample->time ||
	    walk->sample->tid <= 0)
		return walk->nr;
	key = frame_key(walk);
	now = clock_ns(CLOCK_MONOTONIC);
	if (large_frames_is_due(unwinder->large_frames, &key, now) &&
	    walk_again(unwinder, walk, 0, &again) && again.nr > walk->nr &&
	    again.entries[walk->nr].slot == walk->wanted)
		large_frames_learn(unwinder->large_frames, &key, now, again.entries + walk->nr,
		                   again.nr - walk->nr);
	return large_frames_append(unwinder->large_frames, &key, walk->sample->time, &cut);
}

/*
 * Completes a stack with the thread's last stack or with earlier ones. Returns the new number of
 * entries, which is unchanged if nothing matches.
 */
static size_t walk_stitch(struct unwinder *unwinder, const struct walk *walk)
{
	const pid_t tid = walk->sample->tid;
	const uint64_t time = walk->sample->time;
	const struct cut cut = walk_cut(walk);
	size_t nr;

	unwinder->any_cut = true;
	/* A handler on its own stack looks the same wherever it interrupted a function. */
	if (walk->other)
		return walk->nr;
	nr = stack_cache_stitch(unwinder->stacks, tid, time, &cut);
	return nr > walk->nr ? nr : known_callers_append(unwinder->callers, tid, time, &cut);
}

/*
 * Reads the process for a stack that matches nothing, and completes it if it ends in a large frame.
 */
static enum unwind_end walk_look(struct unwinder *unwinder, struct walk *walk)
{
	unsigned nr = walk->nr;

	if (!walk->other)
		walk_live(unwinder, walk);
	walk->nr = (unsigned)walk_beyond(unwinder, walk);
	return walk->nr == nr ? UNWIND_TRUNCATED : UNWIND_STITCHED;
}

/* Stores a stack that is complete or was completed. */
static void store_stack(struct unwinder *unwinder, const struct walk *walk)
{
	const struct unwind_sample *sample = walk->sample;

	stack_cache_store(unwinder->stacks, sample->tid,
	                  &(struct new_stack){.entries = walk->entries,
	                                      .regs = unwinder->rules ? walk->regs : NULL,
	                                      .nr = walk->nr,
	                                      .same = walk->nr_again,
	                                      .generation = space_generation(walk->space),
	                                      .seen = walk->complete ? sample->time : 0});
	if (unwinder->any_cut && sample->tid > 0)
		known_callers_learn(unwinder->callers, sample->tid, sample->time, walk->entries,
		                    walk->nr, walk->nr_again);
}

/* Completes a cut stack if possible, stores a complete one, and returns how the walk ended. */
static enum unwind_end walk_end(struct unwinder *unwinder, struct walk *walk)
{
	size_t nr;

	if (!walk->complete && !walk->cut)
		return UNWIND_TRUNCATED;
	if (!walk->complete) {
		nr = walk_stitch(unwinder, walk);
		if (nr == walk->nr)
			return walk_look(unwinder, walk);
		if (!is_believed(unwinder, walk, nr))
			return UNWIND_TRUNCATED;
		walk->nr = (unsigned)nr;
		walk->nr_again = 0;
	}
	store_stack(unwinder, walk);
	return walk->complete ? UNWIND_COMPLETE : UNWIND_STITCHED;
}

static struct module *walk_module(const struct unwinder *unwinder, uint64_t frame)
{
	return module_table_get(unwinder->modules, frame_module(frame));
}

/* Returns the reason why the caller of a frame is unknown, as its code tells it. */
static enum stack_cut code_cut(struct unwinder *unwinder, uint64_t frame)
{
	struct module *module = walk_module(unwinder, frame);

	if (!module || module->type == MODULE_SPECIAL)
		return STACK_CUT_UNKNOWN;
	if (module->type == MODULE_ANON)
		return STACK_CUT_JIT;
	switch (unwinder->rules ? rule_cache_runtime(unwinder->rules, module) : RUNTIME_OTHER) {
	case RUNTIME_GO:
		return STACK_CUT_GO;
	case RUNTIME_HASKELL:
		return STACK_CUT_HASKELL;
	case RUNTIME_NO_CFI:
		return STACK_CUT_NO_CFI;
	default:
		return STACK_CUT_NO_RULE;
	}
}

/* Returns the reason why a return address is not in the copy. */
static enum stack_cut copy_cut(const struct walk *walk)
{
	uint64_t bottom = walk->nr ? walk->entries[walk->nr - 1].slot : 0;
	uint64_t sp = arch_sample_reg(walk->sample->regs, ARCH_SP);

	if (walk->wanted_nr == walk->nr && walk->wanted - (bottom ? bottom : sp) > LARGEST_COPY)
		return STACK_CUT_FRAME;
	if (!walk->sample->stack_full)
		return STACK_CUT_PAGE;
	return walk->sample->stack_size + RECORD_REST >= LARGEST_COPY ? STACK_CUT_DEEP
	                                                              : STACK_CUT_COPY;
}

static enum stack_cut walk_why(struct unwinder *unwinder, const struct walk *walk)
{
	uint64_t last = walk->entries[walk->nr - 1].frame;
	enum stack_cut by_code = code_cut(unwinder, last);

	if (walk->nr >= walk->max)
		return STACK_CUT_MAX;
	if (!walk->sample->stack_size)
		return STACK_CUT_NO_STACK;
	if (by_code == STACK_CUT_HASKELL || by_code == STACK_CUT_GO)
		return by_code;
	if (walk->cut && walk->wanted_nr == walk->nr)
		return copy_cut(walk);
	return walk->cut && by_code == STACK_CUT_NO_RULE && !walk->no_rule ? copy_cut(walk)
	                                                                   : by_code;
}

static void walk_count(struct unwind_stats *stats, enum unwind_end end)
{
	stats->walks++;
	stats->complete += end == UNWIND_COMPLETE;
	stats->stitched += end == UNWIND_STITCHED;
	stats->truncated += end == UNWIND_TRUNCATED;
}

unsigned unwinder_walk(struct unwinder *unwinder, const struct space *space,
                       const struct unwind_sample *sample, uint64_t *frames, unsigned max,
                       enum unwind_end *end)
{
	struct walk walk = {
		.space = space,
		.sample = sample,
		.entries = unwinder->entries,
		.regs = unwinder->regs,
		.max = max < UNWIND_MAX_FRAMES ? max : UNWIND_MAX_FRAMES,
	};
	unsigned i;

	stack_cache_prefetch(unwinder->stacks, sample->tid, sample->stack,
	                     arch_sample_reg(sample->regs, ARCH_SP), sample->stack_size);
	if (unwinder->rules)
		walk.last =
			stack_cache_last(unwinder->stacks, sample->tid, space_generation(space));
	walk_run(unwinder, &walk);
	*end = walk_end(unwinder, &walk);
	if (*end == UNWIND_TRUNCATED)
		unwinder->cut = walk_why(unwinder, &walk);
	walk_count(&unwinder->stats, *end);
	for (i = 0; i < walk.nr; i++)
		frames[i] = walk.entries[i].frame;
	return walk.nr;
}

enum stack_cut unwinder_cut(const struct unwinder *unwinder)
{
	return unwinder->cut;
}

static bool is_root(struct unwinder *unwinder, uint64_t frame)
{
	struct module *module = walk_module(unwinder, frame);
	size_t i = (frame * 0x9e3779b97f4a7c15ull) >> 56;

	if (!module || !unwinder->rules || !frame_module(frame))
		return false;
	if (unwinder->roots[i].frame != frame) {
		unwinder->roots[i].frame = frame;
		unwinder->roots[i].is_root =
			rule_cache_is_root(unwinder->rules, module, frame_offset(frame));
	}
	return unwinder->roots[i].is_root;
}

unsigned unwinder_find_root(struct unwinder *unwinder, const uint64_t *frames, unsigned nr)
{
	for (unsigned n = 0; n < MAX_BEHIND_ROOT && n < nr; n++)
		if (is_root(unwinder, frames[nr - 1 - n]))
			return nr - n;
	return 0;
}

bool unwinder_chain_cut(struct unwinder *unwinder, const uint64_t *frames, unsigned nr,
                        enum stack_cut *why)
{
	bool led_astray = !frame_module(frames[nr - 1]);
	enum stack_cut by_code;

	/* The frames above the last frame of code are no return addresses. */
	while (nr > 1 && !frame_module(frames[nr - 1]))
		nr--;
	by_code = code_cut(unwinder, frames[nr - 1]);

	*why = by_code == STACK_CUT_HASKELL ? by_code : STACK_CUT_FP;
	return led_astray || (by_code != STACK_CUT_NO_CFI &&
	                      by_code != STACK_CUT_GO); /* Go has frame pointers everywhere */
}

void unwinder_forget(struct unwinder *unwinder, pid_t tid)
{
	stack_cache_forget(unwinder->stacks, tid);
	large_frames_forget(unwinder->large_frames, tid);
	known_callers_forget(unwinder->callers, tid);
}

void unwinder_stats(const struct unwinder *unwinder, struct unwind_stats *stats)
{
	*stats = unwinder->stats;
	stats->rules_asked = unwinder->rules ? rule_cache_asked(unwinder->rules) : 0;
}
