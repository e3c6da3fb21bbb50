#include "output/report_rows.h"
#include "output/text.h"

#include "symbolize/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- order ------------------------------------------------------------------------------------ */

static int descending(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static uint64_t class_weight(const struct profile *profile, uint32_t class)
{
	return profile->nodes[profile->classes[class].root].total;
}

struct order {
	const struct profile *profile;
	const struct report_options *options;
};

static int compare_classes(const struct profile *profile, uint32_t x, uint32_t y)
{
	int order = descending(class_weight(profile, x), class_weight(profile, y));

	return order ? order : (x > y) - (x < y);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct order *by = arg;
	const struct profile_row *x = &by->profile->rows[*(const uint32_t *)a];
	const struct profile_row *y = &by->profile->rows[*(const uint32_t *)b];
	int self = descending(x->self, y->self), total = descending(x->total, y->total);
	int first = by->options->by_total ? total : self;

	if (by->options->per_thread && x->class != y->class)
		return compare_classes(by->profile, x->class, y->class);
	if (first)
		return first;
	if (self || total)
		return self ? self : total;
	return (x > y) - (x < y);
}

int report_rows_init(struct report_rows *rows, const struct profile *profile,
                     const struct report_options *options)
{
	struct order order = {profile, options};

	*rows = (struct report_rows){
		.profile = profile,
		.rows = calloc(profile->nr_rows + 1UL, sizeof(*rows->rows)),
	};
	if (!rows->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->nr_rows; i++)
		if (profile->rows[i].total)
			rows->rows[rows->nr++] = i;
	qsort_r(rows->rows, rows->nr, sizeof(*rows->rows), compare_rows, &order);
	return 0;
}

void report_rows_fini(struct report_rows *rows)
{
	free(rows->rows);
	rows->rows = NULL;
}

uint32_t report_rows_class_end(const struct report_rows *rows, uint32_t first)
{
	uint32_t end = first + 1, class = rows->profile->rows[rows->rows[first]].class;

	while (end < rows->nr && rows->profile->rows[rows->rows[end]].class == class)
		end++;
	return end;
}

uint64_t report_rows_class_total(const struct report_rows *rows, uint32_t first)
{
	const struct profile *profile = rows->profile;
	const struct profile_row *row = &profile->rows[rows->rows[first]];

	return row->name == PROFILE_NONE ? row->self
	                                 : profile->nodes[profile->classes[row->class].root].total;
}

/* --- cells ------------------------------------------------------------------------------------ */

const struct profile_unsampled *report_unsampled(const struct profile *profile,
                                                 const struct profile_row *row)
{
	if (row->name != PROFILE_NONE)
		return NULL;
	for (uint32_t i = 0; i < profile->nr_unsampled; i++)
		if (&profile->rows[profile->unsampled[i].row] == row)
			return &profile->unsampled[i];
	return NULL;
}

/* A task whose beginning was not seen has none. */
static const char *comm_text(const struct trace *trace, uint32_t comm)
{
	return comm ? trace_string(trace, comm) : "[unknown]";
}

/* "comm 17" or "comm 17/18" (process and thread) */
static void thread_text(const struct trace *trace, uint32_t thread, char text[CELL_SIZE])
{
	const struct trace_thread *entry = trace_thread(trace, thread);
	const char *comm = comm_text(trace, entry ? entry->comm : 0);

	if (!entry || entry->flags & TRACE_THREAD_FOLDED)
		snprintf(text, CELL_SIZE, "%s%s", comm, entry ? " (many)" : "");
	else if (entry->pid == entry->tid)
		snprintf(text, CELL_SIZE, "%s %d", comm, entry->tid);
	else
		snprintf(text, CELL_SIZE, "%s %d/%d", comm, entry->pid, entry->tid);
}

/* Columns in which the command is told of what was not sampled; it has one, and no more is known.
 */
#define COMMAND_KEYS \
	((unsigned)(PROFILE_BY_MODULE | PROFILE_BY_THREAD | PROFILE_BY_PROCESS | PROFILE_BY_COMM))

static void unsampled_cell(const struct profile *profile, const struct profile_row *row,
                           enum profile_keys key, char text[CELL_SIZE])
{
	const struct profile_unsampled *unsampled = report_unsampled(profile, row);
	const char *comm = trace_string(profile->trace, unsampled->comm);
	const char *what = profile_unsampled_name(unsampled);
	unsigned keys = profile->config.keys;

	if (key == PROFILE_BY_SYMBOL && keys & COMMAND_KEYS)
		snprintf(text, CELL_SIZE, "%s", what);
	else if (key == PROFILE_BY_SYMBOL)
		snprintf(text, CELL_SIZE, "%s %s", what, comm);
	else if (!(key & COMMAND_KEYS) && keys & (COMMAND_KEYS | PROFILE_BY_SYMBOL))
		snprintf(text, CELL_SIZE, "-");
	else if (keys & PROFILE_BY_SYMBOL)
		snprintf(text, CELL_SIZE, "%s", comm);
	else
		snprintf(text, CELL_SIZE, "%s %s", comm, what);
}

/* "comm 17" */
static void process_text(const struct trace *trace, uint32_t process, char text[CELL_SIZE])
{
	const struct trace_thread *entry = trace_thread(trace, process);

	if (!entry || entry->flags & TRACE_THREAD_FOLDED)
		thread_text(trace, process, text);
	else
		snprintf(text, CELL_SIZE, "%s %d", comm_text(trace, entry->comm), entry->pid);
}

const char *report_memory_key(enum profile_keys key)
{
	return key == PROFILE_BY_MEM       ? "mem"
	       : key == PROFILE_BY_TLB     ? "tlb"
	       : key == PROFILE_BY_SNOOP   ? "snoop"
	       : key == PROFILE_BY_LATENCY ? "latency"
	                                   : "op";
}

void report_class_text(const struct profile *profile, const struct profile_class *class,
                       enum profile_keys key, char text[CELL_SIZE])
{
	char memory[MEMORY_TEXT_SIZE];

	if (key & PROFILE_MEMORY_KEYS)
		snprintf(text, CELL_SIZE, "%s",
		         memory_text(class->memory, profile_memory_fields(key), memory));
	else if (key == PROFILE_BY_CPU)
		snprintf(text, CELL_SIZE, "%u", class->cpu);
	else if (key == PROFILE_BY_PROCESS)
		process_text(profile->trace, class->process, text);
	else if (key == PROFILE_BY_COMM)
		snprintf(text, CELL_SIZE, "%s", comm_text(profile->trace, class->comm));
	else
		thread_text(profile->trace, class->thread, text);
}

/* "a.c", "a.c:12", or "12" where the file has a column of its own. */
static const char *source_cell(const struct profile *profile, const struct frame_name *name,
                               enum profile_keys key, char text[CELL_SIZE])
{
	const char *path = trace_string(profile->trace, name->file);

	if (!name->file || (key == PROFILE_BY_LINE && !name->line))
		return "[unknown]";
	if (key == PROFILE_BY_FILE)
		return path;
	if (profile->config.keys & PROFILE_BY_FILE)
		snprintf(text, CELL_SIZE, "%u", name->line);
	else
		snprintf(text, CELL_SIZE, "%s:%u", text_file_name(path), name->line);
	return text;
}

static const char *name_cell(const struct profile *profile, uint32_t number, enum profile_keys key,
                             char text[CELL_SIZE])
{
	const struct frame_name *name = &profile->names.names[number];
	/* What is in no module, such as [truncated], is told once. */
	bool alone = !frame_module(name->frame) && !(profile->config.keys & PROFILE_BY_SYMBOL);

	if (key == PROFILE_BY_MODULE && !alone)
		return frame_module_text(profile->trace, name->frame);
	if (key != PROFILE_BY_SYMBOL && key != PROFILE_BY_MODULE)
		return source_cell(profile, name, key, text);
	return frame_name_symbol(&profile->names, number, text);
}

const char *report_cell(const struct profile *profile, const struct profile_row *row,
                        enum profile_keys key, char text[CELL_SIZE])
{
	if (row->name != PROFILE_NONE && !(key & PROFILE_CLASS_KEYS))
		return name_cell(profile, row->name, key, text);
	if (row->name == PROFILE_NONE)
		unsampled_cell(profile, row, key, text);
	else
		report_class_text(profile, &profile->classes[row->class], key, text);
	return text;
}
