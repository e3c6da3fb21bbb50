/*
 * Markers of a thread: the reductions and actions, which the first thread shows for all, the
 * iterations, and the calls. A table of markers is columns, so the calls of a thread are gone
 * through once for each.
 */
#include "output/views/call_text.h"
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

static void put_time(struct firefox *firefox, uint64_t time)
{
	firefox_put_ms(&firefox->json, NULL, firefox_since_start(firefox, time));
}

/* --- reductions and actions ------------------------------------------------------------------- */

struct instant {
	const char *type, *what;
	uint64_t time;
	uint32_t name; /* string */
};

static void put_instant_data(struct json_writer *json, const struct instant *instant)
{
	json_begin(json, NULL);
	json_text(json, "type", instant->type);
	json_text(json, "what", instant->what);
	json_end(json);
}

static void put_instant(struct firefox *firefox, enum column column, const struct instant *instant)
{
	if (column == COLUMN_DATA)
		put_instant_data(&firefox->json, instant);
	else if (column == COLUMN_START || column == COLUMN_END)
		put_time(firefox, instant->time);
	else if (column == COLUMN_NAME)
		json_number(&firefox->json, NULL, instant->name);
	else
		json_number(&firefox->json, NULL,
		            column == COLUMN_PHASE ? PHASE_INSTANT : CATEGORY_OTHER);
}

static void put_reduction(struct firefox *firefox, enum column column,
                          const struct trace_reduction *entry)
{
	char text[CONVERT_TEXT_SIZE];

	reduction_text(firefox->trace, entry, text, sizeof(text));
	put_instant(firefox, column,
	            &(struct instant){"Reduction", text, entry->time,
	                              firefox_reduction_string(firefox)});
}

static void put_action(struct firefox *firefox, enum column column,
                       const struct trace_action *action)
{
	put_instant(firefox, column,
	            &(struct instant){"Action", trace_action_text(firefox->trace, action),
	                              action->time, firefox_action_string(firefox)});
}

/* --- calls ------------------------------------------------------------------------------------ */

static void put_parts(FILE *to, const struct trace *trace, const struct call *call)
{
	for (uint32_t i = 0; i < call->nr_parts; i++) {
		if (i == MAX_TOLD) {
			fprintf(to, "; %" PRIu32 " more", call->nr_parts - i);
			break;
		}
		fprintf(to, "%s%s ", i ? "; " : "", part_type_name(call->parts[i].type));
		call_part_text(to, trace, &call->parts[i]);
	}
}

static void put_call_data(struct firefox *firefox, const struct call_moment *moment)
{
	struct json_writer *json = &firefox->json;
	double value;
	FILE *to;

	json_begin(json, NULL);
	json_text(json, "type", "Call");
	to = json_begin_text(json, "what");
	if (moment->type != CALL_POINT)
		put_parts(to, firefox->trace, moment->call);
	else if (call_value(moment->call, &value))
		fprintf(to, isfinite(value) ? "%.17g" : "%g", value);
	json_end_text(json);
	json_end(json);
}

static uint64_t end_of(const struct call_moment *moment)
{
	return moment->type != CALL_POINT && moment->call->leave > moment->time
	               ? moment->call->leave
	               : moment->time;
}

static void put_moment(struct firefox *firefox, enum column column,
                       const struct call_moment *moment)
{
	bool instant = moment->type == CALL_POINT;

	if (column == COLUMN_DATA)
		put_call_data(firefox, moment);
	else if (column == COLUMN_START || column == COLUMN_END)
		put_time(firefox, column == COLUMN_START ? moment->time : end_of(moment));
	else if (column == COLUMN_NAME)
		json_number(&firefox->json, NULL,
		            firefox_reduction_string(firefox) + 1 + moment->call->region);
	else if (column == COLUMN_PHASE)
		json_number(&firefox->json, NULL, instant ? PHASE_INSTANT : PHASE_INTERVAL);
	else
		json_number(&firefox->json, NULL, CATEGORY_CALLS);
}

/* --- iterations ------------------------------------------------------------------------------- */

static void put_span_data(struct json_writer *json, const struct iteration_span *span)
{
	const struct trace_iteration *first = &span->first;
	FILE *to;

	json_begin(json, NULL);
	json_text(json, "type", "Iteration");
	to = json_begin_text(json, "what");
	if (span->nr > 1)
		fprintf(to, "%" PRIu64 " iterations, ", span->nr);
	fprintf(to, "phase %" PRIu32 " of level %u, number %" PRIu32 ", of %" PRIu32 " calls%s",
	        first->phase, first->level, first->ordinal, first->calls,
	        first->slow ? ", slow" : "");
	json_end_text(json);
	json_end(json);
}

static void put_span(struct firefox *firefox, enum column column, const struct iteration_span *span)
{
	if (column == COLUMN_DATA)
		put_span_data(&firefox->json, span);
	else if (column == COLUMN_START || column == COLUMN_END)
		put_time(firefox, column == COLUMN_START ? span->first.begin : span->end);
	else if (column == COLUMN_NAME)
		json_number(&firefox->json, NULL,
		            firefox_iteration_string(firefox, span->first.stored));
	else
		json_number(&firefox->json, NULL,
		            column == COLUMN_PHASE ? PHASE_INTERVAL : CATEGORY_CALLS);
}

static uint64_t put_spans(struct firefox *firefox, uint32_t thread, enum column column)
{
	struct iteration_cursor cursor;
	struct iteration_span span;
	uint64_t nr = 0;

	iteration_cursor_init(&cursor, &firefox->iterations, thread);
	for (; iteration_cursor_next_span(&cursor, &span); nr++)
		put_span(firefox, column, &span);
	return nr;
}

/* --- columns ---------------------------------------------------------------------------------- */

/* The column of the calls on its way. */
struct call_column {
	struct firefox *firefox;
	enum column column;
	uint64_t nr; /* rows so far, those of reductions and actions included */
};

static void put_call(void *arg, const struct call_moment *moment)
{
	struct call_column *calls = arg;

	if (moment->type == CALL_LEFT || !trace_region(calls->firefox->trace, moment->call->region))
		return;
	calls->nr++;
	put_moment(calls->firefox, calls->column, moment);
}

static int put_column(struct firefox *firefox, uint32_t thread, bool first, enum column column,
                      uint64_t *nr)
{
	static const char *const names[NR_COLUMNS] = {"data", "startTime", "endTime",
	                                              "name", "phase",     "category"};
	struct call_column calls = {firefox, column, 0};
	const struct trace_reduction *reduction;
	const struct trace_action *action;
	int err;

	json_begin_list(&firefox->json, names[column]);
	for (uint32_t i = 0; first && (reduction = trace_reduction(firefox->trace, i)); i++) {
		calls.nr++;
		put_reduction(firefox, column, reduction);
	}
	for (uint32_t i = 0; first && (action = trace_action(firefox->trace, i)); i++) {
		calls.nr++;
		put_action(firefox, column, action);
	}
	calls.nr += put_spans(firefox, thread, column);
	err = spool_tell_calls(firefox->spool, thread, put_call, &calls);
	*nr = calls.nr;
	json_end_list(&firefox->json);
	json_break(&firefox->json);
	return err;
}

int firefox_put_markers(struct firefox *firefox, uint32_t thread, bool first)
{
	uint64_t nr = 0;
	int err = 0;

	json_begin(&firefox->json, "markers");
	for (enum column column = 0; column < NR_COLUMNS && !err; column++)
		err = put_column(firefox, thread, first, column, &nr);
	json_number(&firefox->json, "length", nr);
	json_end(&firefox->json);
	return err;
}
