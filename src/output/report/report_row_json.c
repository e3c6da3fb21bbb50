#include "output/report/report_row_json.h"
#include "output/views/report_keys.h"
#include "output/views/report_rows.h"

/* Adds the thread of a class. Unsampled weight has a command only. */
static void add_thread(const struct trace *trace, const struct profile_class *class,
                       struct json_object *object)
{
	const struct trace_thread *entry = trace_thread(trace, class->thread);

	json_add_int(object, "pid", entry ? entry->pid : 0);
	json_add_int(object, "tid", entry ? entry->tid : 0);
	json_add_text(object, "comm", trace_string(trace, entry ? entry->comm : class->comm));
}

static void add_process(const struct trace *trace, const struct profile_class *class,
                        struct json_object *object)
{
	const struct trace_thread *entry = trace_thread(trace, class->process);

	json_add_int(object, "pid", entry ? entry->pid : 0);
	json_add_text(object, "process", trace_string(trace, entry ? entry->comm : class->comm));
}

static void add_source(const struct profile *profile, const struct profile_row *row,
                       enum profile_keys key, struct json_object *object)
{
	static const struct frame_name none;
	const struct frame_name *name =
		row->name == PROFILE_NONE ? &none : &profile->names.names[row->name];

	json_add_text(object, "file", name->file ? trace_string(profile->trace, name->file) : NULL);
	if (key == PROFILE_BY_LINE)
		json_add(object, "line", name->line ? json_number(name->line) : NULL);
}

void report_key_json(const struct profile *profile, const struct profile_row *row,
                     enum profile_keys key, struct json_object *object)
{
	const struct profile_class *class = &profile->classes[row->class];
	char text[CELL_SIZE];

	if (key & (PROFILE_BY_SYMBOL | PROFILE_BY_MODULE | PROFILE_MEMORY_KEYS))
		json_add_text(object, report_key_name(key), report_cell(profile, row, key, text));
	else if (key == PROFILE_BY_COMM)
		json_add_text(object, "comm", trace_string(profile->trace, class->comm));
	else if (key == PROFILE_BY_FILE || key == PROFILE_BY_LINE)
		add_source(profile, row, key, object);
	else if (key == PROFILE_BY_THREAD)
		add_thread(profile->trace, class, object);
	else if (key == PROFILE_BY_PROCESS)
		add_process(profile->trace, class, object);
	else if (class->cpu != PROFILE_NONE)
		json_add_number(object, "cpu", class->cpu);
}

void report_row_json(const struct profile *profile, const struct profile_row *row,
                     const struct report_options *options, struct json_object *object)
{
	const struct profile_unsampled *unsampled = NULL;

	if (row->name == PROFILE_NONE)
		unsampled = report_unsampled(profile, row->class);
	for (unsigned k = 0; k < options->nr_keys; k++)
		report_key_json(profile, row, options->keys[k], object);
	if (!unsampled)
		return;
	json_add_text(object, "comm", trace_string(profile->trace, unsampled->comm));
	json_add_flag(object, unsampled->why == PROFILE_UNOBSERVED ? "unobserved" : "unsampled",
	              true);
}
