#include "trace/selection.h"

#include "output/text/text.h"

#include <stdlib.h>

static void put_time(FILE *to, const struct trace_run *run, const struct selection *selection)
{
	char from[TEXT_SIZE], until[TEXT_SIZE];

	text_quantity(from, (double)trace_since_start(run, selection_start(run, selection)),
	              TRACE_NS);
	text_quantity(until, (double)trace_since_start(run, selection_end(run, selection)),
	              TRACE_NS);
	fprintf(to, "from %s to %s of the run", from, until);
}

char *selection_text(const struct trace *trace, const struct selection *selection)
{
	const struct trace_run *run = trace_run(trace);
	bool in_time = selection && (selection->from > run->start || selection->to < run->end);
	unsigned nr_words = selection && selection->filter ? selection->filter->nr_words : 0;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (unsigned i = 0; i < nr_words; i++)
		fprintf(to, "%s%s", i ? ", " : "", selection->filter->words[i]);
	if (in_time && nr_words)
		fputs(", ", to);
	if (in_time)
		put_time(to, run, selection);
	if (!fclose(to))
		return text;
	free(text);
	return NULL;
}
