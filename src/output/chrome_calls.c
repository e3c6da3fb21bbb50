#include "output/chrome_calls.h"

#include "output/call_text.h"
#include "output/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#define MAX_TOLD 8 /* parts of one call */

struct teller {
	FILE *file;
	const struct trace *trace;
	uint32_t thread;
	int32_t pid;
	uint64_t start;
	const char **separator;
};

static void print_head(struct teller *teller, const char *phase, uint64_t time, const char *name)
{
	const struct trace_thread *thread = trace_thread(teller->trace, teller->thread);
	uint64_t at = time > teller->start ? time - teller->start : 0;

	fputs(*teller->separator, teller->file);
	*teller->separator = ",\n";
	fprintf(teller->file,
	        "{\"ph\":\"%s\",\"cat\":\"calls\",\"id\":%u,\"pid\":%d,\"tid\":%d,"
	        "\"ts\":%" PRIu64 ".%03" PRIu64 ",\"name\":",
	        phase, teller->thread, teller->pid, thread ? thread->tid : 0, at / 1000, at % 1000);
	escape_json(teller->file, name);
}

/* "send": "8 bytes with 1, tag 10" */
static void print_part(struct teller *teller, const struct call_part *part)
{
	fprintf(teller->file, "\"%s\":\"", part_kind_name(part->kind));
	call_part_text(teller->file, part);
	fputc('"', teller->file);
}

/* Of parts of one kind the first is told: members of an object have different names. */
static void print_parts(struct teller *teller, const struct call *call)
{
	uint32_t seen = 0, told = 0;

	fputs(",\"args\":{", teller->file);
	for (uint32_t i = 0; i < call->nr_parts && told < MAX_TOLD; i++) {
		if (seen >> call->parts[i].kind & 1)
			continue;
		seen |= 1U << call->parts[i].kind;
		fputs(told++ ? "," : "", teller->file);
		print_part(teller, &call->parts[i]);
	}
	fputs("}}", teller->file);
}

static void print_point(struct teller *teller, const struct call_moment *moment, const char *name)
{
	double value;

	if (!call_point_value(moment, &value)) {
		print_head(teller, "i", moment->time, name);
		fputs(",\"s\":\"t\"}", teller->file);
		return;
	}
	if (isfinite(value)) {
		print_head(teller, "C", moment->time, name);
		fprintf(teller->file, ",\"args\":{\"value\":%.17g}}", value);
		return;
	}
	/* JSON has no such number, and a counter shows nothing else. */
	print_head(teller, "i", moment->time, name);
	fprintf(teller->file, ",\"s\":\"t\",\"args\":{\"value\":\"%g\"}}", value);
}

static void print_moment(struct teller *teller, const struct call_moment *moment)
{
	const char *name = trace_region_name(teller->trace, moment->call->region);

	if (moment->kind == CALL_POINT) {
		print_point(teller, moment, name);
		return;
	}
	print_head(teller, moment->kind == CALL_ENTERED ? "b" : "e", moment->time, name);
	if (moment->kind == CALL_ENTERED)
		print_parts(teller, moment->call);
	else
		fputc('}', teller->file);
}

int chrome_calls(struct conversion *conversion, FILE *file, const struct call_index *calls,
                 uint32_t thread, int32_t pid, uint64_t start, const char **separator)
{
	struct teller teller = {file, calls->trace, thread, pid, start, separator};
	struct call_stream *stream;
	struct call_moment moment;
	uint64_t nr = 0;
	int got, err = 0;

	if (thread >= calls->nr_threads || !calls->nr[thread])
		return 0;
	stream = call_stream_new(calls, thread);
	if (!stream)
		return -errno;
	while (!err && (got = call_stream_next(stream, &moment)) == 1) {
		print_moment(&teller, &moment);
		err = ++nr % (1 << 16) ? 0 : convert_tick(conversion);
	}
	call_stream_free(stream);
	return err ? err : got;
}
