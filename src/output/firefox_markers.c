/*
 * Markers of a thread: the reductions, which the first thread shows for all, and the calls. A table
 * of markers is columns, so the calls of a thread are gone through once for each.
 */
#include "output/call_text.h"
#include "output/escape.h"
#include "output/firefox.h"
#include "output/run_properties.h"

#include <inttypes.h>
#include <math.h>

#define MAX_TOLD 8 /* parts of one call */

enum phase { PHASE_INSTANT, PHASE_INTERVAL };

typedef void print_moment(const struct firefox *firefox, const struct call_moment *moment);
typedef void print_reduction(const struct firefox *firefox, const struct trace_reduction *entry);

struct column {
	const char *name;
	print_reduction *reduction;
	print_moment *moment;
};

/* --- reductions ------------------------------------------------------------------------------- */

static void print_reduction_data(const struct firefox *firefox, const struct trace_reduction *entry)
{
	char text[CONVERT_TEXT_SIZE];

	reduction_text(firefox->trace, entry, text, sizeof(text));
	fputs("{\"type\":\"Reduction\",\"what\":", firefox->file);
	escape_json(firefox->file, text);
	putc('}', firefox->file);
}

static void print_reduction_time(const struct firefox *firefox, const struct trace_reduction *entry)
{
	firefox_print_ms(firefox->file, firefox_since_start(firefox, entry->time));
}

static void print_reduction_name(const struct firefox *firefox, const struct trace_reduction *entry)
{
	(void)entry;
	fprintf(firefox->file, "%" PRIu32, firefox_reduction_string(firefox));
}

static void print_instant(const struct firefox *firefox, const struct trace_reduction *entry)
{
	(void)entry;
	fprintf(firefox->file, "%d", PHASE_INSTANT);
}

static void print_other(const struct firefox *firefox, const struct trace_reduction *entry)
{
	(void)entry;
	fprintf(firefox->file, "%d", CATEGORY_OTHER);
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
		call_part_text(file, &call->parts[i]);
	}
	fputs("\"}", file);
}

static void print_call_start(const struct firefox *firefox, const struct call_moment *moment)
{
	firefox_print_ms(firefox->file, firefox_since_start(firefox, moment->time));
}

static void print_call_end(const struct firefox *firefox, const struct call_moment *moment)
{
	uint64_t end = moment->time;

	if (moment->kind != CALL_POINT && moment->call->leave > end)
		end = moment->call->leave;
	firefox_print_ms(firefox->file, firefox_since_start(firefox, end));
}

static void print_call_name(const struct firefox *firefox, const struct call_moment *moment)
{
	fprintf(firefox->file, "%" PRIu32,
	        firefox_reduction_string(firefox) + 1 + moment->call->region);
}

static void print_call_phase(const struct firefox *firefox, const struct call_moment *moment)
{
	fprintf(firefox->file, "%d", moment->kind == CALL_POINT ? PHASE_INSTANT : PHASE_INTERVAL);
}

static void print_call_category(const struct firefox *firefox, const struct call_moment *moment)
{
	(void)moment;
	fprintf(firefox->file, "%d", CATEGORY_CALLS);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* The column of the calls on its way. */
struct call_column {
	const struct firefox *firefox;
	print_moment *print;
	uint64_t nr; /* rows so far, those of reductions included */
};

static void print_call(void *arg, const struct call_moment *moment)
{
	struct call_column *column = arg;
	const struct firefox *firefox = column->firefox;

	if (moment->kind == CALL_LEFT || !trace_region(firefox->trace, moment->call->region))
		return;
	if (column->nr++)
		putc_unlocked(',', firefox->file);
	column->print(firefox, moment);
}

static int print_column(const struct firefox *firefox, uint32_t thread, bool first,
                        const struct column *column, uint64_t *nr)
{
	struct call_column calls = {firefox, column->moment, 0};
	const struct trace_reduction *reduction;
	int err;

	fprintf(firefox->file, "\"%s\":[", column->name);
	for (uint32_t i = 0; first && (reduction = trace_reduction(firefox->trace, i)); i++) {
		if (calls.nr++)
			putc(',', firefox->file);
		column->reduction(firefox, reduction);
	}
	err = spool_tell_calls(firefox->spool, thread, print_call, &calls);
	*nr = calls.nr;
	fputs("],\n", firefox->file);
	return err;
}

int firefox_print_markers(const struct firefox *firefox, uint32_t thread, bool first)
{
	/* An instant has no end for the profiler; Perfetto's rows would slip where there is none.
	 */
	static const struct column columns[] = {
		{"data", print_reduction_data, print_call_data},
		{"startTime", print_reduction_time, print_call_start},
		{"endTime", print_reduction_time, print_call_end},
		{"name", print_reduction_name, print_call_name},
		{"phase", print_instant, print_call_phase},
		{"category", print_other, print_call_category},
	};
	uint64_t nr = 0;
	int err = 0;

	fputs("\"markers\":{", firefox->file);
	for (unsigned i = 0; i < sizeof(columns) / sizeof(*columns) && !err; i++)
		err = print_column(firefox, thread, first, &columns[i], &nr);
	fprintf(firefox->file, "\"length\":%" PRIu64 "}", nr);
	return err;
}
