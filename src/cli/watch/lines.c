#include "cli/watch/lines.h"

#include "cli/live/watched.h"
#include "output/report/watch_json.h"
#include "output/views/report_rows.h"
#include "trace/selection.h"

#include <errno.h>

static const struct view_query query_template = {
	.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
	.nr_keys = 2,
	.limit = UINT32_MAX,
	.no_inline = true,
	.sampled_alone = true,
};

int lines_init(struct lines *lines, enum lines_form form, uint64_t interval)
{
	*lines = (struct lines){.form = form, .interval = interval, .json = watch_json_new()};
	return lines->json ? 0 : -ENOMEM;
}

void lines_fini(struct lines *lines)
{
	watch_json_free(lines->json);
	*lines = (struct lines){0};
}

static int name_part(struct lines *lines, struct watched *watched, const struct view_query *query)
{
	struct profile_view view;
	const struct trace *trace = watched_trace(watched);
	int err = 0;

	for (uint32_t event = 0; event < trace_nr_events(trace) && !err; event++) {
		struct profile *profile = report_profile(trace, event, query, &view);

		if (profile)
			watched_name(watched, profile, lines->from);
		else
			err = -errno;
		profile_free(profile);
	}
	return err;
}

static int note_latest(void *latest, const struct trace_sample *sample)
{
	if (sample->time > *(uint64_t *)latest)
		*(uint64_t *)latest = sample->time;
	return 0;
}

/* Finds the end of the part: behind the last sample. */
static int find_part(struct lines *lines, struct watched *watched, struct selection *selection)
{
	const struct trace *trace = watched_trace(watched);
	const uint64_t end = trace_run(trace)->end;
	uint64_t latest = 0;
	int err;

	selection->from = lines->from;
	if (!lines->from)
		selection->from = end > lines->interval ? end - lines->interval : 1;
	watched_choose(watched, selection->from, UINT64_MAX);
	err = trace_each_sample(trace_walk_unordered(trace, TRACE_ALL_EVENTS), note_latest,
	                        &latest);
	selection->to = latest >= selection->from ? latest + 1 : selection->from;
	return err;
}

static int put_part(struct lines *lines, struct watched *watched, FILE *to,
                    const struct selection *selection)
{
	const struct trace *trace = watched_trace(watched);
	struct view_query query = query_template;
	int err;

	query.selection = selection;
	query.event = TRACE_ALL_EVENTS;
	query.interval = selection->to - selection->from;
	err = name_part(lines, watched, &query);
	if (err)
		return err;
	if (lines->form == LINES_SAMPLES)
		return watch_json_samples(lines->json, to, trace, selection->from, selection->to,
		                          lines->left_out);
	return watch_json_table(to, trace, &query, lines->left_out);
}

static int put_samples(struct lines *lines, struct watched *watched, FILE *to)
{
	struct selection selection = {0};
	int err = find_part(lines, watched, &selection);

	if (!err)
		err = put_part(lines, watched, to, &selection);
	lines->from = selection.to;
	return err;
}

/* Calls may reach the recorder a while after their end. */
static int put_calls(struct lines *lines, struct watched *watched, FILE *to)
{
	const struct trace *trace = watched_trace(watched);
	const uint64_t late = 2 * lines->interval;
	int err;

	watched_choose(watched, lines->from > late ? lines->from - late : 0, UINT64_MAX);
	err = watch_json_calls(lines->json, to, trace, !lines->from, lines->left_out);
	lines->from = trace_run(trace)->end;
	return err;
}

int lines_put(struct lines *lines, struct watched *watched, FILE *to)
{
	int err;

	if (!lines->from)
		watch_json_begin(to, watched_trace(watched), watched->path,
		                 lines->form == LINES_CALLS);
	err = lines->form == LINES_CALLS ? put_calls(lines, watched, to)
	                                 : put_samples(lines, watched, to);
	lines->left_out = 0;
	if (!err && watched_state(watched) != LIVE_RECORDING)
		watch_json_end(to, watched_state(watched) == LIVE_KILLED ? "killed" : "ended");
	return err;
}

void lines_leave_out(struct lines *lines, const struct watched *watched)
{
	lines->left_out++;
	lines->from = trace_run(watched_trace(watched))->end;
}
