#include "output/views/report_rows.h"
#include "output/text/text.h"

#include "base/array.h"
#include "base/access_class.h"

#include <errno.h>
#include <stdlib.h>

struct profile *report_profile(const struct trace *trace, uint32_t event,
                               const struct view_query *query, struct profile_view *view)
{
	struct profile_config config = {
		.event = event,
		.keys = query->no_inline ? 0 : PROFILE_INLINED,
		.selection = query->selection,
		.scale = true,
		.self_alone = query->self_alone,
		.sampled_alone = query->sampled_alone,
	};
	struct profile *profile;
	int err = 0;

	*view = (struct profile_view){
		.function = query->function,
		.direction = query->direction,
		.max_depth = query->max_depth ? query->max_depth : UINT32_MAX,
	};
	for (unsigned k = 0; k < query->nr_keys; k++)
		config.keys |= query->keys[k];
	if (query->per_thread)
		config.keys |= PROFILE_BY_THREAD;
	profile = profile_new(trace, &config);
	if (profile && query->direction != PROFILE_ALL)
		err = profile_view_make(profile, view);
	if (!err)
		return profile;
	profile_free(profile);
	errno = -err;
	return NULL;
}

/* --- order ------------------------------------------------------------------------------------ */

static int compare_subsets(const void *a, const void *b, void *arg)
{
	const struct profile_subset *subsets = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ORDER(subsets[y].weight, subsets[x].weight) ?: ORDER(x, y);
}

uint32_t *report_subsets(const struct profile *profile)
{
	uint32_t *order = calloc(profile->nr_subsets + 1UL, sizeof(*order));

	for (uint32_t i = 0; order && i < profile->nr_subsets; i++)
		order[i] = i;
	if (order)
		ARRAY_SORT_WITH(order, profile->nr_subsets, compare_subsets, profile->subsets);
	return order;
}

static uint64_t row_self(const struct profile *profile, const struct subset_row *row)
{
	return row->row == PROFILE_NONE ? 0 : profile->rows[row->row].self;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct report_rows *rows = arg;
	const struct subset_row *x = a, *y = b;
	int self = ORDER(row_self(rows->profile, y), row_self(rows->profile, x));
	int total = ORDER(y->total, x->total);
	int order = rows->query->by_total ? total ?: self : self ?: total;

	return order ?: ORDER(x->order, y->order);
}

/* --- rows ------------------------------------------------------------------------------------- */

int report_rows_init(struct report_rows *rows, const struct profile *profile,
                     const struct view_query *query)
{
	int err;

	*rows = (struct report_rows){.profile = profile, .query = query};
	err = profile_trees_init(&rows->trees, profile);
	return err ? err : subset_rows_init(&rows->of_subset, &rows->trees);
}

void report_rows_fini(struct report_rows *rows)
{
	subset_rows_fini(&rows->of_subset);
	profile_trees_fini(&rows->trees);
	free(rows->rows);
	rows->rows = NULL;
}

static bool is_shown(const struct report_rows *rows, uint32_t number)
{
	const struct subset_row *row = &rows->rows[number];
	uint64_t weight = rows->query->by_total ? row->total : row_self(rows->profile, row);

	return number < rows->query->limit && weight >= rows->least;
}

/* Keeps the first rows, as many as are shown. */
static void sort_rows(struct report_rows *rows)
{
	ARRAY_SORT_WITH(rows->rows, rows->nr, compare_rows, rows);
	for (; rows->nr && !is_shown(rows, rows->nr - 1); rows->nr_more++)
		rows->self_more += row_self(rows->profile, &rows->rows[--rows->nr]);
}

/* Where many are more than are shown, those that are not make room. */
static int make_room(struct report_rows *rows)
{
	if (rows->nr == rows->room && rows->nr / 2 > rows->query->limit)
		sort_rows(rows);
	return ARRAY_RESERVE(rows->rows, rows->room, rows->nr + 1);
}

/* It may be there by chance alone: its total is no more than the error of its self. */
static bool is_noise(const struct report_rows *rows, const struct subset_row *row)
{
	const struct profile_row of = report_row(rows->profile, row);

	return (double)row->total <= profile_error(&of);
}

static int add_row(struct report_rows *rows, const struct subset_row *row)
{
	if (!row->total)
		return 0;
	if (rows->fold && is_noise(rows, row)) {
		rows->nr_folded++;
		rows->nr_more++;
		rows->self_more += row_self(rows->profile, row);
		return 0;
	}
	if (make_room(rows))
		return -ENOMEM;
	rows->rows[rows->nr++] = *row;
	return 0;
}

/* Adds a row for unsampled weight. Its order puts it behind all sampled rows. */
static int add_unsampled(struct report_rows *rows, uint32_t number)
{
	const struct profile_row *row = &rows->profile->rows[number];

	return add_row(rows, &(struct subset_row){row->subset, row->name, number, row->self,
	                                          (uint64_t)UINT32_MAX << 32 | number});
}

static int add_subset(struct report_rows *rows, uint32_t subset)
{
	const struct profile_unsampled *unsampled = report_unsampled(rows->profile, subset);
	int err;

	if (unsampled)
		return add_unsampled(rows, unsampled->row);
	if (!rows->profile->subsets[subset].weight)
		return 0;
	err = profile_trees_make(&rows->trees, subset);
	if (!err)
		err = subset_rows_make(&rows->of_subset, subset);
	for (uint32_t i = 0; i < rows->of_subset.nr && !err; i++)
		err = add_row(rows, &rows->of_subset.rows[i]);
	return err;
}

static int add_subsets(struct report_rows *rows, uint32_t first, uint32_t end, bool fold)
{
	int err = 0;

	rows->fold = fold;
	rows->nr = rows->nr_more = rows->nr_folded = 0;
	rows->self_more = 0;
	for (uint32_t subset = first; subset < end && !err; subset++)
		err = add_subset(rows, subset);
	return err;
}

/*
 * Makes the rows of a range of subsets. With so few samples that every row is within its error, all
 * rows are shown: they are better than none.
 */
static int make_rows(struct report_rows *rows, uint32_t first, uint32_t end, uint64_t whole)
{
	int err;

	rows->least = (uint64_t)(rows->query->least * (double)whole);
	err = add_subsets(rows, first, end, rows->query->fold);
	if (!err && rows->nr_folded && rows->nr_folded == rows->nr_more && !rows->nr)
		err = add_subsets(rows, first, end, false);
	sort_rows(rows);
	return err;
}

int report_rows_of_all(struct report_rows *rows)
{
	return make_rows(rows, 0, rows->profile->nr_subsets, rows->profile->total);
}

int report_rows_of_subset(struct report_rows *rows, uint32_t subset)
{
	return make_rows(rows, subset, subset + 1, report_subset_whole(rows->profile, subset));
}

struct profile_row report_row(const struct profile *profile, const struct subset_row *row)
{
	if (row->row != PROFILE_NONE)
		return profile->rows[row->row];
	return (struct profile_row){.subset = row->subset,
	                            .name = row->name,
	                            .variance = profile_unmet_variance(profile)};
}

uint64_t report_subset_whole(const struct profile *profile, uint32_t subset)
{
	const struct profile_unsampled *unsampled = report_unsampled(profile, subset);

	return unsampled ? profile->rows[unsampled->row].self : profile->subsets[subset].weight;
}

/* --- cells ------------------------------------------------------------------------------------ */

const struct profile_unsampled *report_unsampled(const struct profile *profile, uint32_t subset)
{
	uint32_t nr = profile->subsets[subset].weight ? 0 : profile->nr_unsampled;

	for (uint32_t i = 0; i < nr; i++)
		if (profile->rows[profile->unsampled[i].row].subset == subset)
			return &profile->unsampled[i];
	return NULL;
}

/* "comm 17" or "comm 17/18" (process and thread) */
static void thread_text(const struct trace *trace, uint32_t thread, char text[CELL_SIZE])
{
	const struct trace_thread *entry = trace_thread(trace, thread);
	const char *comm = trace_command_name(trace, entry ? entry->comm : 0);

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
	const struct profile_unsampled *unsampled = report_unsampled(profile, row->subset);
	const char *comm = trace_command_name(profile->trace, unsampled->comm);
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
		snprintf(text, CELL_SIZE, "%s %d", trace_command_name(trace, entry->comm),
		         entry->pid);
}

void report_subset_text(const struct profile *profile, const struct profile_subset *subset,
                        enum profile_keys key, char text[CELL_SIZE])
{
	char memory[ACCESS_TEXT_SIZE];

	if (key & PROFILE_MEMORY_KEYS)
		snprintf(text, CELL_SIZE, "%s",
		         access_class_text(subset->memory, profile_memory_fields(key), memory));
	else if (key == PROFILE_BY_CPU)
		snprintf(text, CELL_SIZE, "%u", subset->cpu);
	else if (key == PROFILE_BY_PROCESS)
		process_text(profile->trace, subset->process, text);
	else if (key == PROFILE_BY_COMM)
		snprintf(text, CELL_SIZE, "%s", trace_command_name(profile->trace, subset->comm));
	else
		thread_text(profile->trace, subset->thread, text);
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
	/* A frame without a module, such as [truncated], is shown in one column only. */
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
		report_subset_text(profile, &profile->subsets[row->subset], key, text);
	return text;
}
