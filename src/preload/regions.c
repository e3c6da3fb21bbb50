/* The functions behind the macros of adaptrace.h. */
#include "preload/region_names.h"
#include "preload/write.h"

#include <string.h>

/* Nothing is recorded inside MPI calls, and nothing by a signal handler that came upon us. */
static inline bool is_inside(struct thread *thread)
{
	thread_look(thread);
	return unlikely(thread->inside) && !visit_was_left(thread, OWN_FRAME);
}

/* Nothing is done with what is found inside, so nothing is. */
static struct adaptrace_site *find_site(const char *text, unsigned length, unsigned type)
{
	struct thread *thread = &this_thread;
	struct adaptrace_site *site;

	if (is_inside(thread))
		return NULL;
	thread->inside = INSIDE_OWN;
	site = region_site(text, length, type);
	thread->inside = 0;
	return site;
}

/* Begins a use of a region. If there are too many names, the use is lost and counted. */
static struct thread *enter(struct adaptrace_site *site, uint32_t *region)
{
	struct thread *thread = &this_thread;

	if (!site || is_inside(thread))
		return NULL;
	thread->inside = INSIDE_OWN;
	if (visit_wanted(thread)) {
		*region = region_number(site);
		if (*region)
			return thread;
		thread->ring->lost++;
	}
	thread->inside = 0;
	return NULL;
}

static void begin(struct adaptrace_site *site)
{
	uint32_t region, weight;
	struct thread *thread = enter(site, &region);

	if (!thread)
		return;
	weight = thread_weigh(thread, region);
	if (likely(weight))
		thread_push(thread, region | (uint64_t)__builtin_ctz(weight) << 32,
		            process_ticks());
	else
		thread_push(thread, region, 0);
	thread->inside = 0;
}

/* Writes a call whose weight the thread has. */
static void write_call(struct thread *thread, uint32_t region, uint64_t from, uint64_t to)
{
	thread_write_region(thread, region, CLASS_USER, from, to);
}

/*
 * Ends the regions that are open inside a region that ends: an exception or a jump may have left
 * them.
 */
static void end_inner(struct thread *thread, unsigned depth)
{
	uint64_t ticks = 0;

	while (thread->nr_open > depth) {
		const struct ring_open *open = &thread->open[thread->nr_open - 1];

		if (open->enter && !ticks)
			ticks = process_ticks();
		thread->weight = open->enter ? 1U << (open->region >> 32) : 0;
		thread_pop(thread);
		write_call(thread, (uint32_t)open->region, open->enter, open->enter ? ticks : 0);
	}
}

static void end(struct adaptrace_site *site)
{
	struct thread *thread = &this_thread;
	uint32_t region;

	if (!site || is_inside(thread) || !thread->ring || !thread->nr_open)
		return;
	thread->inside = INSIDE_OWN;
	region = region_number(site);
	if (region && thread->nr_open > RING_MAX_OPEN) {
		thread_pop(thread);
		thread->ring->lost++;
	} else {
		for (unsigned n = region ? thread->nr_open : 0; n > 0; n--)
			if ((uint32_t)thread->open[n - 1].region == region) {
				end_inner(thread, n - 1);
				break;
			}
	}
	thread->inside = 0;
}

static void mark(struct adaptrace_site *site)
{
	uint32_t region;
	struct thread *thread = enter(site, &region);
	uint64_t ticks;

	if (!thread)
		return;
	thread->weight = thread_weigh(thread, region);
	ticks = thread->weight ? process_ticks() : 0;
	write_call(thread, region, ticks, ticks);
	thread->inside = 0;
}

static void value(struct adaptrace_site *site, double number)
{
	uint32_t region;
	struct thread *thread = enter(site, &region);
	struct visit visit = {.thread = thread};
	uint64_t ticks;

	if (!thread)
		return;
	ticks = process_ticks();
	thread_begin_record(thread, region, thread_depth(thread), 0);
	memcpy(visit_part(&visit, CALL_VALUE, 0, CALL_NO_PEER), &number, sizeof(number));
	thread->idle = false;
	thread->weight = 1;
	thread_write(thread, thread_wants(thread, CLASS_USER, ticks, ticks), ticks, ticks);
	thread->inside = 0;
}

extern const struct adaptrace_hooks adaptrace_hooks_1;
__attribute__((visibility("default"))) const struct adaptrace_hooks adaptrace_hooks_1 = {
	.site = find_site,
	.begin = begin,
	.end = end,
	.mark = mark,
	.value = value,
};
