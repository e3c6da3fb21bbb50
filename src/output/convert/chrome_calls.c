#include "output/convert/chrome_calls.h"

#include "output/views/call_text.h"
#include "output/text/escape.h"

#include <inttypes.h>
#include <math.h>

#define MAX_TOLD 8 /* parts of one call */

static void print_head(const struct chrome_track *track, const char *phase, uint64_t time,
                       const char *name)
{
	uint64_t at = time > track->start ? time - track->start : 0;

	fputs(*track->separator, track->file);
	*track->separator = ",\n";
	fprintf(track->file, "{\"ph\":\"%s\",\"cat\":\"calls\",", phase);
	/* Perfetto shows a track with a local id below its process. */
	if (*phase == 'b' || *phase == 'e')
		fprintf(track->file, "\"id2\":{\"local\":\"0x%x\"}", track->number);
	else
		fprintf(track->file, "\"id\":%u", track->number);
	fprintf(track->file,
	        ",\"pid\":%d,\"tid\":%d,\"ts\":%" PRIu64 ".%03" PRIu64 ",\"name\":", track->pid,
	        track->tid, at / 1000, at % 1000);
	escape_json(track->file, name);
}

/* "send": "8 bytes with rank 1, tag 10" */
static void print_part(const struct chrome_track *track, const struct call_part *part)
{
	fprintf(track->file, "\"%s\":\"", part_kind_name(part->kind));
	call_part_text(track->file, track->trace, part);
	fputc('"', track->file);
}

/* Prints only the first part of each kind: members of a JSON object must have different names. */
static void print_parts(const struct chrome_track *track, const struct call *call)
{
	uint32_t seen = 0, told = 0;

	fputs(",\"args\":{", track->file);
	for (uint32_t i = 0; i < call->nr_parts && told < MAX_TOLD; i++) {
		if (seen >> call->parts[i].kind & 1)
			continue;
		seen |= 1U << call->parts[i].kind;
		fputs(told++ ? "," : "", track->file);
		print_part(track, &call->parts[i]);
	}
	fputs("}}", track->file);
}

static void print_point(const struct chrome_track *track, const struct call_moment *moment,
                        const char *name)
{
	double value;

	if (!call_point_value(moment, &value)) {
		print_head(track, "i", moment->time, name);
		fputs(",\"s\":\"t\"}", track->file);
		return;
	}
	if (isfinite(value)) {
		print_head(track, "C", moment->time, name);
		fprintf(track->file, ",\"args\":{\"value\":%.17g}}", value);
		return;
	}
	/* JSON has no such number, and a counter shows nothing else. */
	print_head(track, "i", moment->time, name);
	fprintf(track->file, ",\"s\":\"t\",\"args\":{\"value\":\"%g\"}}", value);
}

void chrome_print_call(void *arg, const struct call_moment *moment)
{
	const struct chrome_track *track = arg;
	const char *name = trace_region_name(track->trace, moment->call->region);

	if (moment->kind == CALL_POINT) {
		print_point(track, moment, name);
		return;
	}
	print_head(track, moment->kind == CALL_ENTERED ? "b" : "e", moment->time, name);
	if (moment->kind == CALL_ENTERED)
		print_parts(track, moment->call);
	else
		fputc('}', track->file);
}
