#include "output/report/report.h"
#include "output/profile/counter_columns.h"
#include "trace/selection.h"
#include "trace/rank_rows.h"
#include "output/report/function_table.h"
#include "output/report/report_annotation.h"
#include "output/views/job.h"
#include "output/views/report_rows.h"
#include "output/report/report_row_json.h"
#include "output/views/report_tree.h"
#include "output/profile/warnings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct report_out {
	struct json_writer json;
	const struct trace *trace;
	const struct view_query *query;
	const struct profile *profile;
	struct profile_view view;
	struct report_rows rows;
	struct profile_trees trees;
	struct table branches;
	struct counter_columns counters;
	struct rank_rows ranks; /* of threads */
};

/* --- counters --------------------------------------------------------------------------------- */

/* Puts {"cache-misses": 17, …}; null is unknown. */
static void put_counter_sums(struct report_out *out, const uint64_t *counters)
{
	const struct counter_columns *columns = &out->counters;

	json_begin(&out->json, "counters");
	for (unsigned i = 0; i < columns->nr_sums; i++) {
		const struct counter_column *column = &columns->columns[i];
		double value = 0;
		bool known = counter_column_value(column, counters, &value) && value < 0x1p63;

		if (column->state == COUNTER_COUNTED)
			json_number(&out->json, column->key, counters[1 + i]);
		else
			json_known(&out->json, column->key, known, (uint64_t)llround(value));
	}
	json_end(&out->json);
}

static void put_counter_ratios(struct report_out *out, const uint64_t *counters)
{
	const struct counter_columns *columns = &out->counters;
	double value;

	json_begin(&out->json, "ratios");
	for (unsigned i = columns->nr_sums; i < columns->nr; i++) {
		bool known = counter_column_value(&columns->columns[i], counters, &value);

		json_real(&out->json, columns->columns[i].key, known ? value : NAN);
	}
	json_end(&out->json);
}

/* Puts "counters" and "ratios", where there are any. */
static void put_counters(struct report_out *out, const uint64_t *counters)
{
	if (!out->counters.nr)
		return;
	put_counter_sums(out, counters);
	put_counter_ratios(out, counters);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void put_amounts(struct report_out *out, const struct profile_unsampled *unsampled)
{
	json_number(&out->json, "sampled", unsampled->sampled);
	json_number(&out->json, "exact", unsampled->exact);
}

static void put_row(struct report_out *out, struct table *table, const struct subset_row *of,
                    uint64_t whole)
{
	const struct profile_row row = report_row(out->profile, of);
	const struct profile_unsampled *unsampled =
		row.name == PROFILE_NONE ? report_unsampled(out->profile, row.subset) : NULL;

	table_begin(table);
	report_row_json(&out->json, out->profile, &row, out->query, NULL);
	put_function_cells(table, out->profile, of, whole);
	if (unsampled)
		put_amounts(out, unsampled);
	else
		put_counters(out, profile_counts_of(&out->profile->row_counts, of->row)->self);
	table_end(table);
}

static void put_rows(struct report_out *out, uint64_t whole)
{
	struct table table = {.columns = function_columns, .json = &out->json};

	json_begin_list(&out->json, "functions");
	for (uint32_t i = 0; i < out->rows.nr; i++)
		put_row(out, &table, &out->rows.rows[i], whole);
	json_end_list(&out->json);
}

static int put_thread(struct report_out *out, uint32_t number, uint64_t whole)
{
	const struct profile_subset *subset = &out->profile->subsets[number];
	const struct trace_thread *entry = trace_thread(out->trace, subset->thread);
	uint32_t rank = rank_row(&out->ranks, subset->thread);
	const struct profile_unsampled *unsampled = report_unsampled(out->profile, number);
	int err = report_rows_of_subset(&out->rows, number);

	json_begin(&out->json, NULL);
	if (!unsampled) {
		json_int(&out->json, "pid", entry ? entry->pid : 0);
		json_int(&out->json, "tid", entry ? entry->tid : 0);
	}
	json_text(&out->json, "comm", trace_string(out->trace, subset->comm));
	if (unsampled)
		report_mark_json(&out->json, unsampled);
	if (rank != RANK_NONE)
		json_int(&out->json, "rank", out->ranks.rows[rank].rank);
	json_number(&out->json, "total_weight", whole);
	put_rows(out, whole);
	json_end(&out->json);
	return err;
}

static int put_threads(struct report_out *out)
{
	uint32_t *order = report_subsets(out->profile);
	int err = rank_rows_init(&out->ranks, out->trace);
	uint32_t nr = 0;

	if (!order)
		err = -ENOMEM;
	json_begin_list(&out->json, "threads");
	for (uint32_t i = 0; i < out->profile->nr_subsets && nr < out->query->limit && !err; i++) {
		uint64_t whole = report_subset_whole(out->profile, order[i]);

		if (!whole)
			continue;
		nr++;
		err = put_thread(out, order[i], whole);
	}
	json_end_list(&out->json);
	rank_rows_fini(&out->ranks);
	free(order);
	return err;
}

/* --- trees ------------------------------------------------------------------------------------ */

static void put_children(struct report_out *out, const struct report_tree *tree, uint32_t parent);

static void put_subset_keys(struct report_out *out, uint32_t subset)
{
	struct profile_row row = {.subset = subset};

	if (out->profile->config.keys & PROFILE_BY_THREAD) {
		const struct view_query thread = {.keys = {PROFILE_BY_THREAD}, .nr_keys = 1};

		json_begin(&out->json, "thread");
		report_keys_json(&out->json, out->profile, &row, &thread, PROFILE_BY_THREAD);
		json_end(&out->json);
	}
	report_keys_json(&out->json, out->profile, &row, out->query,
	                 PROFILE_CLASS_KEYS & ~(unsigned)PROFILE_BY_THREAD);
}

static void put_branch(struct report_out *out, uint32_t others, uint64_t total,
                       const uint64_t *self)
{
	put_branch_cells(&out->branches, out->profile, &out->view, others, total, self);
}

static void put_sum(struct report_out *out, const struct report_branch *branch)
{
	table_begin(&out->branches);
	put_branch(out, branch->nr, branch->total, NULL);
	table_end(&out->branches);
}

static void put_unsampled(struct report_out *out, uint32_t number)
{
	const struct profile_unsampled *unsampled = &out->profile->unsampled[number];
	const struct profile_row *row = &out->profile->rows[unsampled->row];

	table_begin(&out->branches);
	report_row_json(&out->json, out->profile, row, out->query, NULL);
	put_branch(out, 0, row->self, &row->self);
	put_amounts(out, unsampled);
	json_begin_list(&out->json, "children");
	json_end_list(&out->json);
	table_end(&out->branches);
}

static void put_node(struct report_out *out, const struct report_tree *tree, uint32_t number)
{
	const struct path_node *node = &tree->of->nodes[number];
	const struct profile_row row = {.name = node->name};

	table_begin(&out->branches);
	report_keys_json(&out->json, out->profile, &row, out->query, ~(unsigned)PROFILE_CLASS_KEYS);
	put_branch(out, 0, node->total, &tree->of->self[number]);
	put_counters(out, profile_counts_of(&out->trees.counts, number)->total);
	put_children(out, tree, number);
	table_end(&out->branches);
}

static void put_children(struct report_out *out, const struct report_tree *tree, uint32_t parent)
{
	size_t nr;
	const struct report_branch *branch = report_tree_children(tree, parent, &nr);

	json_begin_list(&out->json, "children");
	for (size_t i = 0; i < nr; i++)
		if (branch[i].node != PROFILE_NONE)
			put_node(out, tree, branch[i].node);
		else if (branch[i].nr)
			put_sum(out, &branch[i]);
		else
			put_unsampled(out, branch[i].unsampled);
	json_end_list(&out->json);
}

/* A subset without branches is left out. */
static int put_subset(struct report_out *out, uint32_t subset)
{
	struct report_tree tree;
	size_t nr;

	if (profile_trees_make(&out->trees, subset) ||
	    report_tree_init(&tree, &out->trees, out->query, &out->view))
		return -ENOMEM;
	report_tree_children(&tree, 0, &nr);
	if (nr) {
		json_begin(&out->json, NULL);
		put_subset_keys(out, subset);
		put_children(out, &tree, 0);
		json_end(&out->json);
	}
	report_tree_fini(&tree);
	return 0;
}

/* Puts the unsampled weight of a command, beside the trees of subsets. */
static void put_unsampled_subset(struct report_out *out, uint32_t number)
{
	json_begin(&out->json, NULL);
	put_subset_keys(out, out->profile->rows[out->profile->unsampled[number].row].subset);
	report_mark_json(&out->json, &out->profile->unsampled[number]);
	json_begin_list(&out->json, "children");
	put_unsampled(out, number);
	json_end_list(&out->json);
	json_end(&out->json);
}

static int put_trees(struct report_out *out)
{
	const struct profile *profile = out->profile;
	bool subsets = profile->config.keys & PROFILE_CLASS_KEYS;
	bool whole = out->view.direction == PROFILE_ALL;
	int err = profile_trees_init(&out->trees, profile);

	out->branches = (struct table){
		.columns = tree_columns(out->view.direction),
		.json = &out->json,
	};
	json_begin_list(&out->json, "trees");
	for (uint32_t i = 0; i < profile->nr_subsets && !err; i++)
		if (profile->subsets[i].weight || (!i && !subsets))
			err = put_subset(out, i);
	for (uint32_t i = 0; i < profile->nr_unsampled && whole && subsets; i++)
		put_unsampled_subset(out, i);
	json_end_list(&out->json);
	profile_trees_fini(&out->trees);
	return err;
}

/* --- events ----------------------------------------------------------------------------------- */

static void put_scaled(struct report_out *out)
{
	json_begin_list(&out->json, "scaled");
	for (uint32_t i = 0; i < out->profile->nr_scaled; i++) {
		const struct profile_scaled *scaled = &out->profile->scaled[i];

		json_begin(&out->json, NULL);
		json_text(&out->json, "comm", trace_string(out->trace, scaled->comm));
		json_number(&out->json, "sampled", scaled->sampled);
		json_number(&out->json, "exact", scaled->exact);
		json_real(&out->json, "factor", (double)scaled->exact / (double)scaled->sampled);
		json_end(&out->json);
	}
	json_end_list(&out->json);
}

static uint64_t shown_wall(const struct profile *profile)
{
	const struct trace_run *run = trace_run(profile->trace);
	uint64_t from = selection_start(run, profile->config.selection);
	uint64_t until = selection_end(run, profile->config.selection);

	return until > from ? until - from : 0;
}

static void put_warnings(struct report_out *out)
{
	json_begin_list(&out->json, "warnings");
	warnings_of_run(out->trace, out->query->selection, json_append_text, &out->json);
	if (query_has_trees(out->query))
		warnings_of_callers(out->trace, json_append_text, &out->json);
	warnings_of_profile(out->profile, json_append_text, &out->json);
	json_end_list(&out->json);
}

static void put_head(struct report_out *out)
{
	const struct profile *profile = out->profile;
	const struct trace_event *event = trace_event(out->trace, profile->config.event);

	json_text(&out->json, "event", trace_string(out->trace, event->name));
	json_text(&out->json, "unit", trace_unit_name(event->unit));
	json_number(&out->json, "total_weight", profile->total);
	json_number(&out->json, "sampled_weight", profile->sampled);
	json_number(&out->json, "samples", profile->samples);
	put_warnings(out);
	put_scaled(out);
	json_number(&out->json, "wall_ns", shown_wall(profile));
	if (out->query->interval)
		json_number(&out->json, "interval_ns", out->query->interval);
	if (event->unit == TRACE_NS)
		json_number(&out->json, "cpu_time_ns", profile->total - profile->idle);
	if (out->counters.nr)
		json_number(&out->json, "counted", profile->counted[0]);
	put_counters(out, profile->counted);
}

/* Puts callers or callees: the function, and its trees. */
static int put_view(struct report_out *out)
{
	const struct profile_view *view = &out->view;

	json_begin(&out->json, "function");
	json_text(&out->json, "symbol", view->function);
	json_number(&out->json, "self", view->self);
	json_number(&out->json, "total", view->total);
	json_number(&out->json, "samples", view->samples);
	json_end(&out->json);
	json_text(&out->json, "direction",
	          view->direction == PROFILE_CALLERS ? "callers" : "callees");
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
	int err = report_rows_init(&out->rows, out->profile, out->query);

	if (!err)
		err = out->query->per_thread ? put_threads(out) : put_all_rows(out);
	report_rows_fini(&out->rows);
	return err || !out->query->tree ? err : put_trees(out);
}

static int put_event(struct report_out *out, uint32_t event)
{
	struct profile *profile = report_profile(out->trace, event, out->query, &out->view);
	int err;

	if (!profile)
		return -errno;
	out->profile = profile;
	counter_columns_init(&out->counters, out->trace, event);
	put_head(out);
	if (out->query->annotate)
		err = report_annotation_json(&out->json, profile, out->query);
	else
		err = out->view.direction == PROFILE_ALL ? put_tables(out) : put_view(out);
	profile_free(profile);
	return err;
}

/* The first event is the report's own; where there are more, all of them follow in an array. */
static int put_events(struct report_out *out)
{
	bool all = out->query->event == TRACE_ALL_EVENTS;
	int err = put_event(out, all ? 0 : out->query->event);

	if (err || !all || !trace_event(out->trace, 1))
		return err;
	json_begin_list(&out->json, "events");
	for (uint32_t i = 0; trace_event(out->trace, i) && !err; i++) {
		json_begin(&out->json, NULL);
		err = put_event(out, i);
		json_end(&out->json);
	}
	json_end_list(&out->json);
	return err;
}

int report_json_keys(struct json_writer *json, const struct trace *trace,
                     const struct view_query *query)
{
	struct report_out *out = calloc(1, sizeof(*out));
	int err;

	if (!out)
		return -ENOMEM;
	out->json = *json;
	out->trace = trace;
	out->query = query;
	err = put_events(out);
	*json = out->json;
	free(out);
	return err;
}

int report_json(FILE *to, const struct trace *trace, const struct view_query *query)
{
	struct json_writer json = {.to = to};
	int err;

	json_begin(&json, NULL);
	err = report_json_keys(&json, trace, query);
	if (!err && job_has_calls(trace, query))
		err = report_calls_json(&json, trace, query);
	json_end(&json);
	fputc('\n', to);
	return err;
}
