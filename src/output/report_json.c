#include "output/json_text.h"
#include "output/report.h"
#include "output/report_rows.h"
#include "output/report_tree.h"
#include "output/warnings.h"

#include <errno.h>
#include <stdlib.h>

struct report_out {
	FILE *to;
	const struct trace *trace;
	const struct report_options *options;
	const struct profile *profile;
	struct report_rows rows;
	char text[CELL_SIZE];
};

/* --- rows ------------------------------------------------------------------------------------- */

static void add_thread(const struct trace *trace, uint32_t thread, struct json_object *object)
{
	const struct trace_thread *entry = trace_thread(trace, thread);

	json_object_object_add(object, "pid", json_object_new_int(entry ? entry->pid : 0));
	json_object_object_add(object, "tid", json_object_new_int(entry ? entry->tid : 0));
	json_object_object_add(object, "comm",
	                       json_text(entry ? trace_string(trace, entry->comm) : ""));
}

static void add_source(struct report_out *out, const struct profile_row *row, enum profile_keys key,
                       struct json_object *object)
{
	static const struct frame_name none;
	const struct frame_name *name =
		row->name == PROFILE_NONE ? &none : &out->profile->names.names[row->name];

	json_object_object_add(object, "file",
	                       name->file ? json_text(trace_string(out->trace, name->file)) : NULL);
	if (key == PROFILE_BY_LINE)
		json_object_object_add(object, "line", name->line ? json_number(name->line) : NULL);
}

static void add_key(struct report_out *out, const struct profile_row *row, enum profile_keys key,
                    struct json_object *object)
{
	const struct profile_class *class = &out->profile->classes[row->class];

	report_cell(out->profile, row, key, out->text);
	if (key == PROFILE_BY_SYMBOL)
		json_object_object_add(object, "symbol", json_text(out->text));
	else if (key == PROFILE_BY_MODULE)
		json_object_object_add(object, "module", json_text(out->text));
	else if (key == PROFILE_BY_COMM)
		json_object_object_add(object, "comm",
		                       json_text(trace_string(out->trace, class->comm)));
	else if (key == PROFILE_BY_FILE || key == PROFILE_BY_LINE)
		add_source(out, row, key, object);
	else if (key == PROFILE_BY_THREAD)
		add_thread(out->trace, class->thread, object);
	else if (class->cpu != PROFILE_NONE)
		json_object_object_add(object, "cpu", json_number(class->cpu));
}

static struct json_object *row_object(struct report_out *out, const struct profile_row *row)
{
	const struct profile_unsampled *unsampled = report_unsampled(out->profile, row);
	struct json_object *object = json_object_new_object();

	for (unsigned k = 0; k < out->options->nr_keys; k++)
		add_key(out, row, out->options->keys[k], object);
	json_object_object_add(object, "self", json_number(row->self));
	json_object_object_add(object, "total", json_number(row->total));
	json_object_object_add(object, "samples", json_number(row->samples));
	json_object_object_add(object, "error", json_number((uint64_t)(profile_error(row) + 0.5)));
	if (unsampled) {
		json_object_object_add(object, unsampled->unobserved ? "unobserved" : "unsampled",
		                       json_object_new_boolean(true));
		json_object_object_add(object, "sampled", json_number(unsampled->sampled));
		json_object_object_add(object, "exact", json_number(unsampled->exact));
	}
	return object;
}

static void put_rows(struct report_out *out, uint32_t first, uint32_t end)
{
	fputs("\"functions\":[", out->to);
	for (uint32_t i = first; i < end && i - first < out->options->limit; i++) {
		if (i > first)
			fputc(',', out->to);
		json_put(out->to, row_object(out, &out->profile->rows[out->rows.rows[i]]));
	}
	fputc(']', out->to);
}

static void put_thread(struct report_out *out, uint32_t first, uint32_t end)
{
	const struct profile *profile = out->profile;
	const struct profile_row *row = &profile->rows[out->rows.rows[first]];
	const struct profile_class *class = &profile->classes[row->class];
	bool sampled = row->name != PROFILE_NONE;

	fputc('{', out->to);
	if (sampled) {
		const struct trace_thread *entry = trace_thread(out->trace, class->thread);

		json_put_member(out->to, "pid", json_object_new_int(entry ? entry->pid : 0));
		fputc(',', out->to);
		json_put_member(out->to, "tid", json_object_new_int(entry ? entry->tid : 0));
		fputc(',', out->to);
	}
	json_put_member(out->to, "comm", json_text(trace_string(out->trace, class->comm)));
	fputc(',', out->to);
	json_put_member(out->to, "total_weight",
	                json_number(sampled ? profile->nodes[class->root].total : row->self));
	fputc(',', out->to);
	put_rows(out, first, end);
	fputc('}', out->to);
}

static void put_threads(struct report_out *out)
{
	uint32_t end;

	fputs("\"threads\":[", out->to);
	for (uint32_t first = 0; first < out->rows.nr; first = end) {
		end = report_rows_class_end(&out->rows, first);
		if (first)
			fputc(',', out->to);
		put_thread(out, first, end);
	}
	fputc(']', out->to);
}

/* --- trees ------------------------------------------------------------------------------------ */

static void put_children(struct report_out *out, const struct report_tree *tree, uint32_t parent);

static void put_branch(struct report_out *out, const struct report_tree *tree,
                       const struct report_branch *branch)
{
	const struct profile *profile = out->profile;
	const struct profile_node *node;

	fputc('{', out->to);
	if (branch->node == PROFILE_NONE) {
		json_put_member(out->to, "others", json_number(branch->nr));
		fputc(',', out->to);
		json_put_member(out->to, "total", json_number(branch->total));
		fputc('}', out->to);
		return;
	}
	node = &profile->nodes[branch->node];
	report_cell(profile, &profile->rows[node->row], PROFILE_BY_SYMBOL, out->text);
	json_put_member(out->to, "symbol", json_text(out->text));
	fputc(',', out->to);
	report_cell(profile, &profile->rows[node->row], PROFILE_BY_MODULE, out->text);
	json_put_member(out->to, "module", json_text(out->text));
	fputc(',', out->to);
	json_put_member(out->to, "self", json_number(node->self));
	fputc(',', out->to);
	json_put_member(out->to, "total", json_number(node->total));
	fputc(',', out->to);
	put_children(out, tree, branch->node);
	fputc('}', out->to);
}

static void put_children(struct report_out *out, const struct report_tree *tree, uint32_t parent)
{
	size_t nr;
	const struct report_branch *branch = report_tree_children(tree, parent, &nr);

	fputs("\"children\":[", out->to);
	for (size_t i = 0; i < nr; i++) {
		if (i)
			fputc(',', out->to);
		put_branch(out, tree, &branch[i]);
	}
	fputc(']', out->to);
}

static int put_trees(struct report_out *out)
{
	const struct profile *profile = out->profile;
	struct report_tree tree;
	bool first = true;

	if (report_tree_init(&tree, profile, out->options->all ? 0 : profile->total / 200))
		return -ENOMEM;
	fputs(",\"trees\":[", out->to);
	for (uint32_t i = 0; i < profile->nr_classes; i++) {
		const struct profile_class *class = &profile->classes[i];

		if (!profile->nodes[class->root].total)
			continue;
		fputs(first ? "{" : ",{", out->to);
		if (profile->config.keys & PROFILE_BY_THREAD) {
			struct json_object *thread = json_object_new_object();

			add_thread(out->trace, class->thread, thread);
			json_put_member(out->to, "thread", thread);
			fputc(',', out->to);
		}
		put_children(out, &tree, class->root);
		fputc('}', out->to);
		first = false;
	}
	fputc(']', out->to);
	report_tree_fini(&tree);
	return 0;
}

/* --- events ----------------------------------------------------------------------------------- */

static void add_warning(void *arg, const char *text)
{
	json_object_array_add(arg, json_text(text));
}

static void put_event_head(struct report_out *out)
{
	const struct profile *profile = out->profile;
	const struct trace_event *event = trace_event(out->trace, profile->config.event);
	struct json_object *warnings = json_object_new_array();

	warnings_of_run(out->trace, add_warning, warnings);
	warnings_of_profile(profile, add_warning, warnings);
	json_put_member(out->to, "event", json_text(trace_string(out->trace, event->name)));
	fputc(',', out->to);
	json_put_member(out->to, "unit",
	                json_object_new_string(event->unit == TRACE_NS ? "ns" : "count"));
	fputc(',', out->to);
	json_put_member(out->to, "total_weight", json_number(profile->total));
	fputc(',', out->to);
	json_put_member(out->to, "sampled_weight", json_number(profile->sampled));
	fputc(',', out->to);
	json_put_member(out->to, "samples", json_number(profile->samples));
	fputc(',', out->to);
	json_put_member(out->to, "warnings", warnings);
	fputc(',', out->to);
}

static int put_event_body(struct report_out *out)
{
	int err = report_rows_init(&out->rows, out->profile, out->options->per_thread);

	if (err)
		return err;
	put_event_head(out);
	if (out->options->per_thread)
		put_threads(out);
	else
		put_rows(out, 0, out->rows.nr);
	if (out->options->tree)
		err = put_trees(out);
	report_rows_fini(&out->rows);
	return err;
}

static int put_event(struct report_out *out, uint32_t event)
{
	const struct report_options *options = out->options;
	struct profile_config config = {
		.event = event,
		.keys = options->no_inline ? 0 : PROFILE_INLINED,
		.from = options->from,
		.to = options->to,
	};
	struct profile *profile;
	int err;

	for (unsigned k = 0; k < options->nr_keys; k++)
		config.keys |= options->keys[k];
	if (options->per_thread)
		config.keys |= PROFILE_BY_THREAD;
	profile = profile_new(out->trace, &config);
	if (!profile)
		return -errno;
	out->profile = profile;
	err = put_event_body(out);
	profile_free(profile);
	return err;
}

/* The first event is the report's own; where there are more, all of them follow in an array. */
int report_json(FILE *to, const struct trace *trace, const struct report_options *options)
{
	struct report_out *out = calloc(1, sizeof(*out));
	bool all = options->event == TRACE_ALL_EVENTS;
	int err;

	if (!out)
		return -ENOMEM;
	out->to = to;
	out->trace = trace;
	out->options = options;
	fputc('{', to);
	err = put_event(out, all ? 0 : options->event);
	if (!err && all && trace_event(trace, 1)) {
		fputs(",\"events\":[", to);
		for (uint32_t i = 0; trace_event(trace, i) && !err; i++) {
			fputs(i ? ",{" : "{", to);
			err = put_event(out, i);
			fputc('}', to);
		}
		fputc(']', to);
	}
	fputs("}\n", to);
	free(out);
	return err;
}
