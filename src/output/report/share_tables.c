#include "output/report/share_tables.h"

#include <inttypes.h>

static void put_share(struct table *table, const struct share *share, uint32_t flags,
                      uint64_t exact)
{
	table_number(table, share->stored);
	table_number(table, share->weight);
	table_known(table, flags & TRACE_THREAD_EXACT, exact);
}

static const struct column command_columns[] = {
	{NULL, "comm", COLUMN_NAME, 0},
	{NULL, "tasks", COLUMN_COUNT, 0},
	{"samples", "stored", COLUMN_COUNT, 10},
	{"sampled", "weight", COLUMN_AMOUNT, 10},
	{"exact", "exact", COLUMN_AMOUNT, 10},
	{"command", NULL, COLUMN_NAME, 0},
	{NULL, NULL, COLUMN_END, 0},
};

static void put_command_row(struct table *table, const struct trace *trace,
                            const struct shares *shares, uint32_t number)
{
	const struct trace_command *command = trace_command(trace, number);

	table_begin(table);
	table_text(table, trace_string(trace, command->comm));
	table_number(table, command->tasks);
	put_share(table, &shares->commands[number], command->flags, command->exact);
	table_text(table, trace_command_name(trace, command->comm));
	/* A task counts for the last program that it executed, or its last name. */
	if (!table->json && command->tasks)
		fprintf(table->to, ", %" PRIu64 " task%s", command->tasks, plural(command->tasks));
	else if (!table->json)
		fputs(", went on under another name", table->to);
	table_end(table);
}

const struct share_rows command_rows = {command_columns, command_unused, put_command_row};

static const struct column thread_columns[] = {
	{NULL, "pid", COLUMN_COUNT, 0},           {NULL, "tid", COLUMN_COUNT, 0},
	{NULL, "comm", COLUMN_NAME, 0},           {"samples", "stored", COLUMN_COUNT, 10},
	{"sampled", "weight", COLUMN_AMOUNT, 10}, {"exact", "exact", COLUMN_AMOUNT, 10},
	{NULL, "start_ns", COLUMN_COUNT, 0},      {NULL, "end_ns", COLUMN_COUNT, 0},
	{"thread", NULL, COLUMN_NAME, 0},         {NULL, NULL, COLUMN_END, 0},
};

static void put_thread_row(struct table *table, const struct trace *trace,
                           const struct shares *shares, uint32_t number)
{
	const struct trace_thread *thread = trace_thread(trace, number);

	table_begin(table);
	table_int(table, thread->pid);
	table_int(table, thread->tid);
	table_text(table, trace_string(trace, thread->comm));
	put_share(table, &shares->threads[number], thread->flags, thread->exact);
	table_number(table, thread->start);
	table_known(table, thread->end, thread->end);
	table_text(table, trace_command_name(trace, thread->comm));
	if (!table->json && thread->flags & TRACE_THREAD_FOLDED)
		fputs(" (many)", table->to);
	else if (!table->json)
		fprintf(table->to, " %d/%d", thread->pid, thread->tid);
	table_end(table);
}

const struct share_rows thread_rows = {thread_columns, thread_unused, put_thread_row};
