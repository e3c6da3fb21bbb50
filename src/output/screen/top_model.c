#include "output/screen/top_model.h"

#include "base/array.h"
#include "base/proc_memory.h"
#include "output/views/mpi_time.h"
#include "output/views/report_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND     ((uint64_t)1000000000)
#define MINUTE     (60 * SECOND)
#define MAX_OF_RUN 25000         /* samples that stand for the whole run */
#define RUN_EVERY  (30 * SECOND) /* it is added up again, early in a run more often */
#define LATENESS   (SECOND / 4)  /* that samples have as a rule */
#define MAX_ROWS   500
#define MAX_PIDS   256 /* processes whose memory is added up */

void top_model_init(struct top_model *model, const struct top_recording *recording)
{
	*model = (struct top_model){.recording = recording, .event = recording->event, .mpi = -1};
}

static void free_rows(struct top_rows *rows)
{
	for (uint32_t i = 0; i < rows->nr; i++) {
		free(rows->at[i].name);
		free(rows->at[i].module);
	}
	free(rows->at);
	*rows = (struct top_rows){0};
}

static void forget(struct top_model *model)
{
	free_rows(&model->rows);
	free_rows(&model->rows_of_run);
	function_shares_fini(&model->run);
	for (unsigned i = 0; i < TOP_MINUTE; i++)
		function_shares_fini(&model->ticks[i].shares);
	model->nr_ticks = model->next = 0;
	model->run_at = 0;
}

void top_model_fini(struct top_model *model)
{
	forget(model);
}

void top_model_choose(struct top_model *model, uint32_t event, bool by_thread)
{
	if (model->by_thread == by_thread && model->event == event)
		return;
	forget(model);
	if (model->event != event)
		memset(model->loads, 0, sizeof(model->loads));
	model->event = event;
	model->by_thread = by_thread;
	model->until = 0;
}

/* --- windows ---------------------------------------------------------------------------------- */

static const struct trace *trace_of(const struct top_model *model)
{
	return model->recording->trace(model->recording->arg);
}

/* Whether a window has most of what was sampled since a time, and more of it than the run. */
static bool shows_more(const struct top_model *model, const struct trace_window *window,
                       uint64_t from)
{
	const struct trace *trace = trace_of(model);
	const uint64_t end = trace_run(trace)->end;

	if (!trace_is_window(window) || window->to ||
	    trace_window_event(trace, window) != model->event ||
	    trace_window_shift(window) >= trace_shift(&model->of_run))
		return false;
	return window->from <= from ||
	       (window->from < end && window->from - from < end - window->from);
}

/* Finds the finest window that shows what was sampled since a time. */
static void find_window(struct top_model *model, uint64_t from)
{
	const struct trace_window *window, *found = NULL;

	for (uint32_t i = 0; (window = trace_window(trace_of(model), i)); i++)
		if (shows_more(model, window, from) &&
		    (!found || trace_window_shift(window) < trace_window_shift(found)))
			found = window;
	model->window = found ? found->number : 0;
	model->window_period = found ? trace_period(&model->of_run, trace_window_shift(found)) : 0;
}

/* The first moment since a time that the window, if one shows it, has. */
static uint64_t first_shown(const struct top_model *model, uint64_t from)
{
	const struct trace_window *window = trace_find_window(trace_of(model), model->window);

	return window && window->from > from ? window->from : from;
}

/* --- profiles --------------------------------------------------------------------------------- */

static struct view_query query_of(const struct top_model *model, const struct selection *selection)
{
	struct view_query query = {
		.event = model->event,
		.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
		.nr_keys = 2,
		.selection = selection,
		.limit = MAX_ROWS,
		.no_inline = true,
		.self_alone = true,
		.sampled_alone = true,
	};

	if (model->by_thread) {
		query.keys[0] = PROFILE_BY_THREAD;
		query.nr_keys = 1;
	}
	return query;
}

/* A profile of a part, once more if functions have names only now. */
static struct profile *profile_of(struct top_model *model, const struct view_query *query,
                                  bool patient)
{
	const struct top_recording *recording = model->recording;
	const struct trace *trace = trace_of(model);
	struct profile_view view;
	struct profile *profile = report_profile(trace, query->event, query, &view);

	if (!profile || !recording->name(recording->arg, profile, patient))
		return profile;
	profile_free(profile);
	model->run_at = 0; /* its functions have other names now */
	return report_profile(trace, query->event, query, &view);
}

/* --- rows ------------------------------------------------------------------------------------- */

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static int add_row(const struct top_model *model, struct top_rows *rows,
                   const struct profile *profile, const struct subset_row *of)
{
	char *text = malloc(CELL_SIZE);
	const struct profile_row row = report_row(profile, of);
	struct top_row *to = &rows->at[rows->nr];

	if (!text)
		return -ENOMEM;
	*to = (struct top_row){
		.key = function_key(profile, &row),
		.last = share(row.self, profile->total),
		.error = profile->total ? profile_error(&row) / (double)profile->total : 0,
	};
	to->name = strdup(report_cell(
		profile, &row, model->by_thread ? PROFILE_BY_THREAD : PROFILE_BY_SYMBOL, text));
	to->module =
		strdup(model->by_thread ? "" : report_cell(profile, &row, PROFILE_BY_MODULE, text));
	free(text);
	rows->nr++;
	return to->name && to->module ? 0 : -ENOMEM;
}

/* Makes the rows of a profile, with room for so many more. */
static int make_rows(const struct top_model *model, struct top_rows *to,
                     const struct profile *profile, uint32_t more)
{
	const struct view_query query = query_of(model, profile->config.selection);
	struct report_rows rows;
	int err = report_rows_init(&rows, profile, &query);

	if (!err)
		err = report_rows_of_all(&rows);
	free_rows(to);
	to->at = calloc(rows.nr + more + 1UL, sizeof(*to->at));
	if (!to->at)
		err = -ENOMEM;
	for (uint32_t i = 0; i < rows.nr && !err; i++)
		err = add_row(model, to, profile, &rows.rows[i]);
	report_rows_fini(&rows);
	return err;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct top_row *x = a, *y = b;
	const struct top_model *model = arg;
	int last = ORDER(y->last, x->last), run = ORDER(y->run, x->run);

	return (model->by_run ? run ?: last : last ?: run) ?: strcmp(x->name, y->name);
}

void top_model_sort(struct top_model *model, bool by_run)
{
	model->by_run = by_run;
	if (model->rows.at)
		ARRAY_SORT_WITH(model->rows.at, model->rows.nr, compare_rows, model);
}

/* Adds a row of the run that the last second has no samples of. */
static int add_unmet(struct top_model *model, const struct top_row *of_run, double error)
{
	struct top_row *to = &model->rows.at[model->rows.nr++];

	*to = (struct top_row){
		.key = of_run->key,
		.error = error,
		.name = strdup(of_run->name),
		.module = strdup(of_run->module),
	};
	return to->name && to->module ? 0 : -ENOMEM;
}

/* Makes the rows of the last second, and of what the run has beside them. */
static int make_all_rows(struct top_model *model, const struct profile *profile,
                         const struct function_shares *last)
{
	const struct top_rows *of_run = &model->rows_of_run;
	const double unmet = 1.96 * sqrt(profile_unmet_variance(profile));
	const double error = profile->total ? unmet / (double)profile->total : 0;
	int err = make_rows(model, &model->rows, profile, of_run->nr);

	for (uint32_t i = 0; i < of_run->nr && !err; i++)
		if (!function_shares_self(last, of_run->at[i].key))
			err = add_unmet(model, &of_run->at[i], error);
	for (uint32_t i = 0; i < model->rows.nr; i++) {
		struct top_row *row = &model->rows.at[i];

		row->run = share(function_shares_self(&model->run, row->key), model->run.total);
	}
	top_model_sort(model, model->by_run);
	return err;
}

/* --- the whole run -----------------------------------------------------------------------------
 */

static bool is_run_due(const struct top_model *model)
{
	const struct trace *trace = trace_of(model);
	uint64_t pause = trace_wall(trace_run(trace)) / 10;

	return !model->run_at ||
	       trace_run(trace)->end >= model->run_at + (pause < RUN_EVERY ? pause : RUN_EVERY);
}

static int sum_up_run(struct top_model *model)
{
	const struct top_recording *recording = model->recording;
	const struct view_query query = query_of(model, NULL);
	struct profile *profile;
	int err;

	if (!is_run_due(model))
		return 0;
	err = recording->choose_window(recording->arg, 0);
	if (err)
		return err;
	recording->choose(recording->arg, 0, MAX_OF_RUN);
	profile = profile_of(model, &query, model->run.total);
	if (!profile)
		return -errno;
	function_shares_fini(&model->run);
	err = function_shares_init(&model->run, profile)
	              ?: make_rows(model, &model->rows_of_run, profile, 0);
	model->run_at = trace_run(recording->trace(recording->arg))->end;
	profile_free(profile);
	return err;
}

/* --- the last minute -------------------------------------------------------------------------- */

static void keep_load(struct top_model *model, uint64_t weight)
{
	model->loads[model->next_load] = (struct top_load){model->from, model->until, weight};
	model->next_load = (model->next_load + 1) % TOP_MINUTE;
}

static int keep_tick(struct top_model *model, const struct profile *profile)
{
	struct top_tick *tick = &model->ticks[model->next];

	function_shares_fini(&tick->shares);
	model->next = (model->next + 1) % TOP_MINUTE;
	if (model->nr_ticks < TOP_MINUTE)
		model->nr_ticks++;
	tick->from = model->from;
	tick->until = model->until;
	keep_load(model, profile->total);
	return function_shares_init(&tick->shares, profile)
	               ?: make_all_rows(model, profile, &tick->shares);
}

/* Returns the part of a tick that lies in one of so many parts of the last minute, 0 to 1. The
 * parts begin at multiples of their length, so that a part that is over keeps its height. */
static double within(const struct top_model *model, uint64_t from, uint64_t until, unsigned part,
                     unsigned nr)
{
	const int64_t length = (int64_t)(MINUTE / nr), last = ((int64_t)model->until - 1) / length;
	const int64_t begin = (last - (nr - 1 - part)) * length, end = begin + length;
	const int64_t first = (int64_t)from > begin ? (int64_t)from : begin;
	const int64_t behind = (int64_t)until < end ? (int64_t)until : end;

	return first < behind ? (double)(behind - first) / (double)(until - from) : 0;
}

void top_model_minute(const struct top_model *model, double *parts, unsigned nr)
{
	for (unsigned part = 0; part < nr; part++) {
		double weight = 0, time = 0;

		for (unsigned i = 0; i < TOP_MINUTE; i++) {
			const struct top_load *load = &model->loads[i];
			double in = within(model, load->from, load->until, part, nr);

			weight += in * (double)load->weight;
			time += in * (double)(load->until - load->from);
		}
		parts[part] = time > 0 ? weight / time : 0;
	}
}

void top_model_fill_minute(const struct top_model *model, struct top_row *row)
{
	if (row->filled)
		return;
	row->filled = true;
	for (unsigned c = 0; c < TOP_COLUMNS; c++) {
		double self = 0, whole = 0;

		for (unsigned i = 0; i < model->nr_ticks; i++) {
			const struct top_tick *tick = &model->ticks[i];
			double in = within(model, tick->from, tick->until, c, TOP_COLUMNS);

			whole += in * (double)tick->shares.total;
			if (in > 0)
				self += in * (double)function_shares_self(&tick->shares, row->key);
		}
		row->minute[c] = whole > 0 ? self / whole : 0;
		if (row->minute[c] > row->of_minute)
			row->of_minute = row->minute[c];
	}
}

/* --- ticks ------------------------------------------------------------------------------------ */

static int choose_part(const struct top_model *model, const struct selection *selection)
{
	const struct top_recording *recording = model->recording;
	int err = recording->choose_window(recording->arg, model->window);

	recording->choose(recording->arg, selection->from, UINT64_MAX);
	return err;
}

static struct profile *part_profile(struct top_model *model, const struct selection *selection)
{
	const struct view_query query = query_of(model, selection);
	int err = choose_part(model, selection);

	if (!err)
		return profile_of(model, &query, true);
	errno = -err;
	return NULL;
}

/* Names of the part and of the run are looked up together, for a row finds its run by its name. */
static int name_part(struct top_model *model, const struct selection *selection)
{
	const struct view_query query = query_of(model, selection);
	const struct top_recording *recording = model->recording;
	struct profile *profile;
	struct profile_view view;
	int err = choose_part(model, selection);

	if (err)
		return err;
	profile = report_profile(trace_of(model), query.event, &query, &view);
	if (!profile)
		return -errno;
	recording->add_names(recording->arg, profile);
	profile_free(profile);
	return sum_up_run(model);
}

/*
 * Chooses the samples since the tick before, or of the last interval. Samples reach the buffer some
 * time after they were taken, so that a first interval begins earlier.
 */
static uint64_t part_start(const struct top_model *model)
{
	const struct trace_run *run = trace_run(trace_of(model));
	uint64_t length = model->recording->interval + LATENESS;

	if (model->until)
		return model->until;
	return run->end > run->start + length ? run->end - length : run->start;
}

static int take_profile(struct top_model *model, const struct profile *profile)
{
	model->from = profile->config.selection->from;
	model->until = profile->latest + 1;
	model->length = model->until - model->from;
	model->samples = profile->samples;
	model->weight = profile->total;
	return keep_tick(model, profile);
}

/* After the end of a recording its last second stays. */
static bool is_last(const struct top_model *model)
{
	const struct top_recording *recording = model->recording;

	return model->until && (recording->state(recording->arg) != LIVE_RECORDING ||
	                        recording->recorder(recording->arg).flags & RECORDING_STOPPED);
}

/* The next interval begins behind a pause, in which nothing can be sampled. */
static void pass_pause(struct top_model *model)
{
	const struct top_recording *recording = model->recording;
	const uint64_t end = trace_run(trace_of(model))->end;

	if (!recording->recorder(recording->arg).flags || !model->until ||
	    end <= model->until + LATENESS)
		return;
	model->from = model->until;
	model->until = end - LATENESS;
	keep_load(model, 0);
}

/* Nothing was sampled since: the rows are those of the whole run. */
static int take_nothing(struct top_model *model, const struct profile *profile)
{
	const struct function_shares nothing = {0};
	int err;

	if (is_last(model))
		return 0;
	if (model->until && trace_run(trace_of(model))->end > model->until)
		model->length = trace_run(trace_of(model))->end - model->until;
	model->samples = model->weight = 0;
	pass_pause(model);
	err = make_all_rows(model, profile, &nothing);
	return err ? err : -ENODATA;
}

/* Some samples may have come since, which are not enough for an interval of their own. */
static bool is_rest(const struct top_model *model)
{
	return is_last(model) &&
	       trace_run(trace_of(model))->end < model->until + model->recording->interval / 2;
}

static int take_part(struct top_model *model)
{
	const uint64_t start = part_start(model);
	struct selection selection = {.from = start, .to = UINT64_MAX};
	struct profile *profile;
	int err = 0;

	find_window(model, start);
	selection.from = first_shown(model, start);
	if (is_run_due(model))
		err = model->run.total ? sum_up_run(model) : name_part(model, &selection);
	if (err || is_rest(model))
		return err;
	profile = part_profile(model, &selection);
	if (!profile)
		return -errno;
	err = profile->samples ? take_profile(model, profile) : take_nothing(model, profile);
	profile_free(profile);
	return err;
}

static bool is_known(const int *pids, unsigned nr, int pid)
{
	for (unsigned i = 0; i < nr; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* The memory of all processes that were sampled and live, up to a number. */
static uint64_t resident_all(const struct trace *trace)
{
	const struct trace_thread *thread;
	int pids[MAX_PIDS];
	unsigned nr = 0;
	uint64_t bytes = 0;

	for (uint32_t i = 0; nr < MAX_PIDS && (thread = trace_thread(trace, i)); i++) {
		if (thread->pid <= 0 || is_known(pids, nr, thread->pid))
			continue;
		pids[nr++] = thread->pid;
		bytes += proc_memory_resident(thread->pid);
	}
	return bytes;
}

/* A call counts when it ends, so that the share may seem to be more than all. */
static void take_mpi(struct top_model *model)
{
	const struct trace *trace = trace_of(model);
	const uint64_t end = trace_run(trace)->end, time = mpi_time(trace);
	const unsigned ranks = mpi_ranks_at_work(trace);

	if (end == model->mpi_at)
		return;
	model->mpi = model->mpi_at && ranks && end > model->mpi_at && time >= model->mpi_time
	                     ? share(time - model->mpi_time, (end - model->mpi_at) * ranks)
	                     : -1;
	if (model->mpi > 1)
		model->mpi = 1;
	model->mpi_time = time;
	model->mpi_at = end;
}

bool top_model_is_sampled(const struct top_model *model)
{
	return trace_was_sampled(trace_of(model), model->event, model->recording->interval);
}

int top_model_renew(struct top_model *model)
{
	const struct trace_event *event;
	int err = model->recording->update(model->recording->arg);

	if (err)
		return err;
	event = trace_event_of_run(trace_of(model), model->event);
	if (!event)
		return -ENODATA;
	model->of_run = *event;
	return 0;
}

int top_model_tick(struct top_model *model)
{
	int err = top_model_renew(model);

	if (err)
		return err;
	take_mpi(model);
	model->resident = resident_all(trace_of(model));
	return take_part(model);
}
