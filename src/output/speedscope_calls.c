/*
 * A thread's calls are an "evented" profile: frames that open and close. Markers and values take no
 * time, and have no place there.
 */
#include "output/speedscope_calls.h"

#include "output/escape.h"

#include <inttypes.h>
#include <string.h>

void speedscope_print_regions(const struct trace *trace, FILE *file, bool first)
{
	for (uint32_t i = 0; trace_region(trace, i); i++) {
		fprintf(file, "%s\n{\"name\":", first && !i ? "" : ",");
		escape_json(file, trace_region_name(trace, i));
		putc('}', file);
	}
}

/* A profile on its way. */
struct events {
	const struct spool *spool;
	FILE *file;
	uint64_t nr, last; /* last: the time of the last one; 0: there is none */
};

static void print_event(void *arg, const struct call_moment *moment)
{
	struct events *events = arg;
	const struct paths *paths = &events->spool->paths;

	if (moment->kind == CALL_POINT || !trace_region(paths->trace, moment->call->region))
		return;
	events->last = moment->time - events->spool->calls->first_time;
	fprintf(events->file, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}",
	        events->nr++ ? ",\n" : "", moment->kind == CALL_ENTERED ? 'O' : 'C',
	        paths->names.nr_functions + moment->call->region, events->last);
}

int speedscope_print_calls(const struct spool *spool, FILE *file, uint32_t thread, unsigned *nr)
{
	struct events events = {.spool = spool, .file = file};
	char text[CONVERT_TEXT_SIZE];
	int err;

	if (!spool_has_calls(spool, thread))
		return 0;
	convert_thread_text(spool->paths.trace, thread, 0, text);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ": calls");
	fprintf(file, "%s\n{\"type\":\"evented\",\"name\":", (*nr)++ ? "," : "");
	escape_json(file, text);
	fputs(",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[\n", file);
	err = spool_tell_calls(spool, thread, print_event, &events);
	fprintf(file, "],\n\"endValue\":%" PRIu64 "}", events.last);
	return err;
}
