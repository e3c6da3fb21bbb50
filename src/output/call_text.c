#include "output/call_text.h"

#include "output/text.h"

#include <inttypes.h>
#include <string.h>

static void put_size(FILE *to, const struct call_part *part)
{
	unsigned fields = call_part_fields(part->kind);
	bool file = !(fields & PART_PEER);

	if (fields & PART_BYTES)
		fprintf(to, "%" PRIu64 " byte%s%s", part->bytes, plural(part->bytes),
		        fields & PART_BYTES_IN ? ", " : "");
	if (fields & PART_BYTES_IN)
		fprintf(to, "%" PRIu64 " %s", part->bytes_in, file ? "asked for" : "in");
}

void call_part_text(FILE *to, const struct call_part *part)
{
	unsigned fields = call_part_fields(part->kind);

	put_size(to, part);
	if (fields & PART_PEER && part->peer != CALL_NO_PEER)
		fprintf(to, " with %d", part->peer);
	if (part->kind == CALL_FILE_OPENED)
		fprintf(to, "mode %d", part->tag);
	else if (fields & PART_TAG)
		fprintf(to, ", tag %d", part->tag);
	if (fields & PART_REQUEST)
		fprintf(to, "%srequest %" PRIu64, fields & (PART_BYTES | PART_BYTES_IN) ? ", " : "",
		        part->request);
}

double call_part_value(const struct call_part *part)
{
	double value;

	memcpy(&value, &part->bytes, sizeof(value));
	return value;
}

bool call_point_value(const struct call_moment *moment, double *value)
{
	const struct call *call = moment->call;

	if (!call->nr_parts || call->parts[0].kind != CALL_VALUE)
		return false;
	*value = call_part_value(&call->parts[0]);
	return true;
}
