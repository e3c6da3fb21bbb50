#include "output/screen/top_lines.h"

#include "output/text/short_name.h"
#include "output/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDE        110 /* columns from which on module and last minute are shown */
#define NR_BARS     20  /* of the last minute above the rows; wide terminals have twice as many */
#define LEAST_BARS  10  /* where there is less room there are none */
#define MODULE_LEFT 24U /* columns of a wide terminal that modules take */

#define MINUTE_TITLE "  last minute"

static void put_bar(FILE *to, const struct top_model *model, double height)
{
	unsigned eighths = height > 0 ? 1 + (unsigned)(fmin(height, 1) * 7.999) : 0;

	if (model->recording->put_plain)
		fputc(eighths ? '0' + (int)eighths : ' ', to);
	else
		fputs(text_bar(eighths), to);
}

/* --- head ------------------------------------------------------------------------------------- */

static const struct trace *trace_of(const struct top_model *model)
{
	return model->recording->trace(model->recording->arg);
}

/* The command without the folders of its program. */
static const char *command_of(const struct trace *trace)
{
	const char *command = trace_string(trace, trace_run(trace)->command), *slash;
	size_t program = strcspn(command, "\x1f");

	slash = trace_names_scope(trace_run(trace)) ? NULL : memrchr(command, '/', program);
	return slash ? slash + 1 : command;
}

static void put_command(FILE *to, const struct trace *trace, unsigned width)
{
	const struct trace_run *run = trace_run(trace);
	const char *command = command_of(trace);
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	text_put_command(memory, command, strlen(command), trace_names_scope(run));
	if (!fclose(memory) && text)
		text_put(to, text, width);
	free(text);
}

/* Returns the state of a recorder at work that does not record as its rate says; "": it does. */
static const char *paused_text(const struct top_model *model)
{
	const struct top_recording *recording = model->recording;
	const struct recording_state state = recording->recorder(recording->arg);

	return recording->state(recording->arg) == LIVE_RECORDING && state.flags
	               ? recording_state_name(&state)
	               : "";
}

static void put_rate(FILE *to, const struct top_model *model, bool wide)
{
	const struct trace_event *event = &model->of_run;
	uint32_t shift = trace_shift(event) - event->initial_shift;
	const char *paused = paused_text(model);
	char rate[TEXT_SIZE];

	if (*paused)
		fprintf(to, "%s, ", paused);
	else if (wide)
		fputs("recording ", to);
	text_rate(rate, trace_period(event, trace_shift(event)), event->unit);
	if (shift)
		fprintf(to, "1 of %llu (%s)", 1ULL << (shift & 63), rate);
	else if (event->unit != TRACE_NS && trace_period(event, 0) == 1)
		fputs("every one", to);
	else
		fprintf(to, "all (%s)", rate);
	if (!model->window)
		return;
	text_rate(rate, model->window_period, event->unit);
	fprintf(to, ", window %s", rate);
}

/* The names of all events, with a mark at the one that is shown, or where there is less room that
 * one alone and its number. */
static void put_events(FILE *to, const struct top_model *model, bool wide)
{
	const struct trace *trace = trace_of(model);
	const struct trace_event *event = trace_event_of_run(trace, model->event);
	const uint32_t nr = trace_nr_events(trace);

	if (!wide && nr > 1 && event) {
		fputs(" ▸", to);
		text_put(to, trace_string(trace, event->name), 0);
		fprintf(to, " (%u of %u)", model->event + 1, nr);
		return;
	}
	for (uint32_t i = 0; (event = trace_event_of_run(trace, i)); i++) {
		fputs(i == model->event && nr > 1 ? " ▸" : " ", to);
		text_put(to, trace_string(trace, event->name), 0);
	}
}

/* All of the line that is behind the command. */
static void put_state(FILE *to, const struct top_model *model, bool wide)
{
	const struct top_recording *recording = model->recording;
	char wall[TEXT_SIZE];

	text_quantity(wall, (double)trace_wall(trace_run(trace_of(model))), TRACE_NS);
	fprintf(to, " · %s · ", wall);
	put_rate(to, model, wide);
	fprintf(to, " · %llu lost ·", (unsigned long long)recording->recorder(recording->arg).lost);
	put_events(to, model, wide);
}

void top_line_run(FILE *to, const struct top_model *model, unsigned columns)
{
	char *state = NULL;
	unsigned used;
	size_t size;
	FILE *memory = open_memstream(&state, &size);

	if (!memory)
		return;
	put_state(memory, model, columns >= WIDE);
	if (!fclose(memory) && state) {
		used = text_put(NULL, state, 0) + 1;
		fputc(' ', to);
		put_command(to, trace_of(model), columns > used + 12 ? columns - used : 12);
		fputs(state, to);
	}
	free(state);
}

/* Returns the bars that so many columns have room for. */
static unsigned nr_bars(unsigned columns, unsigned room)
{
	unsigned nr = columns >= WIDE ? 2 * NR_BARS : NR_BARS;

	while (nr > room && nr > LEAST_BARS)
		nr -= 5;
	return nr > room ? 0 : nr;
}

static void put_minute(FILE *to, const struct top_model *model, unsigned nr)
{
	double parts[2 * NR_BARS], most = 0;

	if (!nr)
		return;
	fputs("   ", to);
	top_model_minute(model, parts, nr);
	for (unsigned i = 0; i < nr; i++)
		most = parts[i] > most ? parts[i] : most;
	for (unsigned i = 0; i < nr; i++)
		put_bar(to, model, most > 0 ? parts[i] / most : 0);
	fputs(MINUTE_TITLE, to);
}

static void put_load(FILE *to, const struct top_model *model)
{
	const struct trace *trace = trace_of(model);
	const struct trace_event *event = trace_event(trace, model->event);
	uint64_t length = model->until - model->from;
	char text[TEXT_SIZE];

	fputc(' ', to);
	if (event && event->unit == TRACE_NS && length)
		fprintf(to, "CPU %.2f of %u · ", (double)model->weight / (double)length,
		        trace_run(trace)->nr_cpus);
	if (model->resident) {
		text_bytes(text, model->resident);
		fprintf(to, "RSS %s · ", text);
	}
	if (model->mpi >= 0)
		fprintf(to, "MPI %.1f %% · ", 100 * model->mpi);
	fprintf(to, "%llu sample%s", (unsigned long long)model->samples, plural(model->samples));
}

void top_line_load(FILE *to, const struct top_model *model, unsigned columns)
{
	char *load = NULL;
	unsigned used;
	size_t size;
	FILE *memory = open_memstream(&load, &size);

	if (!memory)
		return;
	put_load(memory, model);
	if (!fclose(memory) && load) {
		fputs(load, to);
		used = text_put(NULL, load, 0) + 3 + (unsigned)strlen(MINUTE_TITLE);
		put_minute(to, model, nr_bars(columns, columns > used ? columns - used : 0));
	}
	free(load);
}

/* --- rows ------------------------------------------------------------------------------------- */

#define ROW_NUMBERS 34 /* columns up to the last minute */
#define ROW_MINUTE  (TOP_COLUMNS + 3)

/* The columns that a name has. */
static unsigned name_room(const struct top_model *model, unsigned columns)
{
	unsigned used = ROW_NUMBERS;

	if (columns >= WIDE)
		used += ROW_MINUTE + (model->by_thread ? 0 : MODULE_LEFT + 2);
	return columns > used + 8 ? columns - used : 8;
}

/* The column that rows are sorted by has a sign where the title leaves room. */
void top_line_titles(FILE *to, const struct top_model *model, unsigned columns)
{
	const uint64_t length = model->length ? model->length : model->recording->interval;
	const double seconds = (double)length / 1e9;
	char last[TEXT_SIZE];

	snprintf(last, sizeof(last), "last %.*f s", seconds < 9.95, seconds);
	fprintf(to, "%10s%s ± error  whole run%s  ", last, model->by_run ? " " : "▾",
	        model->by_run ? "▾" : " ");
	if (columns >= WIDE)
		fputs("last minute  ", to);
	text_put_padded(to, model->by_thread ? "thread" : "function", name_room(model, columns));
	if (columns >= WIDE && !model->by_thread)
		fputs("  module", to);
}

/* Cut in the middle, and padded. */
static void put_name(FILE *to, const char *name, unsigned width)
{
	char *shorter = strdup(name);
	unsigned used;

	if (!shorter)
		return;
	short_name(shorter, width);
	used = text_put(to, shorter, width);
	fprintf(to, "%*s", used < width ? (int)(width - used) : 0, "");
	free(shorter);
}

/* No samples have no shares. */
static void put_last(FILE *to, const struct top_model *model, const struct top_row *row)
{
	double error = row->error > 1 ? 1 : row->error;

	if (model->samples)
		fprintf(to, "%8.1f %%  ± %3.*f %%", 100 * row->last, error < 0.1 ? 1 : 0,
		        100 * error);
	else
		fprintf(to, "%8s %10s", "-", "");
}

void top_line_row(FILE *to, const struct top_model *model, const struct top_row *row,
                  unsigned columns)
{
	put_last(to, model, row);
	fprintf(to, "    %5.1f %%   ", 100 * row->run);
	if (columns >= WIDE) {
		for (unsigned c = 0; c < TOP_COLUMNS; c++)
			put_bar(to, model, row->of_minute > 0 ? row->minute[c] : 0);
		fputs("   ", to);
	}
	put_name(to, row->name, name_room(model, columns));
	if (columns >= WIDE && !model->by_thread) {
		fputs("  ", to);
		text_put(to, row->module, MODULE_LEFT);
	}
}
