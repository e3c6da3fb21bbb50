#include "output/report/job_tables.h"
#include "output/views/mpi_paths.h"
#include "output/report/report_columns.h"
#include "output/report/report_head.h"
#include "output/report/report_text.h"
#include "trace/call_sources.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define FEW_CALLS   12 /* below an ordinary report */
#define MAX_CALLERS 12 /* of a context in one line */
#define NAME_ROOM   16 /* columns that a name of a call should have */

struct job_text {
	struct job of;
	const struct report_options *options;
};

static void put_title(FILE *to, const struct report_options *options, const char *title)
{
	if (!options->style.quiet)
		fprintf(to, "\n%s%s%s\n\n", paint(options, BOLD), title, paint(options, PLAIN));
}

static void put_titles(struct table *table)
{
	table_titles(table);
	fputc('\n', table->to);
}

/* --- calls ------------------------------------------------------------------------------------ */

static bool is_value(const struct call_sums *sums, uint32_t region)
{
	return trace_region_traits(sums->trace, region)->type == REGION_VALUE;
}

/* Leaves out columns where the names of calls would be cut. */
static void fit_calls(struct table *table, const struct report_options *options)
{
	static const char *const spare[] = {"bytes", "received", "sent", "mean", NULL};

	if (options->style.width)
		table_fit(table, spare,
		          options->style.width > NAME_ROOM ? options->style.width - NAME_ROOM : 1);
}

/* Prints the table of regions that are values, or that of all other regions. */
static void put_call_table(FILE *to, const struct job_text *job, const uint32_t *order,
                           uint32_t nr_order, bool values, uint32_t limit)
{
	const struct report_options *options = job->options;
	struct table table = {.columns = call_columns(values),
	                      .to = to,
	                      .hidden = hidden_error(job->of.calls.thinned)};
	uint32_t nr = 0;

	fit_calls(&table, options);
	for (uint32_t i = 0; i < nr_order; i++) {
		if (is_value(&job->of.calls, order[i]) != values)
			continue;
		if (!nr && values)
			put_title(to, options, "values that the program told");
		if (!nr && !options->style.quiet)
			put_titles(&table);
		if (nr++ < limit)
			put_call_row(&table, &job->of.calls, order[i]);
	}
	if (nr > limit && !options->style.quiet)
		fprintf(to, "%u more; %s shows them\n", nr - limit,
		        limit == options->query.limit ? "--all" : "--mpi");
}

/* Where all were dropped, zeros would say that there were none. */
static bool knows_calls(const struct job_text *job)
{
	const struct trace_event *kind;

	if (job->of.calls.exact)
		return true;
	for (uint32_t i = 0; (kind = trace_kind(job->of.trace, i)); i++)
		if (kind->unit == TRACE_CALLS && (kind->stored || !kind->taken))
			return true;
	return false;
}

static int put_calls(FILE *to, const struct job_text *job, uint32_t limit)
{
	uint32_t nr, *order = call_sums_order(&job->of.calls, &nr);

	if (!order)
		return -ENOMEM;
	if (!nr && knows_calls(job))
		fprintf(to, "no call was recorded%s\n",
		        job->of.calls.selection ? " in this part" : "");
	put_call_table(to, job, order, nr, false, limit);
	put_call_table(to, job, order, nr, true, limit);
	free(order);
	return 0;
}

void put_call_completeness(FILE *to, const struct trace *trace, bool exact, bool thinned)
{
	const struct trace_event *kind;

	for (uint32_t i = 0; (kind = trace_kind(trace, i)); i++)
		if (kind->unit == TRACE_CALLS && kind->stored < kind->taken)
			fprintf(to,
			        "(%s%" PRIu64 " of %" PRIu64
			        " calls seen are stored; adaptrace info tells "
			        "which, and from when to when)\n",
			        exact ? "sums are of all calls; " : "", kind->stored, kind->taken);
	if (exact && trace_run(trace)->unsummed_calls)
		fprintf(to, "(%" PRIu64 " calls found no room in the sums)\n",
		        trace_run(trace)->unsummed_calls);
	if (thinned)
		fputs("(times are estimates, for not all calls were timed, to keep within "
		      "--max-overhead; the longest is that of the timed calls)\n",
		      to);
}

static void put_completeness(FILE *to, const struct call_sums *sums)
{
	put_call_completeness(to, sums->trace, sums->exact, sums->thinned);
}

int report_calls_text(FILE *to, const struct trace *trace, const struct report_options *options)
{
	struct job_text job = {.options = options};
	char title[128];
	int err = job_init_calls(&job.of, trace, &options->query);

	if (!err) {
		snprintf(title, sizeof(title), "calls as they were recorded%s%s",
		         job.of.calls.thinned ? "" : ", with exact times",
		         options->style.alone ? "" : "; the table above is from samples alone");
		put_title(to, options, title);
		put_completeness(to, &job.of.calls);
		err = put_calls(to, &job,
		                options->query.limit < FEW_CALLS ||
		                                options->query.limit == UINT32_MAX
		                        ? options->query.limit
		                        : FEW_CALLS);
	}
	job_fini(&job.of);
	return err;
}

/* --- ranks ------------------------------------------------------------------------------------ */

static void put_ranks(FILE *to, const struct job_text *job)
{
	const struct report_options *options = job->options;
	bool calls = knows_calls(job);
	struct table table = {.columns = rank_columns(calls),
	                      .unit = job_unit(&job->of),
	                      .to = to,
	                      .hidden = hidden_error(job->of.calls.thinned)};

	put_title(to, options,
	          calls ? "ranks: what was sampled, and its share in MPI, from samples; MPI calls, "
	                  "their exact time, and what they sent, from calls"
	                : "ranks: what was sampled, and its share in MPI");
	put_completeness(to, &job->of.calls);
	if (!options->style.quiet)
		put_titles(&table);
	for (uint32_t i = 0; i < job->of.rows.nr && i < options->query.limit; i++)
		put_rank_row(&table, &job->of, i);
	report_text_rest(to, options, job->of.rows.nr, "rank");
}

static void put_others(FILE *to, const struct job_text *job)
{
	if (job->of.samples.others && job->of.rows.nr && !job->options->style.quiet)
		fprintf(to, "%.2f%% of the samples belong to no rank\n",
		        percent((double)job->of.samples.others, job->of.samples.total));
}

/* --- imbalance -------------------------------------------------------------------------------- */

static void put_functions(FILE *to, const struct job_text *job)
{
	const struct report_options *options = job->options;
	struct table table = {.columns = spread_columns, .unit = job_unit(&job->of), .to = to};
	unsigned room = room_behind(options, table_width(&table));
	uint32_t nr = 0;

	put_title(to, options,
	          "what each function spent in itself, over the ranks, from samples: the mean, the "
	          "least "
	          "and the most, and how far the most is above the mean");
	if (!options->style.quiet)
		put_titles(&table);
	for (uint32_t i = 0; i < job->of.samples.nr_functions; i++) {
		if (!job->of.samples.functions[i].self.sum)
			continue;
		if (nr++ < options->query.limit)
			put_spread_row(&table, &job->of, &job->of.samples.functions[i], room);
	}
	report_text_rest(to, options, nr, "function");
}

static int put_head(FILE *to, const struct job_text *job, const char *name)
{
	struct warning_text warning = {.to = to, .options = job->options};
	struct event_amount amount = {
		.trace = job->of.trace,
		.event = job->of.samples.event,
		.selection = job->of.samples.selection,
		.samples = job->of.samples.nr_samples,
		.total = trace_has_idle(job->of.trace) ? 0 : job->of.samples.total,
	};

	if (!has_head(job->options))
		return 0;
	report_head_run(to, job->of.trace, name);
	job_warnings(&job->of, report_warning_text, &warning);
	report_head_event(to, &amount);
	return report_head_part(to, &amount);
}

int report_ranks_text(FILE *to, const struct trace *trace, const char *name,
                      const struct report_options *options)
{
	struct job_text job = {.options = options};
	int err = job_init(&job.of, trace, &options->query);

	if (!err && !job.of.rows.nr)
		err = -ENODATA;
	if (!err)
		err = put_head(to, &job, name);
	if (!err) {
		put_ranks(to, &job);
		put_others(to, &job);
		put_functions(to, &job);
	}
	job_fini(&job.of);
	return err;
}

/* --- contexts --------------------------------------------------------------------------------- */

/* On a terminal names are cut, so that the call is seen with its nearest callers. */
static void put_path(const struct table *table, const struct job_text *job, uint32_t path)
{
	const struct paths *paths = &job->of.samples.paths;
	unsigned room = room_behind(job->options, table_width(table)), used = 0;
	FILE *to = table->to;
	unsigned each = room > 4 * MIN_COLUMN ? room / 4 : room ? MIN_COLUMN : 0;
	char text[FRAME_TEXT_SIZE];

	for (unsigned i = 0; path != PATH_NONE; i++, path = paths_caller(paths, path)) {
		const char *name = i ? paths_function(paths, paths_leaf(paths, path), text)
		                     : mpi_paths_call(paths, path, text);

		if (i == MAX_CALLERS || (i && room && used + each + 4 > room)) {
			fputs(" < …", to);
			break;
		}
		fputs(i ? " < " : "", to);
		used += 3 + report_cell_put(to, PROFILE_BY_SYMBOL, name, each);
	}
}

/* The paths are those of samples; which call had which one is known of few. */
static void put_callers(FILE *to, const struct call_callers *callers)
{
	if (callers->calls)
		fprintf(to,
		        "(a sample was taken in %" PRIu64 " of %" PRIu64
		        " calls, with %.2f%% of their time; who called the others is not known)\n",
		        callers->known, callers->calls,
		        percent((double)callers->known_time, callers->time));
}

static void put_contexts(FILE *to, const struct job_text *job)
{
	const struct report_options *options = job->options;
	const struct mpi_context *contexts = job->of.samples.contexts;
	struct table table = {.columns = context_columns, .unit = job_unit(&job->of), .to = to};

	if (!job->of.samples.nr_contexts && !job->of.callers.calls)
		return;
	put_title(to, options,
	          "where MPI was called from, as a share of everything sampled, from samples");
	put_callers(to, &job->of.callers);
	if (!options->style.quiet)
		put_titles(&table);
	for (uint32_t i = 0; i < job->of.samples.nr_contexts && i < options->query.limit; i++) {
		put_context_row(&table, &job->of, &contexts[i]);
		put_path(&table, job, contexts[i].path);
		table_end(&table);
	}
	report_text_rest(to, options, job->of.samples.nr_contexts, "context");
}

/* --- who sends to whom ------------------------------------------------------------------------ */

static void put_matrix(FILE *to, const struct call_sums *sums, int32_t nr, bool bytes)
{
	static const char *const ranks[JOB_MATRIX_RANKS] = {"0",  "1",  "2",  "3", "4",  "5",
	                                                    "6",  "7",  "8",  "9", "10", "11",
	                                                    "12", "13", "14", "15"};
	struct column columns[JOB_MATRIX_RANKS + 2] = {
		{bytes ? "bytes" : "messages", NULL, COLUMN_COUNT, 11}};
	struct table table = {.columns = columns, .to = to};

	for (int32_t i = 0; i < nr; i++)
		columns[1 + i] =
			(struct column){ranks[i], NULL, bytes ? COLUMN_BYTES : COLUMN_COUNT, 10};
	put_titles(&table);
	for (int32_t from = 0; from < nr; from++) {
		table_begin(&table);
		table_int(&table, from);
		for (int32_t i = 0; i < nr; i++) {
			const struct call_link *link = call_sums_link(sums, from, i);

			table_known(&table, link, !link ? 0 : bytes ? link->bytes : link->messages);
		}
		table_end(&table);
	}
}

static int put_pairs(FILE *to, const struct job_text *job)
{
	uint32_t nr;
	struct call_link *links = job_links(&job->of, &nr);
	struct table table = {.columns = link_columns, .to = to};

	if (!links)
		return -ENOMEM;
	put_titles(&table);
	for (uint32_t i = 0; i < nr; i++)
		put_link_row(&table, &links[i]);
	report_text_rest(to, job->options, job->of.calls.nr_links, "pair");
	free(links);
	return 0;
}

/*
 * Prints the number of messages that no matrix has: those of spawned processes, or in communicators
 * that were not stored for lack of room.
 */
static void put_elsewhere(FILE *to, const struct job_text *job)
{
	uint64_t nr = job->of.calls.messages_elsewhere;
	char bytes[TEXT_SIZE];

	text_bytes(bytes, job->of.calls.bytes_elsewhere);
	if (nr)
		fprintf(to,
		        "(%" PRIu64 " message%s, of %s, not known to be between two of the job's "
		        "ranks, %s in no matrix)\n",
		        nr, plural(nr), bytes, nr == 1 ? "is" : "are");
}

static int put_links(FILE *to, const struct job_text *job)
{
	int32_t highest = job_highest_rank(&job->of);

	if (highest < 0 && !job->of.calls.messages_elsewhere)
		return 0;
	put_title(to, job->options,
	          "messages between ranks, one-sided ones too, from calls: from a row to a column");
	put_elsewhere(to, job);
	if (highest < 0)
		return 0;
	if (highest >= JOB_MATRIX_RANKS)
		return put_pairs(to, job);
	put_matrix(to, &job->of.calls, highest + 1, false);
	fputc('\n', to);
	put_matrix(to, &job->of.calls, highest + 1, true);
	return 0;
}

int report_mpi_text(FILE *to, const struct trace *trace, const char *name,
                    const struct report_options *options)
{
	struct job_text job = {.options = options};
	int err = job_init_mpi(&job.of, trace, &options->query);

	if (!err)
		err = put_head(to, &job, name);
	if (!err) {
		if (job.of.rows.nr)
			put_ranks(to, &job);
		put_others(to, &job);
		put_contexts(to, &job);
	}
	if (!err && trace_has_calls(trace)) {
		put_title(to, options,
		          job.of.calls.thinned ? "calls as they were recorded"
		                               : "calls as they were recorded, with exact times");
		put_completeness(to, &job.of.calls);
		err = put_calls(to, &job, options->query.limit);
	}
	if (!err)
		err = put_links(to, &job);
	job_fini(&job.of);
	return err;
}
