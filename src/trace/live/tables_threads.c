#include "trace/live/tables_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Own slots leave room for one shared slot of every command. */
#define MAX_OWN (TABLES_MAX_THREADS - TRACE_MAX_COMMANDS)
/* So many of these find memory when it is refused, for own slots leave it to them. */
#define SPARE 64

int threads_init(struct threads *threads)
{
	threads->states = calloc(TABLES_MAX_THREADS, sizeof(*threads->states));
	threads->unused = calloc(TABLES_MAX_THREADS, sizeof(*threads->unused));
	threads->shared = calloc(TRACE_MAX_COMMANDS, sizeof(*threads->shared));
	return threads->states && threads->unused && threads->shared ? 0 : -ENOMEM;
}

void threads_fini(struct threads *threads)
{
	free(threads->states);
	free(threads->unused);
	free(threads->shared);
}

static struct trace_thread *thread_at(const struct tables *tables, uint32_t thread)
{
	return table_entry(tables, TRACE_THREADS, thread);
}

struct trace_thread *tables_thread(const struct tables *tables, uint32_t thread)
{
	return table_entry_at(tables, TRACE_THREADS, thread);
}

/* --- giving slots back ------------------------------------------------------------------------ */

/*
 * Tells whether the trace may still refer to the thread: its calls are summed, or a level that has
 * a sample of it is open.
 */
static bool thread_mentioned(const struct tables *tables, uint32_t thread)
{
	const struct thread_state *state = &tables->threads.states[thread];
	const struct hmb_ledger *ledger = tables_ledger(tables);

	if (state->summed)
		return true;
	for (unsigned k = 0; k < ledger->nr_kinds; k++)
		if (state->top[k] > ledger->floor[k] && ledger->since[k] <= state->cleared)
			return true;
	return false;
}

static bool slot_unused(const struct trace_thread *entry)
{
	return !entry->tid && !(entry->flags & TRACE_THREAD_FOLDED);
}

static void slot_give(struct tables *tables, uint32_t thread)
{
	memset(thread_at(tables, thread), 0, sizeof(struct trace_thread));
	tables->threads.unused[tables->threads.nr_unused++] = thread;
}

/* Only a reduction or a clear makes a thread disappear from the bins. */
static void slots_collect(struct tables *tables)
{
	const struct hmb_ledger *ledger = tables_ledger(tables);
	uint32_t nr = tables->header->nr[TRACE_THREADS];

	if (tables->threads.reductions_seen == ledger->nr_reductions &&
	    tables->threads.clear_seen == ledger->cleared)
		return;
	tables->threads.reductions_seen = ledger->nr_reductions;
	tables->threads.clear_seen = ledger->cleared;
	for (uint32_t thread = 0; thread < nr; thread++) {
		const struct trace_thread *entry = thread_at(tables, thread);

		if (!slot_unused(entry) && entry->flags & TRACE_THREAD_ENDED &&
		    !thread_mentioned(tables, thread))
			slot_give(tables, thread);
	}
}

void tables_thread_ended(struct tables *tables, uint32_t thread, uint64_t time)
{
	struct trace_thread *entry = tables_thread(tables, thread);

	if (!entry || slot_unused(entry) || entry->flags & TRACE_THREAD_FOLDED)
		return;
	/* A sample may come after the word that its thread has ended. */
	entry->end = time > entry->start ? time : entry->start;
	entry->flags |= TRACE_THREAD_ENDED;
	if (!thread_mentioned(tables, thread))
		slot_give(tables, thread);
}

void tables_restart_threads(struct tables *tables, uint64_t time)
{
	slots_collect(tables);
	for (uint32_t i = 0; i < tables->header->nr[TRACE_THREADS]; i++) {
		struct trace_thread *entry = thread_at(tables, i);

		if (slot_unused(entry))
			continue;
		entry->start = time;
		entry->exact = 0;
		entry->flags &= ~(uint32_t)TRACE_THREAD_EXACT;
	}
}

/* --- taking slots ----------------------------------------------------------------------------- */

/* A slot that nothing refers to; UINT32_MAX: there is none. It may be behind the last one. */
static uint32_t slot_take(struct tables *tables)
{
	uint32_t nr = tables->header->nr[TRACE_THREADS];

	if (!tables->threads.nr_unused)
		slots_collect(tables);
	if (tables->threads.nr_unused)
		return tables->threads.unused[--tables->threads.nr_unused];
	if (nr - tables->threads.nr_shared >= MAX_OWN ||
	    table_reserve(tables, TRACE_THREADS, (nr + SPARE) * sizeof(struct trace_thread)) ||
	    !table_grow(tables, TRACE_THREADS))
		return UINT32_MAX;
	return nr;
}

static void slot_fill(struct tables *tables, uint32_t slot, const struct trace_thread *entry)
{
	memset(&tables->threads.states[slot], 0, sizeof(tables->threads.states[slot]));
	*thread_at(tables, slot) = *entry;
	if (slot >= tables->header->nr[TRACE_THREADS])
		table_publish(tables, TRACE_THREADS, slot + 1);
}

/* The slot that tasks of a command share; 0 where even that is refused. */
static uint32_t slot_shared(struct tables *tables, uint32_t comm, uint64_t time)
{
	const struct trace_command *commands = table_entry(tables, TRACE_COMMANDS, 0);
	struct trace_command *command = tables_command(tables, comm);
	uint32_t *shared = &tables->threads.shared[command - commands];
	uint32_t slot = tables->header->nr[TRACE_THREADS];
	struct trace_thread entry = {
		.comm = command->comm, .start = time, .flags = TRACE_THREAD_FOLDED};

	if (*shared)
		return *shared - 1;
	if (!table_grow(tables, TRACE_THREADS))
		return 0;
	slot_fill(tables, slot, &entry);
	tables->threads.nr_shared++;
	*shared = slot + 1;
	return slot;
}

uint32_t tables_add_thread(struct tables *tables, pid_t pid, pid_t tid, uint32_t comm,
                           uint64_t time)
{
	struct trace_thread entry = {.pid = pid, .tid = tid, .comm = comm, .start = time};
	uint32_t slot;

	if (!tid) /* of idle tasks each CPU has one, all of that number */
		return slot_shared(tables, comm, time);
	slot = slot_take(tables);
	if (slot == UINT32_MAX) {
		tables_run(tables)->folded_threads++;
		return slot_shared(tables, comm, time);
	}
	slot_fill(tables, slot, &entry);
	return slot;
}

void tables_hold_thread(struct tables *tables, uint32_t thread)
{
	if (thread < TABLES_MAX_THREADS)
		tables->threads.states[thread].summed = true;
}

/* Forgets levels of kinds that were cleared after they were noted. */
static void forget_cleared(struct thread_state *state, const struct hmb_ledger *ledger)
{
	for (unsigned k = 0; k < ledger->nr_kinds; k++)
		if (ledger->since[k] > state->cleared)
			state->top[k] = 0;
	state->cleared = ledger->cleared;
}

void tables_thread_stored(struct tables *tables, uint32_t thread, unsigned kind, unsigned level)
{
	struct thread_state *state = &tables->threads.states[thread];
	uint8_t *top = &state->top[kind];

	if (state->cleared != tables_ledger(tables)->cleared)
		forget_cleared(state, tables_ledger(tables));
	if (*top <= level)
		*top = (uint8_t)(level + 1);
}
