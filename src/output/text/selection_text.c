#include "trace/part.h"

#include "output/text/text.h"

#include <stdlib.h>

static void put_time(FILE *to, const struct trace_run *run, const struct part *part)
{
	char from[TEXT_SIZE], until[TEXT_SIZE];

	text_quantity(from, (double)trace_since_start(run, part_start(run, part)), TRACE_NS);
	text_quantity(until, (double)trace_since_start(run, part_end(run, part)), TRACE_NS);
	fprintf(to, "from %s to %s of the run", from, until);
}

char *part_text(const struct trace *trace, const struct part *part)
{
	const struct trace_run *run = trace_run(trace);
	bool in_time = part && (part->from > run->start || part->to < run->end);
	unsigned nr_words = part && part->who ? part->who->nr_words : 0;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (unsigned i = 0; i < nr_words; i++)
		fprintf(to, "%s%s", i ? ", " : "", part->who->words[i]);
	if (in_time && nr_words)
		fputs(", ", to);
	if (in_time)
		put_time(to, run, part);
	if (!fclose(to))
		return text;
	free(text);
	return NULL;
}
