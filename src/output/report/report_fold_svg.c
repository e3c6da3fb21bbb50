/* A folded iteration as a picture: a strip for each function and counter, with its band. */
#include "output/report/report_fold.h"

#include "output/report/report.h"
#include "output/text/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SHARE 0.01 /* of a function that has a strip */

enum {
	LEFT = 300,  /* names */
	PLOT = 640,  /* an iteration */
	RIGHT = 90,  /* the scale */
	STRIP = 56,  /* one function */
	GAP = 14,    /* between strips */
	TOP = 64,    /* titles */
	BOTTOM = 40, /* the axis */
	NAME = 42,   /* characters */
	COMMAND = 100,
	STRIPS = 16, /* functions */
};

/* The values of a strip, and their bands. */
struct strip {
	const char *name;
	struct fold_band band;
	double most; /* the scale ends here */
	const char *color;
};

/* Puts at most so many characters of a text. */
static void put_text(FILE *to, const char *text, unsigned most)
{
	const char *end = text;
	char part[4 * COMMAND + 1];

	while (most-- && escape_next(&end))
		continue;
	snprintf(part, sizeof(part), "%.*s", (int)(end - text), text);
	escape_xml(to, part);
	if (*end)
		fputs("…", to);
}

static double y_of(const struct strip *strip, double top, double value)
{
	double part = strip->most > 0 ? value / strip->most : 0;

	return top + STRIP * (1 - fmin(fmax(part, 0), 1));
}

static double x_of(const struct fold *fold, unsigned bin)
{
	return LEFT + (double)PLOT * bin / fold->nr_bins;
}

/* Adds the steps of a line to a path: forward, or backward. Bins without samples are at 0. */
static void put_steps(FILE *to, const struct fold *fold, const struct strip *strip, double top,
                      const double *values, bool backward)
{
	for (unsigned i = 0; i < fold->nr_bins; i++) {
		unsigned bin = backward ? fold->nr_bins - 1 - i : i;
		double y = y_of(strip, top, isnan(values[bin]) ? 0 : values[bin]);

		fprintf(to, "%s%.1f %.1f L%.1f %.1f", i || backward ? " L" : "M",
		        x_of(fold, bin + backward), y, x_of(fold, bin + !backward), y);
	}
}

static void put_strip(FILE *to, const struct fold *fold, const struct strip *strip, double top,
                      const char *scale)
{
	fprintf(to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 12,
	        top + STRIP / 2. + 4);
	put_text(to, strip->name, NAME);
	fprintf(to,
	        "</text>\n<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
	        "fill=\"#f5f5f5\"/>\n",
	        LEFT, top, PLOT, STRIP);
	fputs("<path d=\"", to);
	put_steps(to, fold, strip, top, strip->band.low, false);
	put_steps(to, fold, strip, top, strip->band.high, true);
	fprintf(to, " Z\" fill=\"%s\" fill-opacity=\"0.25\"/>\n<path d=\"", strip->color);
	put_steps(to, fold, strip, top, strip->band.value, false);
	fprintf(to, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", strip->color);
	fprintf(to, "<text x=\"%d\" y=\"%.1f\" class=\"s\">%s</text>\n", LEFT + PLOT + 8, top + 9,
	        scale);
	fprintf(to, "<text x=\"%d\" y=\"%.1f\" class=\"s\">0</text>\n", LEFT + PLOT + 8,
	        top + STRIP);
}

static void put_function(FILE *to, const struct fold *fold, const struct fold_function *function,
                         double top)
{
	struct strip strip = {.color = "#1f6fb4"};
	char text[FRAME_TEXT_SIZE], scale[TEXT_SIZE];

	strip.name = paths_function(&fold->paths, function->function, text);
	fold_shares(fold, function, &strip.band);
	for (unsigned i = 0; i < fold->nr_bins; i++)
		strip.most = fmax(strip.most, strip.band.high[i]);
	snprintf(scale, sizeof(scale), "%.0f %%", 100 * strip.most);
	put_strip(to, fold, &strip, top, scale);
}

static void put_counter(FILE *to, const struct fold *fold, const char *name,
                        const struct fold_band *rates, double top)
{
	struct strip strip = {.name = name, .band = *rates, .color = "#b4501f"};
	char scale[TEXT_SIZE], quantity[TEXT_SIZE];

	for (unsigned i = 0; i < fold->nr_bins; i++)
		strip.most = fmax(strip.most, rates->high[i]);
	text_quantity(quantity, strip.most, TRACE_COUNT);
	snprintf(scale, sizeof(scale), "%.*s/s", TEXT_SIZE - 3, quantity);
	put_strip(to, fold, &strip, top, scale);
}

static int put_command(FILE *to, const struct fold *fold)
{
	const struct trace_run *run = trace_run(fold->trace);
	const char *command = trace_string(fold->trace, run->command);
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	int err = -ENOMEM;

	if (!memory)
		return err;
	text_put_command(memory, command, strlen(command), trace_names_scope(run));
	err = fclose(memory) || !text ? err : 0; /* no text: the last bytes had no memory */
	if (!err)
		put_text(to, text, COMMAND);
	free(text);
	return err;
}

static int put_title(FILE *to, const struct fold *fold)
{
	char median[TEXT_SIZE];
	int err;

	text_quantity(median, (double)fold->processes[0].median, TRACE_NS);
	fputs("<text x=\"12\" y=\"24\" class=\"t\">", to);
	err = put_command(to, fold);
	fprintf(to,
	        "</text>\n<text x=\"12\" y=\"44\">one iteration of loop %" PRIu32 ", %s; %" PRIu64
	        " of %" PRIu64 " iterations, %" PRIu64 " samples; bands hold 95 %%%s</text>\n",
	        fold->phase, median, fold->folded, fold->seen, fold->samples,
	        fold_is_even(fold) ? "" : "; samples are not spread evenly: shares may be wrong");
	return err;
}

static void put_axis(FILE *to, double top)
{
	for (int i = 0; i <= 4; i++)
		fprintf(to,
		        "<text x=\"%d\" y=\"%.1f\" class=\"s\" text-anchor=\"middle\">%d "
		        "%%</text>\n",
		        LEFT + PLOT * i / 4, top + 8, 25 * i);
}

static int put_picture(FILE *to, struct fold *fold, uint32_t limit)
{
	uint32_t nr = fold_nr_functions(fold, LEAST_SHARE);
	struct fold_band rates;
	struct fold_columns columns;
	double top = TOP;
	bool known;
	int err;

	fold_columns_init(&columns, fold);
	nr = nr < limit ? nr : limit;
	nr = nr < STRIPS ? nr : STRIPS;
	fprintf(to,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
	        "font-family=\"sans-serif\" font-size=\"12\">\n"
	        "<style>.s{font-size:10px;fill:#555}.t{font-size:15px}</style>\n"
	        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
	        LEFT + PLOT + RIGHT, TOP + BOTTOM + (nr + columns.nr) * (STRIP + GAP));
	err = put_title(to, fold);
	for (uint32_t i = 0; i < nr; i++, top += STRIP + GAP)
		put_function(to, fold, &fold->functions[i], top);
	for (unsigned i = 0; i < columns.nr; i++) {
		const char *name = fold_rates(fold, &columns, i, &rates, &known);

		if (!known)
			continue;
		put_counter(to, fold, name, &rates, top);
		top += STRIP + GAP;
	}
	put_axis(to, top);
	fputs("</svg>\n", to);
	return err;
}

int report_fold_svg(FILE *to, const struct trace *trace, const struct view_query *query)
{
	struct fold fold;
	int err = fold_init(&fold, trace, query);

	if (!err)
		err = put_picture(to, &fold, query->limit);
	fold_fini(&fold);
	return err;
}
