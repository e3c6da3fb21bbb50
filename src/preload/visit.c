#include "preload/abi.h"
#include "preload/write.h"

#include <signal.h>

void thread_push(struct thread *thread, uint64_t region, uint64_t ticks)
{
	unsigned n = thread->nr_open++;

	if (unlikely(n >= RING_MAX_OPEN))
		return;
	thread->open[n] = (struct ring_open){ticks, region};
	__atomic_store_n(&thread->ring->nr_open, n + 1, __ATOMIC_RELEASE);
}

void thread_pop(struct thread *thread)
{
	unsigned n = --thread->nr_open;

	if (likely(n < RING_MAX_OPEN))
		__atomic_store_n(&thread->ring->nr_open, n, __ATOMIC_RELEASE);
}

static bool may_start_ring(struct thread *thread)
{
	if (!process.shared &&
	    (__atomic_load_n(&process.started, __ATOMIC_ACQUIRE) || !process_start()))
		return false;
	if (thread_start(thread))
		return true;
	__atomic_fetch_add(&process.shared->lost, 1, __ATOMIC_RELAXED);
	return false;
}

/* A signal handler that makes calls, too, must not ask for the lock that this thread has. */
RARE static bool start_ring(struct thread *thread)
{
	uintptr_t inside = thread->inside;
	bool started;

	thread->inside = INSIDE_OWN;
	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	started = may_start_ring(thread);
	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	thread->inside = inside;
	return started;
}

static inline bool have_ring(struct thread *thread)
{
	return likely(thread->ring) || start_ring(thread);
}

bool visit_wanted(struct thread *thread)
{
	return have_ring(thread) && !process_left_alone(process.shared);
}

/* --- calls that were left --------------------------------------------------------------------- */

/* Its memory may be anywhere, the thread's stack included. */
static bool on_signal_stack(void)
{
	stack_t stack;

	return !sigaltstack(NULL, &stack) && stack.ss_flags & SS_ONSTACK;
}

static bool on_stack(const struct thread *thread, uintptr_t address)
{
	return address >= thread->stack && address < thread->stack_end;
}

/* Where a call returns to, as far as the machine has a place for that. */
static uintptr_t return_address(uintptr_t frame)
{
#ifdef __x86_64__
	return ((const uintptr_t *)frame)[-1];
#else
	(void)frame;
	return 0;
#endif
}

/*
 * Whether the open call is still active: its stack frame is unchanged then. If the program left the
 * call by a jump, the frame is overwritten sooner or later.
 */
static bool is_intact(const struct visit *visit, const struct thread *thread)
{
	const struct ring_open *open = NULL;

	if (thread->recorded && thread->nr_open <= RING_MAX_OPEN)
		open = &thread->open[thread->nr_open - 1];
	return visit->thread == thread && on_stack(thread, visit->frame) &&
	       visit->frame > (uintptr_t)visit && return_address(visit->frame) == visit->returns &&
	       (!open || visit->enter == open->enter);
}

static void end_left(struct thread *thread)
{
	unsigned n = thread->nr_open;
	struct ring_open open;
	uint64_t ticks;

	if (!thread->recorded)
		return;
	thread->recorded = false;
	thread_pop(thread);
	if (n > RING_MAX_OPEN) {
		thread->ring->lost++;
		return;
	}
	open = thread->open[n - 1];
	thread->idle = false;
	thread->weight = open.enter != 0;
	ticks = open.enter ? process_ticks() : 0;
	thread_write_left(thread,
	                  open.enter && process_wants((enum call_class)(open.region >> 32), false),
	                  (uint32_t)open.region, process_clip(open.enter, ticks), ticks);
}

bool visit_was_left(struct thread *thread, uintptr_t frame)
{
	uintptr_t outer = thread->inside;

	/* On one stack, what an open call calls is below its visit. */
	if (!on_stack(thread, outer) || !on_stack(thread, frame) ||
	    (frame < outer ? is_intact((const struct visit *)outer, thread) : on_signal_stack()))
		return false;
	thread->inside = INSIDE_OWN;
	end_left(thread);
	thread->inside = 0;
	return true;
}

/* --- the two sides of a call ------------------------------------------------------------------ */

/* A ring, and what is needed beside for MPI calls. */
RARE static bool start_calls(struct thread *thread)
{
	if (!have_ring(thread))
		return false;
	thread->inside = INSIDE_OWN;
	thread_find_stack(thread);
	thread->calls = true;
	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	thread->inside = 0;
	return true;
}

static inline bool is_understood(const struct call_info *info)
{
	return likely(abi.known) || info->handler->unknown;
}

bool visit_enter(struct visit *visit, const struct call_info *info, uintptr_t *a, uintptr_t frame,
                 uintptr_t site)
{
	struct thread *thread = &this_thread;

	thread_look(thread);
	if (unlikely(thread->inside) && !visit_was_left(thread, frame))
		return false;
	if (unlikely(!thread->calls) && !start_calls(thread))
		return false;
	visit->thread = thread;
	visit->info = info;
	visit->frame = frame;
	visit->returns = return_address(frame);
	visit->site = site;
	/* A signal handler that makes calls may come at any time, and finds the visit intact. */
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread->inside = (uintptr_t)visit;
	if (info->handler->before && is_understood(info))
		info->handler->before(visit, a);
	visit->weight = thread_weigh(thread, info->region);
	visit->enter = likely(visit->weight) ? process_ticks() : 0;
	thread_push(thread, info->region | (uint64_t)info->class << 32, visit->enter);
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread->recorded = true;
	return true;
}

static inline bool is_wanted(const struct visit *visit)
{
	const struct call_info *info = visit->info;

	if (!visit->weight)
		return false;
	return likely(thread_wants_times(visit->thread, visit->enter, visit->leave) &&
	              process_wants(info->class, visit->thread->idle)) ||
	       mpi_call_bounds_world(info->region);
}

void visit_part_room(struct visit *visit)
{
	struct thread *thread = visit->thread;

	thread->made |= (uint64_t)RING_CONTINUED << 24;
	thread_write_slowly(thread, is_wanted(visit), thread_hash_record(thread), visit->enter,
	                    visit->leave);
	thread_begin_record(thread, visit->info->region, thread_depth(thread), visit->site);
}

int visit_leave(struct visit *visit, const uintptr_t *a, int result)
{
	const struct call_info *info = visit->info;
	struct thread *thread = visit->thread;

	if (unlikely(thread->inside != (uintptr_t)visit)) /* forked meanwhile */
		return result;
	if (unlikely(!thread->recorded)) {
		thread->inside = 0;
		return result;
	}
	visit->leave = likely(visit->weight) ? process_ticks() : 0;
	visit->enter = process_clip(visit->enter, visit->leave);
	thread->weight = visit->weight;
	visit->result = result;
	thread->idle = false;
	thread->recorded = false;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread_pop(thread);
	thread_begin_record(thread, info->region, thread_depth(thread), visit->site);
	if (info->handler->after && is_understood(info) &&
	    (likely(!result) || info->handler->always))
		info->handler->after(visit, a);
	thread_write(thread, is_wanted(visit), visit->enter, visit->leave);
	thread->loss_counted = false;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread->inside = 0;
	return result;
}
