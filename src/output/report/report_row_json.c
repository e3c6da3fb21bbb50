#include "output/report/report_row_json.h"
#include "output/text/text.h"
#include "output/views/report_rows.h"

#include <string.h>

struct row_json {
	struct json_writer *json;
	const struct profile *profile;
	const struct profile_row *row;
	const struct profile_unsampled *unsampled;
	const char *symbol;
};

struct member {
	enum profile_keys key;
	const char *name;
	void (*put)(const struct row_json *out, const struct member *member);
};

static void put_cell(const struct row_json *out, const struct member *member)
{
	bool given =
		out->symbol && member->key == PROFILE_BY_SYMBOL && out->row->name != PROFILE_NONE;
	char text[CELL_SIZE];

	json_text(out->json, member->name,
	          given ? out->symbol : report_cell(out->profile, out->row, member->key, text));
}

static const struct profile_subset *subset_of(const struct row_json *out)
{
	return &out->profile->subsets[out->row->subset];
}

/* NULL: unsampled weight has a command only. */
static const struct trace_thread *task_of(const struct row_json *out, const struct member *member)
{
	return trace_thread(out->profile->trace, member->key == PROFILE_BY_PROCESS
	                                                 ? subset_of(out)->process
	                                                 : subset_of(out)->thread);
}

static void put_pid(const struct row_json *out, const struct member *member)
{
	const struct trace_thread *task = task_of(out, member);

	json_int(out->json, member->name, task ? task->pid : 0);
}

static void put_tid(const struct row_json *out, const struct member *member)
{
	const struct trace_thread *task = task_of(out, member);

	json_int(out->json, member->name, task ? task->tid : 0);
}

static void put_comm(const struct row_json *out, const struct member *member)
{
	const struct trace_thread *task = task_of(out, member);
	uint32_t comm = task && member->key != PROFILE_BY_COMM ? task->comm : subset_of(out)->comm;

	if (out->unsampled && member->key != PROFILE_BY_PROCESS)
		comm = out->unsampled->comm;
	json_text(out->json, member->name, trace_string(out->profile->trace, comm));
}

static const struct frame_name *source_of(const struct row_json *out)
{
	static const struct frame_name none;

	return out->row->name == PROFILE_NONE ? &none : &out->profile->names.names[out->row->name];
}

/* Traces are compared by the names of files alone where paths have no column of their own. */
static void put_file(const struct row_json *out, const struct member *member)
{
	const struct frame_name *name = source_of(out);
	const char *path = name->file ? trace_string(out->profile->trace, name->file) : NULL;

	if (path && out->symbol && !(out->profile->config.keys & PROFILE_BY_FILE))
		path = text_file_name(path);
	json_text(out->json, member->name, path);
}

static void put_line(const struct row_json *out, const struct member *member)
{
	json_known(out->json, member->name, source_of(out)->line, source_of(out)->line);
}

static void put_cpu(const struct row_json *out, const struct member *member)
{
	if (subset_of(out)->cpu != PROFILE_NONE)
		json_number(out->json, member->name, subset_of(out)->cpu);
}

static const struct member members[] = {
	{PROFILE_BY_SYMBOL, "symbol", put_cell},   {PROFILE_BY_MODULE, "module", put_cell},
	{PROFILE_BY_MEM, "mem", put_cell},         {PROFILE_BY_OPERATION, "op", put_cell},
	{PROFILE_BY_TLB, "tlb", put_cell},         {PROFILE_BY_SNOOP, "snoop", put_cell},
	{PROFILE_BY_LATENCY, "latency", put_cell}, {PROFILE_BY_COMM, "comm", put_comm},
	{PROFILE_BY_THREAD, "pid", put_pid},       {PROFILE_BY_THREAD, "tid", put_tid},
	{PROFILE_BY_THREAD, "comm", put_comm},     {PROFILE_BY_PROCESS, "pid", put_pid},
	{PROFILE_BY_PROCESS, "process", put_comm}, {PROFILE_BY_CPU, "cpu", put_cpu},
	{PROFILE_BY_FILE, "file", put_file},       {PROFILE_BY_LINE, "file", put_file},
	{PROFILE_BY_LINE, "line", put_line},
};

#define NR_MEMBERS (sizeof(members) / sizeof(*members))

/* Returns the member of this name and key, or NULL. */
static const struct member *find_member(enum profile_keys key, const char *name)
{
	for (size_t i = 0; i < NR_MEMBERS; i++)
		if (members[i].key == key && !strcmp(members[i].name, name))
			return &members[i];
	return NULL;
}

/* Puts a member where its name comes first, with the value of the last key that has it. */
static void put_member(const struct row_json *out, const struct view_query *query, unsigned keys,
                       unsigned k, const struct member *member)
{
	const struct member *last = member, *other;

	for (unsigned i = 0; i < query->nr_keys; i++) {
		other = query->keys[i] & keys ? find_member(query->keys[i], member->name) : NULL;
		if (other && i < k)
			return;
		last = other ? other : last;
	}
	last->put(out, last);
}

static bool put_keys(const struct row_json *out, const struct view_query *query, unsigned keys)
{
	bool has_comm = false;

	for (unsigned k = 0; k < query->nr_keys; k++) {
		if (!(query->keys[k] & keys))
			continue;
		has_comm |= find_member(query->keys[k], "comm") != NULL;
		for (size_t i = 0; i < NR_MEMBERS; i++)
			if (members[i].key == query->keys[k])
				put_member(out, query, keys, k, &members[i]);
	}
	return has_comm;
}

void report_keys_json(struct json_writer *json, const struct profile *profile,
                      const struct profile_row *row, const struct view_query *query, unsigned keys)
{
	put_keys(&(struct row_json){json, profile, row, NULL, NULL}, query, keys);
}

static const char *flag_name(enum profile_why why)
{
	return why == PROFILE_UNOBSERVED ? "unobserved"
	       : why == PROFILE_IDLE     ? "idle"
	                                 : "unsampled";
}

void report_mark_json(struct json_writer *json, const struct profile_unsampled *unsampled)
{
	json_flag(json, flag_name(unsampled->why), true);
}

void report_row_json(struct json_writer *json, const struct profile *profile,
                     const struct profile_row *row, const struct view_query *query,
                     const char *symbol)
{
	const struct profile_unsampled *unsampled =
		row->name == PROFILE_NONE ? report_unsampled(profile, row->subset) : NULL;
	const struct row_json out = {json, profile, row, unsampled, symbol};

	if (!put_keys(&out, query, UINT32_MAX) && unsampled)
		json_text(json, "comm", trace_string(profile->trace, unsampled->comm));
	if (unsampled)
		report_mark_json(json, unsampled);
}
