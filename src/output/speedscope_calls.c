/*
 * A thread's calls are an "evented" profile: frames that open and close. Markers and values take no
 * time, and have no place there.
 */
#include "output/speedscope_calls.h"

#include "output/call_stream.h"
#include "output/escape.h"

#include <errno.h>
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

static uint64_t since_start(const struct speedscope_calls *calls, uint64_t time)
{
	return time - calls->index->first_time;
}

/* *last: the time of the last event; 0 where there is none. */
static int print_events(const struct speedscope_calls *calls, FILE *file, uint32_t thread,
                        uint64_t *last)
{
	struct call_stream *stream = call_stream_new(calls->index, thread);
	struct call_moment moment;
	uint64_t nr = 0;
	int got, err = 0;

	if (!stream)
		return -errno;
	while (!err && (got = call_stream_next(stream, &moment)) == 1) {
		if (moment.kind == CALL_POINT ||
		    !trace_region(calls->conversion->trace, moment.call->region))
			continue;
		*last = since_start(calls, moment.time);
		fprintf(file, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}",
		        nr++ ? ",\n" : "", moment.kind == CALL_ENTERED ? 'O' : 'C',
		        calls->first_frame + moment.call->region, *last);
		err = nr % (1 << 16) ? 0 : convert_tick(calls->conversion);
	}
	call_stream_free(stream);
	return err ? err : got;
}

int speedscope_print_calls(const struct speedscope_calls *calls, FILE *file, uint32_t thread,
                           unsigned *nr)
{
	char text[CONVERT_TEXT_SIZE];
	uint64_t last = 0;
	int err;

	if (thread >= calls->index->nr_threads || !calls->index->nr[thread])
		return 0;
	convert_thread_text(calls->conversion->trace, thread, 0, text);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ": calls");
	fprintf(file, "%s\n{\"type\":\"evented\",\"name\":", (*nr)++ ? "," : "");
	escape_json(file, text);
	fputs(",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[\n", file);
	err = print_events(calls, file, thread, &last);
	fprintf(file, "],\n\"endValue\":%" PRIu64 "}", last);
	return err;
}
