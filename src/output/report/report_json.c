#include "output/profile/counter_columns.h"
#include "output/text/json_text.h"
#include "trace/selection.h"
#include "trace/rank_rows.h"
#include "output/report/report_annotation.h"
#include "output/views/job.h"
#include "output/views/report_profile.h"
#include "output/report/report_row_json.h"
#include "output/views/report_rows.h"
#include "output/views/report_tree.h"
#include "output/profile/warnings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct report_out {
	struct json_out json;
	const struct trace *trace;
	const struct report_options *options;
	const struct profile *profile;
	struct profile_view view;
	struct report_rows rows;
	struct profile_trees trees;
	struct counter_columns counters;
	struct rank_rows ranks; /* of threads */
};

/* --- counters --------------------------------------------------------------------------------- */

/* {"cache-misses": 17, …}; what is not known is null. */
static struct json_object *counter_sums(const struct counter_columns *columns,
                                        const uint64_t *counters)
{
	struct json_object *object = json_new();
	double value;

	for (unsigned i = 0; i < columns->nr_sums; i++) {
		const struct counter_column *column = &columns->columns[i];
		struct json_object *number = NULL;

		if (column->state == COUNTER_COUNTED)
			number = json_number(counters[1 + i]);
		else if (counter_column_value(column, counters, &value) && value < 0x1p63)
			number = json_number((uint64_t)llround(value));
		json_add_named(object, column->key, number);
	}
	return object;
}

static struct json_object *counter_ratios(const struct counter_columns *columns,
                                          const uint64_t *counters)
{
	struct json_object *object = json_new();
	double value;

	for (unsigned i = columns->nr_sums; i < columns->nr; i++) {
		const struct counter_column *column = &columns->columns[i];
		bool known = counter_column_value(column, counters, &value);

		json_add_named(object, column->key, known ? json_real(value) : NULL);
	}
	return object;
}

/* "counters" and "ratios", where there are any. */
static void add_counters(const struct report_out *out, const uint64_t *counters,
                         struct json_object *object)
{
	if (!out->counters.nr)
		return;
	json_add(object, "counters", counter_sums(&out->counters, counters));
	json_add(object, "ratios", counter_ratios(&out->counters, counters));
}

/* --- rows ------------------------------------------------------------------------------------- */

/*
 * Returns the error of a row, rounded up: half an occurrence can be much of a small count, and no
 * row may look more certain than it is.
 */
static uint64_t row_error(const struct profile_row *row, uint64_t whole)
{
	double error = ceil(profile_error(row));

	return error < (double)whole ? (uint64_t)error : whole;
}

static struct json_object *row_object(struct report_out *out, const struct class_row *of,
                                      uint64_t whole)
{
	const struct profile_row row = report_row(out->profile, of);
	const struct profile_unsampled *unsampled =
		row.name == PROFILE_NONE ? report_unsampled(out->profile, row.class) : NULL;
	struct json_object *object = json_new();

	report_row_json(out->profile, &row, out->options, object);
	json_add_number(object, "self", row.self);
	json_add_number(object, "total", of->total);
	json_add_number(object, "samples", row.samples);
	json_add_number(object, "error", row_error(&row, whole));
	if (unsampled) {
		json_add_number(object, "sampled", unsampled->sampled);
		json_add_number(object, "exact", unsampled->exact);
	} else {
		add_counters(out, profile_counts_of(&out->profile->row_counts, of->row)->self,
		             object);
	}
	return object;
}

static void put_rows(struct report_out *out, uint64_t whole)
{
	fputs("\"functions\":[", out->json.to);
	for (uint32_t i = 0; i < out->rows.nr; i++) {
		if (i)
			fputc(',', out->json.to);
		json_put(&out->json, row_object(out, &out->rows.rows[i], whole));
	}
	fputc(']', out->json.to);
}

static struct json_object *thread_object(const struct report_out *out, uint32_t number,
                                         uint64_t whole)
{
	const struct profile_class *class = &out->profile->classes[number];
	const struct trace_thread *entry = trace_thread(out->trace, class->thread);
	uint32_t rank = rank_row(&out->ranks, class->thread);
	struct json_object *object = json_new();

	if (!report_unsampled(out->profile, number)) {
		json_add_int(object, "pid", entry ? entry->pid : 0);
		json_add_int(object, "tid", entry ? entry->tid : 0);
	}
	json_add_text(object, "comm", trace_string(out->trace, class->comm));
	if (rank != RANK_NONE)
		json_add_int(object, "rank", out->ranks.rows[rank].rank);
	json_add_number(object, "total_weight", whole);
	return object;
}

static int put_thread(struct report_out *out, uint32_t class, uint64_t whole)
{
	int err = report_rows_of_class(&out->rows, class);

	fputc('{', out->json.to);
	json_put_members(&out->json, thread_object(out, class, whole));
	put_rows(out, whole);
	fputc('}', out->json.to);
	return err;
}

static int put_threads(struct report_out *out)
{
	uint32_t *order = report_classes(out->profile);
	int err = rank_rows_init(&out->ranks, out->trace);
	uint32_t nr = 0;

	if (!order)
		err = -ENOMEM;
	fputs("\"threads\":[", out->json.to);
	for (uint32_t i = 0; i < out->profile->nr_classes && !err; i++) {
		uint64_t whole = report_class_whole(out->profile, order[i]);

		if (!whole)
			continue;
		if (nr == out->options->limit)
			break;
		if (nr++)
			fputc(',', out->json.to);
		err = put_thread(out, order[i], whole);
	}
	fputc(']', out->json.to);
	rank_rows_fini(&out->ranks);
	free(order);
	return err;
}

/* --- trees ------------------------------------------------------------------------------------ */

static void put_children(struct report_out *out, const struct report_tree *tree, uint32_t parent);

static struct json_object *name_object(struct report_out *out, const struct profile_row *row)
{
	struct json_object *object = json_new();

	for (unsigned k = 0; k < out->options->nr_keys; k++)
		if (!(out->options->keys[k] & PROFILE_CLASS_KEYS))
			report_key_json(out->profile, row, out->options->keys[k], object);
	return object;
}

static struct json_object *class_object(struct report_out *out, uint32_t class)
{
	struct json_object *object = json_new(), *thread;
	struct profile_row row = {.class = class};

	if (out->profile->config.keys & PROFILE_BY_THREAD) {
		thread = json_new();
		report_key_json(out->profile, &row, PROFILE_BY_THREAD, thread);
		json_add(object, "thread", thread);
	}
	for (unsigned k = 0; k < out->options->nr_keys; k++)
		if (out->options->keys[k] & PROFILE_CLASS_KEYS & ~(unsigned)PROFILE_BY_THREAD)
			report_key_json(out->profile, &row, out->options->keys[k], object);
	return object;
}

/* Returns the counts of a node and of all nodes below it. */
static struct json_object *counts_object(const struct report_out *out, uint32_t node)
{
	struct json_object *object = json_new();

	add_counters(out, profile_counts_of(&out->trees.counts, node)->total, object);
	return object;
}

static struct json_object *sum_object(const struct report_branch *branch)
{
	struct json_object *object = json_new();

	json_add_number(object, "others", branch->nr);
	json_add_number(object, "total", branch->total);
	return object;
}

static struct json_object *unsampled_object(struct report_out *out, uint32_t number)
{
	const struct profile_row *row = &out->profile->rows[out->profile->unsampled[number].row];
	struct json_object *object = json_new();

	report_row_json(out->profile, row, out->options, object);
	json_add_number(object, "self", row->self);
	json_add_number(object, "total", row->self);
	json_add(object, "children", json_list());
	return object;
}

static void put_branch(struct report_out *out, const struct report_tree *tree,
                       const struct report_branch *branch)
{
	const struct path_node *node;
	struct profile_row row;

	if (branch->node == PROFILE_NONE) {
		json_put(&out->json, branch->nr ? sum_object(branch)
		                                : unsampled_object(out, branch->unsampled));
		return;
	}
	fputc('{', out->json.to);
	node = &tree->of->nodes[branch->node];
	row = (struct profile_row){.name = node->name};
	json_put_members(&out->json, name_object(out, &row));
	if (out->view.direction != PROFILE_CALLERS) {
		json_put_member(&out->json, "self", json_number(tree->of->self[branch->node]));
		fputc(',', out->json.to);
	}
	json_put_member(&out->json, "total", json_number(node->total));
	fputc(',', out->json.to);
	json_put_members(&out->json, counts_object(out, branch->node));
	put_children(out, tree, branch->node);
	fputc('}', out->json.to);
}

static void put_children(struct report_out *out, const struct report_tree *tree, uint32_t parent)
{
	size_t nr;
	const struct report_branch *branch = report_tree_children(tree, parent, &nr);

	fputs("\"children\":[", out->json.to);
	for (size_t i = 0; i < nr; i++) {
		if (i)
			fputc(',', out->json.to);
		put_branch(out, tree, &branch[i]);
	}
	fputc(']', out->json.to);
}

/* One without branches is left out. */
static int put_class(struct report_out *out, uint32_t class, bool *first)
{
	struct report_tree tree;
	size_t nr;

	if (profile_trees_make(&out->trees, class) ||
	    report_tree_init(&tree, &out->trees, out->options, &out->view))
		return -ENOMEM;
	report_tree_children(&tree, 0, &nr);
	if (nr) {
		fputs(*first ? "{" : ",{", out->json.to);
		json_put_members(&out->json, class_object(out, class));
		put_children(out, &tree, 0);
		fputc('}', out->json.to);
		*first = false;
	}
	report_tree_fini(&tree);
	return 0;
}

/* Prints the unsampled weight of a command, beside the trees of classes. */
static void put_unsampled_class(struct report_out *out, uint32_t number)
{
	const struct profile_unsampled *unsampled = &out->profile->unsampled[number];
	struct json_object *object = class_object(out, out->profile->rows[unsampled->row].class);
	struct json_object *children = json_list();

	json_append(children, unsampled_object(out, number));
	json_add(object, "children", children);
	json_put(&out->json, object);
}

static int put_trees(struct report_out *out)
{
	const struct profile *profile = out->profile;
	bool classes = profile->config.keys & PROFILE_CLASS_KEYS, first = true;
	bool whole = out->view.direction == PROFILE_ALL;
	int err = profile_trees_init(&out->trees, profile);

	fputs("\"trees\":[", out->json.to);
	for (uint32_t i = 0; i < profile->nr_classes && !err; i++)
		if (profile->classes[i].weight || (!i && !classes))
			err = put_class(out, i, &first);
	for (uint32_t i = 0; i < profile->nr_unsampled && whole && classes; i++) {
		fputs(first ? "" : ",", out->json.to);
		put_unsampled_class(out, i);
		first = false;
	}
	fputc(']', out->json.to);
	profile_trees_fini(&out->trees);
	return err;
}

/* --- events ----------------------------------------------------------------------------------- */

static struct json_object *scaled_object(const struct report_out *out,
                                         const struct profile_scaled *scaled)
{
	struct json_object *object = json_new();

	json_add_text(object, "comm", trace_string(out->trace, scaled->comm));
	json_add_number(object, "sampled", scaled->sampled);
	json_add_number(object, "exact", scaled->exact);
	json_add_real(object, "factor", (double)scaled->exact / (double)scaled->sampled);
	return object;
}

static struct json_object *scaled_list(const struct report_out *out)
{
	struct json_object *array = json_list();

	for (uint32_t i = 0; i < out->profile->nr_scaled; i++)
		json_append(array, scaled_object(out, &out->profile->scaled[i]));
	return array;
}

static uint64_t shown_wall(const struct profile *profile)
{
	const struct trace_run *run = trace_run(profile->trace);
	uint64_t from = selection_start(run, profile->config.selection);
	uint64_t until = selection_end(run, profile->config.selection);

	return until > from ? until - from : 0;
}

static struct json_object *event_object(const struct report_out *out)
{
	const struct profile *profile = out->profile;
	const struct trace_event *event = trace_event(out->trace, profile->config.event);
	struct json_object *object = json_new(), *warnings = json_list();

	warnings_of_run(out->trace, json_append_text, warnings);
	if (report_shows_callers(out->options))
		warnings_of_callers(out->trace, json_append_text, warnings);
	warnings_of_profile(profile, json_append_text, warnings);
	json_add_text(object, "event", trace_string(out->trace, event->name));
	json_add_text(object, "unit", trace_unit_name(event->unit));
	json_add_number(object, "total_weight", profile->total);
	json_add_number(object, "sampled_weight", profile->sampled);
	json_add_number(object, "samples", profile->samples);
	json_add(object, "warnings", warnings);
	json_add(object, "scaled", scaled_list(out));
	json_add_number(object, "wall_ns", shown_wall(profile));
	if (event->unit == TRACE_NS)
		json_add_number(object, "cpu_time_ns", profile->total - profile->idle);
	if (out->counters.nr)
		json_add_number(object, "counted", profile->counted[0]);
	add_counters(out, profile->counted, object);
	return object;
}

/* Callers or callees: the function, and its trees. */
static int put_view(struct report_out *out)
{
	const struct profile_view *view = &out->view;
	struct json_object *object = json_new(), *function = json_new();
	const char *which = view->direction == PROFILE_CALLERS ? "callers" : "callees";

	json_add_text(function, "symbol", view->function);
	json_add_number(function, "self", view->self);
	json_add_number(function, "total", view->total);
	json_add_number(function, "samples", view->samples);
	json_add(object, "function", function);
	json_add_text(object, "direction", which);
	json_put_members(&out->json, object);
	return put_trees(out);
}

static int put_all_rows(struct report_out *out)
{
	int err = report_rows_of_all(&out->rows);

	put_rows(out, out->profile->total);
	return err;
}

static int put_tables(struct report_out *out)
{
	int err = report_rows_init(&out->rows, out->profile, out->options);

	if (!err)
		err = out->options->per_thread ? put_threads(out) : put_all_rows(out);
	report_rows_fini(&out->rows);
	if (err || !out->options->tree)
		return err;
	fputc(',', out->json.to);
	return put_trees(out);
}

static int put_event(struct report_out *out, uint32_t event)
{
	struct profile *profile = report_profile(out->trace, event, out->options, &out->view);
	int err;

	if (!profile)
		return -errno;
	out->profile = profile;
	counter_columns_init(&out->counters, out->trace, event);
	json_put_members(&out->json, event_object(out));
	if (out->options->annotate)
		err = report_annotation_json(&out->json, profile, out->options);
	else
		err = out->view.direction == PROFILE_ALL ? put_tables(out) : put_view(out);
	profile_free(profile);
	return err;
}

/* The first event is the report's own; where there are more, all of them follow in an array. */
static int put_events(struct report_out *out)
{
	bool all = out->options->event == TRACE_ALL_EVENTS;
	int err = put_event(out, all ? 0 : out->options->event);

	if (err || !all || !trace_event(out->trace, 1))
		return err;
	fputs(",\"events\":[", out->json.to);
	for (uint32_t i = 0; trace_event(out->trace, i) && !err; i++) {
		fputs(i ? ",{" : "{", out->json.to);
		err = put_event(out, i);
		fputc('}', out->json.to);
	}
	fputc(']', out->json.to);
	return err;
}

static int put_calls(struct report_out *out)
{
	struct json_object *calls = report_calls_object(out->trace, out->options);

	if (!calls)
		return -errno;
	fputc(',', out->json.to);
	json_put_member(&out->json, "calls", calls);
	return 0;
}

int report_json(FILE *to, const struct trace *trace, const struct report_options *options)
{
	struct report_out *out = calloc(1, sizeof(*out));
	int err;

	if (!out)
		return -ENOMEM;
	out->json.to = to;
	out->trace = trace;
	out->options = options;
	fputc('{', to);
	err = put_events(out);
	if (!err && report_has_calls(trace, options))
		err = put_calls(out);
	fputs("}\n", to);
	err = err ? err : out->json.err;
	free(out);
	return err;
}
