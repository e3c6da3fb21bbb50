#include "output/report/job_tables.h"
#include "output/report/report_columns.h"
#include "output/report/report_text.h"

#include "base/frame.h"
#include "trace/call_sources.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- calls ------------------------------------------------------------------------------------ */

const struct column *call_columns(bool values)
{
	static const struct column of_calls[] = {
		{NULL, "call", COLUMN_NAME, 0},
		{NULL, "class", COLUMN_NAME, 0},
		{"calls", "calls", COLUMN_COUNT, 10},
		{NULL, "unfinished", COLUMN_COUNT, 0},
		{"time", "time_ns", COLUMN_TIME, 10},
		{"± error", "time_error_ns", COLUMN_ERROR, 8},
		{"mean", NULL, COLUMN_TIME, 10},
		{"longest", "longest_ns", COLUMN_TIME, 10},
		{"sent", "sent", COLUMN_COUNT, 10},
		{"bytes", "bytes", COLUMN_SOME_BYTES, 11},
		{"received", "received", COLUMN_COUNT, 10},
		{"bytes", "bytes_in", COLUMN_SOME_BYTES, 11},
		{"call", NULL, COLUMN_NAME, 0},
		{NULL, NULL, COLUMN_END, 0},
	};
	static const struct column of_values[] = {
		{NULL, "call", COLUMN_NAME, 0},        {NULL, "class", COLUMN_NAME, 0},
		{"values", "calls", COLUMN_COUNT, 10}, {NULL, "unfinished", COLUMN_COUNT, 0},
		{NULL, "time_ns", COLUMN_TIME, 0},     {NULL, "time_error_ns", COLUMN_ERROR, 0},
		{NULL, NULL, COLUMN_TIME, 0},          {NULL, "longest_ns", COLUMN_TIME, 0},
		{NULL, "sent", COLUMN_COUNT, 0},       {NULL, "bytes", COLUMN_BYTES, 0},
		{NULL, "received", COLUMN_COUNT, 0},   {NULL, "bytes_in", COLUMN_BYTES, 0},
		{"mean", "mean", COLUMN_REAL, 12},     {"least", "min", COLUMN_REAL, 12},
		{"most", "max", COLUMN_REAL, 12},      {"last", "last", COLUMN_REAL, 12},
		{"name", NULL, COLUMN_NAME, 0},        {NULL, NULL, COLUMN_END, 0},
	};

	return values ? of_values : of_calls;
}

const struct column site_columns[NR_SITE_COLUMNS] = {
	{NULL, "call", COLUMN_NAME, 0},
	{NULL, "class", COLUMN_NAME, 0},
	{"calls", "calls", COLUMN_COUNT, 10},
	{NULL, "unfinished", COLUMN_COUNT, 0},
	{"time", "time_ns", COLUMN_TIME, 10},
	{"± error", "time_error_ns", COLUMN_ERROR, 8},
	{NULL, NULL, COLUMN_TIME, 0},
	{"longest", "longest_ns", COLUMN_TIME, 10},
	{NULL, "sent", COLUMN_COUNT, 0},
	{"bytes sent", "bytes", COLUMN_SOME_BYTES, 11},
	{NULL, "received", COLUMN_COUNT, 0},
	{"received", "bytes_in", COLUMN_SOME_BYTES, 11},
	[SITE_CALL_COLUMN] = {"call", NULL, COLUMN_NAME, 0},
	{NULL, "symbol", COLUMN_NAME, 0},
	{NULL, "module", COLUMN_NAME, 0},
	{NULL, "offset", COLUMN_COUNT, 0},
	{NULL, "file", COLUMN_NAME, 0},
	{NULL, "line", COLUMN_COUNT, 0},
	{"called from", NULL, COLUMN_NAME, 0},
	{NULL, NULL, COLUMN_END, 0},
};

/* marker: of calls without a length, and nothing that is sent. */
static void put_sum(struct table *table, const struct call_sum *sum, bool marker)
{
	table_number(table, sum->calls);
	table->blank = marker;
	table_number(table, sum->unfinished);
	table_known(table, !sum->untimed, sum->time);
	if (sum->thinned && !sum->untimed)
		table_error(table, call_sum_error(sum), sum->time);
	else
		table_none(table);
	table_real(table, (double)sum->time / (double)sum->calls);
	table_known(table, !sum->untimed, sum->longest);
	table_number(table, sum->sent);
	table_number(table, sum->bytes);
	table_number(table, sum->received);
	table_number(table, sum->bytes_in);
}

static void put_unfinished(FILE *to, const struct call_sum *sum)
{
	if (sum->unfinished)
		fprintf(to, " (%" PRIu64 " unfinished)", sum->unfinished);
}

static void put_values(struct table *table, const struct value_sum *values)
{
	bool any = values->nr; /* programs may mark a value without telling it */

	table_real(table, any ? values->sum / (double)values->nr : NAN);
	table_real(table, any ? values->least : NAN);
	table_real(table, any ? values->most : NAN);
	table_real(table, any ? values->last : NAN);
}

void put_call_row(struct table *table, const struct call_sums *sums, uint32_t region)
{
	const struct call_sum *sum = &sums->regions[region];
	const char *name = trace_region_name(sums->trace, region);
	const struct region_traits *traits = trace_region_traits(sums->trace, region);
	bool value = traits->type == REGION_VALUE;

	table->columns = call_columns(value);
	table_begin(table);
	table_text(table, name);
	table_text(table, traits->word);
	put_sum(table, sum, traits->type == REGION_MARKER);
	if (value)
		put_values(table, &sum->values);
	table_text(table, name);
	if (!table->json)
		put_unfinished(table->to, sum);
	table_end(table);
}

/* --- places ----------------------------------------------------------------------------------- */

static const struct frame_name *name_of(const struct call_sites *sites,
                                        const struct call_site_row *row)
{
	static const struct frame_name others;

	return row->name == SITE_OTHERS ? &others : &sites->names.names[row->name];
}

static const char *symbol_of(const struct call_sites *sites, const struct call_site_row *row,
                             char text[FRAME_TEXT_SIZE])
{
	return row->name == SITE_OTHERS ? "[other places]"
	                                : frame_name_symbol(&sites->names, row->name, text);
}

/* "app.c:12", and without a line "app+0x1234"; empty if that is the symbol, too */
static void place_text(const struct call_sites *sites, const struct call_site_row *row,
                       const char *symbol, char text[FRAME_TEXT_SIZE])
{
	const struct frame_name *name = name_of(sites, row);

	*text = '\0';
	if (name->line)
		snprintf(text, FRAME_TEXT_SIZE, "%s:%u",
		         text_file_name(trace_string(sites->trace, name->file)), name->line);
	else if (row->name != SITE_OTHERS && frame_module(row->frame))
		snprintf(text, FRAME_TEXT_SIZE, "%s+0x%" PRIx64,
		         frame_module_text(sites->trace, row->frame),
		         frame_address(sites->trace, row->frame));
	if (!strcmp(text, symbol))
		*text = '\0';
}

/* "exchange  app.c:12" */
static void put_place(struct table *table, const struct call_sites *sites,
                      const struct call_site_row *row, const struct report_options *options)
{
	char text[FRAME_TEXT_SIZE], place[FRAME_TEXT_SIZE];
	const char *symbol = symbol_of(sites, row, text);
	unsigned room = room_behind(options, table_width(table));

	place_text(sites, row, symbol, place);
	if (room)
		room = room > strlen(place) + MIN_COLUMN ? room - (unsigned)strlen(place) - 2
		                                         : MIN_COLUMN;
	report_cell_put(table->to, PROFILE_BY_SYMBOL, symbol, room);
	if (*place) {
		fputs("  ", table->to);
		text_put(table->to, place, 0);
	}
	put_unfinished(table->to, &row->sum);
}

static void put_place_members(struct table *table, const struct call_sites *sites,
                              const struct call_site_row *row)
{
	const struct frame_name *name = name_of(sites, row);
	bool code = row->name != SITE_OTHERS && frame_module(row->frame);
	char text[FRAME_TEXT_SIZE];

	table_text(table, symbol_of(sites, row, text));
	table_text(table, code ? frame_module_text(sites->trace, row->frame) : NULL);
	table_known(table, code && !row->several,
	            code ? frame_address(sites->trace, row->frame) : 0);
	table_text(table, name->file ? trace_string(sites->trace, name->file) : NULL);
	table_known(table, name->line, name->line);
}

void put_site_row(struct table *table, const struct call_sites *sites,
                  const struct call_site_row *row, const struct report_options *options)
{
	const char *name = trace_region_name(sites->trace, row->region);
	const struct region_traits *traits = trace_region_traits(sites->trace, row->region);

	table_begin(table);
	table_text(table, name);
	table_text(table, traits->word);
	put_sum(table, &row->sum, traits->type == REGION_MARKER || traits->type == REGION_VALUE);
	table->blank = false;
	table_text(table, name);
	put_place_members(table, sites, row);
	if (table_skip(table))
		put_place(table, sites, row, options);
	table_end(table);
}

/* --- ranks ------------------------------------------------------------------------------------ */

const struct column *rank_columns(bool calls)
{
	static const struct column sampled[] = {
		{"rank", "rank", COLUMN_COUNT, 6},        {NULL, "host", COLUMN_NAME, 0},
		{"sampled", "weight", COLUMN_AMOUNT, 10}, {"in MPI", "mpi_weight", COLUMN_SHARE, 8},
		{"host", NULL, COLUMN_NAME, 0},           {NULL, NULL, COLUMN_END, 0},
	};
	static const struct column all[] = {
		{"rank", "rank", COLUMN_COUNT, 6},
		{NULL, "host", COLUMN_NAME, 0},
		{"sampled", "weight", COLUMN_AMOUNT, 10},
		{"in MPI", "mpi_weight", COLUMN_SHARE, 8},
		{"MPI calls", "calls", COLUMN_COUNT, 10},
		{NULL, "unfinished", COLUMN_COUNT, 0},
		{"time", "time_ns", COLUMN_TIME, 10},
		{"± error", "time_error_ns", COLUMN_ERROR, 8},
		{NULL, NULL, COLUMN_TIME, 0},
		{NULL, "longest_ns", COLUMN_TIME, 0},
		{"sent", "sent", COLUMN_COUNT, 10},
		{"bytes", "bytes", COLUMN_BYTES, 11},
		{NULL, "received", COLUMN_COUNT, 0},
		{NULL, "bytes_in", COLUMN_BYTES, 0},
		{"host", NULL, COLUMN_NAME, 0},
		{NULL, NULL, COLUMN_END, 0},
	};

	return calls ? all : sampled;
}

void put_rank_row(struct table *table, const struct job *job, uint32_t row)
{
	const char *host = trace_string(job->trace, job->rows.rows[row].host);

	table_begin(table);
	table_int(table, job->rows.rows[row].rank);
	table_text(table, host);
	table_number(table, job->samples.weights[row]);
	table_share(table, job->samples.mpi[row], job->samples.weights[row]);
	if (table->columns == rank_columns(true))
		put_sum(table, &job->calls.ranks[row], false);
	table_text(table, host);
	table_end(table);
}

/* --- functions over ranks --------------------------------------------------------------------- */

static const struct column_unit tenths = {1, "%", 1};

const struct column spread_columns[] = {
	{NULL, "symbol", COLUMN_NAME, 0, NULL},     {NULL, "module", COLUMN_NAME, 0, NULL},
	{"mean", "mean", COLUMN_AMOUNT, 10, NULL},  {"least", "min", COLUMN_AMOUNT, 10, NULL},
	{"rank", "min_rank", COLUMN_RANK, 6, NULL}, {"most", "max", COLUMN_AMOUNT, 10, NULL},
	{"rank", "max_rank", COLUMN_RANK, 6, NULL}, {NULL, "by_rank", COLUMN_AMOUNT, 0, NULL},
	{"above", NULL, COLUMN_SHARE, 10, &tenths}, {"± error", NULL, COLUMN_ERROR, 9, &tenths},
	{NULL, "error", COLUMN_COUNT, 0, NULL},     {NULL, "mean", COLUMN_AMOUNT, 0, NULL},
	{NULL, "min", COLUMN_AMOUNT, 0, NULL},      {NULL, "min_rank", COLUMN_RANK, 0, NULL},
	{NULL, "max", COLUMN_AMOUNT, 0, NULL},      {NULL, "max_rank", COLUMN_RANK, 0, NULL},
	{NULL, "by_rank", COLUMN_AMOUNT, 0, NULL},  {"symbol", NULL, COLUMN_NAME, 0, NULL},
	{NULL, NULL, COLUMN_END, 0, NULL},
};

static void put_spread(struct table *table, const struct job *job, const struct spread *spread,
                       const uint64_t *weights)
{
	const struct rank_row *rows = job->rows.rows;

	table_real(table, (double)spread->sum / job->rows.nr);
	table_number(table, spread->least);
	table_int(table, rows[spread->least_row].rank);
	table_number(table, spread->most);
	table_int(table, rows[spread->most_row].rank);
	if (!table_skip(table))
		return;
	json_begin_list(table->json, "by_rank");
	for (uint32_t i = 0; i < job->rows.nr; i++)
		json_number(table->json, NULL, weights[i]);
	json_end_list(table->json);
}

void put_spread_row(struct table *table, const struct job *job,
                    const struct rank_function *function, unsigned room)
{
	const struct rank_sums *sums = &job->samples;
	size_t first = (size_t)function->name * job->rows.nr;
	double mean = (double)function->self.sum / job->rows.nr;
	char text[FRAME_TEXT_SIZE];
	const char *symbol = paths_function(&sums->paths, function->name, text);

	table_begin(table);
	table_text(table, symbol);
	table_text(table,
	           frame_module_text(job->trace, paths_name(&sums->paths, function->name)->frame));
	table_group(table, "self");
	put_spread(table, job, &function->self, &sums->self[first]);
	table_real(table, 100 * ((double)function->self.most / mean - 1));
	table_real(table, 100 * function->self.error / mean);
	table_number(table, (uint64_t)ceil(function->self.error));
	table_group_end(table);
	table_group(table, "total");
	put_spread(table, job, &function->total, &sums->in_all[first]);
	table_group_end(table);
	if (table_skip(table))
		report_cell_put(table->to, PROFILE_BY_SYMBOL, symbol, room);
	table_end(table);
}

/* --- contexts and messages -------------------------------------------------------------------- */

const struct column context_columns[] = {
	{"in MPI", NULL, COLUMN_SHARE, 8},
	{"sampled", "weight", COLUMN_AMOUNT, 10},
	{"samples", "samples", COLUMN_COUNT, 9},
	{"call and callers", "stack", COLUMN_NAME, 0},
	{NULL, NULL, COLUMN_END, 0},
};

void put_context_row(struct table *table, const struct job *job, const struct mpi_context *context)
{
	table_begin(table);
	table_share(table, context->weight, job->samples.total);
	table_number(table, context->weight);
	table_number(table, context->samples);
	table_skip(table);
}

const struct column link_columns[] = {
	{"from", "from", COLUMN_COUNT, 8},
	{"to", "to", COLUMN_COUNT, 8},
	{"messages", "messages", COLUMN_COUNT, 10},
	{"bytes", "bytes", COLUMN_BYTES, 11},
	{NULL, NULL, COLUMN_END, 0},
};

void put_link_row(struct table *table, const struct call_link *link)
{
	table_begin(table);
	table_int(table, link->from);
	table_int(table, link->to);
	table_number(table, link->messages);
	table_number(table, link->bytes);
	table_end(table);
}
