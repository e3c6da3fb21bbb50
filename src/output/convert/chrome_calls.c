#include "output/convert/chrome_calls.h"

#include "output/views/call_text.h"

#include <inttypes.h>
#include <math.h>

#define MAX_TOLD 8 /* parts of one call */

void chrome_put_us(struct json_writer *json, const char *key, uint64_t ns)
{
	json_raw(json, key, "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

/* Perfetto shows a track with a local id below its process. */
static void put_id(const struct chrome_track *track, char phase)
{
	struct json_writer *json = track->json;

	if (phase != 'b' && phase != 'e') {
		json_number(json, "id", track->number);
		return;
	}
	json_begin(json, "id2");
	json_raw(json, "local", "\"0x%x\"", track->number);
	json_end(json);
}

/* Begins an event. */
static void begin_event(const struct chrome_track *track, const char *category, const char *phase,
                        uint64_t time, const char *name)
{
	struct json_writer *json = track->json;

	json_break_between(json);
	json_begin(json, NULL);
	json_text(json, "ph", phase);
	json_text(json, "cat", category);
	put_id(track, *phase);
	json_int(json, "pid", track->pid);
	json_int(json, "tid", track->tid);
	chrome_put_us(json, "ts", time > track->start ? time - track->start : 0);
	json_text(json, "name", name);
}

/*
 * Puts only the first part of each type, because members of a JSON object must have different
 * names: "send": "8 bytes with rank 1, tag 10".
 */
static void put_parts(const struct chrome_track *track, const struct call *call)
{
	uint32_t seen = 0, told = 0;

	json_begin(track->json, "args");
	for (uint32_t i = 0; i < call->nr_parts && told < MAX_TOLD; i++) {
		const struct call_part *part = &call->parts[i];

		if (seen >> part->type & 1)
			continue;
		seen |= 1U << part->type;
		told++;
		call_part_text(json_begin_text(track->json, part_type_name(part->type)),
		               track->trace, part);
		json_end_text(track->json);
	}
	json_end(track->json);
}

/* JSON has no number for every value; a counter shows nothing else. */
static void put_point(const struct chrome_track *track, const struct call_moment *moment,
                      const char *name)
{
	struct json_writer *json = track->json;
	double value;
	bool has_value = call_value(moment->call, &value);
	bool counter = has_value && isfinite(value);

	begin_event(track, "calls", counter ? "C" : "i", moment->time, name);
	if (!counter)
		json_text(json, "s", "t");
	if (has_value) {
		json_begin(json, "args");
		json_raw(json, "value", counter ? "%.17g" : "\"%g\"", value);
		json_end(json);
	}
}

void chrome_put_call(void *arg, const struct call_moment *moment)
{
	const struct chrome_track *track = arg;
	const char *name = trace_region_name(track->trace, moment->call->region);

	if (moment->type == CALL_POINT)
		put_point(track, moment, name);
	else
		begin_event(track, "calls", moment->type == CALL_ENTERED ? "b" : "e", moment->time,
		            name);
	if (moment->type == CALL_ENTERED)
		put_parts(track, moment->call);
	json_end(track->json);
}

static void put_span(const struct chrome_track *track, const struct iteration_span *span)
{
	struct json_writer *json = track->json;
	const struct trace_iteration *first = &span->first;
	char name[64] = "iteration";

	if (!first->stored)
		snprintf(name, sizeof(name), "%" PRIu64 " iteration%s, calls not stored", span->nr,
		         span->nr == 1 ? "" : "s");
	begin_event(track, "iterations", "b", first->begin, name);
	json_begin(json, "args");
	json_number(json, "phase", first->phase);
	json_number(json, "level", first->level);
	json_number(json, "ordinal", first->ordinal);
	json_number(json, "calls", first->calls);
	json_flag(json, "slow", first->slow);
	json_end(json);
	json_end(json);
	begin_event(track, "iterations", "e", span->end, name);
	json_end(json);
}

void chrome_put_iterations(const struct chrome_track *track, const struct iteration_index *index)
{
	struct iteration_cursor cursor;
	struct iteration_span span;

	iteration_cursor_init(&cursor, index, track->number);
	while (iteration_cursor_next_span(&cursor, &span))
		put_span(track, &span);
}
