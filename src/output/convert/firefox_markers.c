/*
 * Markers of a thread: the reductions, which the first thread shows for all, and the calls. A table
 * of markers is columns, so the calls of a thread are gone through once for each.
 */
#include "output/views/call_text.h"
#include "output/text/escape.h"
#include "output/convert/firefox.h"
#include "output/views/run_properties.h"

#include <inttypes.h>
#include <math.h>

#define MAX_TOLD 8 /* parts of one call */

enum phase { PHASE_INSTANT, PHASE_INTERVAL };

enum column {
	COLUMN_DATA,
	COLUMN_START,
	COLUMN_END, /* of instants, too: Perfetto's rows would slip where there is none */
	COLUMN_NAME,
	COLUMN_PHASE,
	COLUMN_CATEGORY,
	NR_COLUMNS
};

static void print_number(const struct firefox *firefox, uint32_t number)
{
	fprintf(firefox->file, "%" PRIu32, number);
}

static void print_time(const struct firefox *firefox, uint64_t time)
{
	firefox_print_ms(firefox->file, firefox_since_start(firefox, time));
}

/* --- reductions ------------------------------------------------------------------------------- */

static void print_reduction_data(const struct firefox *firefox, const struct trace_reduction *entry)
{
	char text[CONVERT_TEXT_SIZE];

	reduction_text(firefox->trace, entry, text, sizeof(text));
	fputs("{\"type\":\"Reduction\",\"what\":", firefox->file);
	escape_json(firefox->file, text);
	putc('}', firefox->file);
}

static void print_reduction(const struct firefox *firefox, enum column column,
                            const struct trace_reduction *entry)
{
	if (column == COLUMN_DATA)
		print_reduction_data(firefox, entry);
	else if (column == COLUMN_START || column == COLUMN_END)
		print_time(firefox, entry->time);
	else if (column == COLUMN_NAME)
		print_number(firefox, firefox_reduction_string(firefox));
	else
		print_number(firefox, column == COLUMN_PHASE ? PHASE_INSTANT : CATEGORY_OTHER);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void print_call_data(const struct firefox *firefox, const struct call_moment *moment)
{
	const struct call *call = moment->call;
	FILE *file = firefox->file;
	double value;

	fputs("{\"type\":\"Call\",\"what\":\"", file);
	if (moment->kind == CALL_POINT && call_point_value(moment, &value))
		fprintf(file, isfinite(value) ? "%.17g" : "%g", value);
	for (uint32_t i = 0; moment->kind != CALL_POINT && i < call->nr_parts; i++) {
		if (i == MAX_TOLD) {
			fprintf(file, "; %" PRIu32 " more", call->nr_parts - i);
			break;
		}
		fprintf(file, "%s%s ", i ? "; " : "", part_kind_name(call->parts[i].kind));
		call_part_text(file, firefox->trace, &call->parts[i]);
	}
	fputs("\"}", file);
}

static uint64_t end_of(const struct call_moment *moment)
{
	return moment->kind != CALL_POINT && moment->call->leave > moment->time
	               ? moment->call->leave
	               : moment->time;
}

static void print_moment(const struct firefox *firefox, enum column column,
                         const struct call_moment *moment)
{
	if (column == COLUMN_DATA)
		print_call_data(firefox, moment);
	else if (column == COLUMN_START || column == COLUMN_END)
		print_time(firefox, column == COLUMN_START ? moment->time : end_of(moment));
	else if (column == COLUMN_NAME)
		print_number(firefox, firefox_reduction_string(firefox) + 1 + moment->call->region);
	else if (column == COLUMN_PHASE)
		print_number(firefox, moment->kind == CALL_POINT ? PHASE_INSTANT : PHASE_INTERVAL);
	else
		print_number(firefox, CATEGORY_CALLS);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* The column of the calls on its way. */
struct call_column {
	const struct firefox *firefox;
	enum column column;
	uint64_t nr; /* rows so far, those of reductions included */
};

static void print_call(void *arg, const struct call_moment *moment)
{
	struct call_column *calls = arg;
	const struct firefox *firefox = calls->firefox;

	if (moment->kind == CALL_LEFT || !trace_region(firefox->trace, moment->call->region))
		return;
	if (calls->nr++)
		putc_unlocked(',', firefox->file);
	print_moment(firefox, calls->column, moment);
}

static int print_column(const struct firefox *firefox, uint32_t thread, bool first,
                        enum column column, uint64_t *nr)
{
	static const char *const names[NR_COLUMNS] = {"data", "startTime", "endTime",
	                                              "name", "phase",     "category"};
	struct call_column calls = {firefox, column, 0};
	const struct trace_reduction *reduction;
	int err;

	fprintf(firefox->file, "\"%s\":[", names[column]);
	for (uint32_t i = 0; first && (reduction = trace_reduction(firefox->trace, i)); i++) {
		if (calls.nr++)
			putc(',', firefox->file);
		print_reduction(firefox, column, reduction);
	}
	err = spool_tell_calls(firefox->spool, thread, print_call, &calls);
	*nr = calls.nr;
	fputs("],\n", firefox->file);
	return err;
}

int firefox_print_markers(const struct firefox *firefox, uint32_t thread, bool first)
{
	uint64_t nr = 0;
	int err = 0;

	fputs("\"markers\":{", firefox->file);
	for (enum column column = 0; column < NR_COLUMNS && !err; column++)
		err = print_column(firefox, thread, first, column, &nr);
	fprintf(firefox->file, "\"length\":%" PRIu64 "}", nr);
	return err;
}
