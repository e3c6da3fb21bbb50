#include "preload/write.h"

void thread_push(struct thread *thread, uint32_t region, uint64_t ticks)
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

static bool have_ring(struct thread *thread)
{
	if (likely(thread->ring))
		return true;
	if (!process.shared &&
	    (__atomic_load_n(&process.started, __ATOMIC_ACQUIRE) || !process_start()))
		return false;
	if (thread_start(thread))
		return true;
	__atomic_fetch_add(&process.shared->lost, 1, __ATOMIC_RELAXED);
	return false;
}

static bool is_closed(enum call_class class)
{
	return __atomic_load_n(&process.shared->closed, __ATOMIC_RELAXED) >> class & 1;
}

bool visit_wanted(struct thread *thread, enum call_class class)
{
	return have_ring(thread) && !is_closed(class);
}

bool visit_enter(struct visit *visit, enum mpi_call call, uintptr_t *a)
{
	const struct call_info *info = &call_infos[call];
	struct thread *thread = &this_thread;

	if (unlikely(!have_ring(thread)))
		return false;
	visit->thread = thread;
	visit->info = info;
	visit->region = call;
	visit->recorded = !is_closed(info->class);
	thread->inside = true;
	if (!visit->recorded)
		return true;
	if (info->handler->before)
		info->handler->before(visit, a);
	visit->enter = ring_ticks(process.clock);
	thread_push(thread, call, visit->enter);
	return true;
}

void visit_part_room(struct visit *visit)
{
	struct thread *thread = visit->thread;

	thread->made |= (uint64_t)RING_CONTINUED << 24;
	thread_write_slowly(thread, thread_hash_record(thread), visit->enter, visit->leave);
	thread_begin_record(thread, visit->region, thread_depth(thread));
}

int visit_leave(struct visit *visit, const uintptr_t *a, int result)
{
	const struct call_info *info = visit->info;
	struct thread *thread = visit->thread;

	if (unlikely(!visit->recorded || !thread->ring)) { /* no ring: forked meanwhile */
		thread->inside = false;
		return result;
	}
	visit->leave = ring_ticks(process.clock);
	visit->result = result;
	thread->idle = false;
	thread_pop(thread);
	thread_begin_record(thread, visit->region, thread_depth(thread));
	if (info->handler->after && (likely(!result) || info->handler->always))
		info->handler->after(visit, a, info->large);
	thread_write(thread, visit->enter, visit->leave);
	thread->inside = false;
	return result;
}
