/*
 * adaptrace list: the events that -e takes, and whether they can be opened now.
 */
#include "cli/commands.h"
#include "cli/foreign_options.h"
#include "cli/plain_text.h"
#include "cli/open_trace.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "output/text/json_writer.h"
#include "output/text/text.h"
#include "perf/events/event.h"
#include "base/array.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer names push their row to the right instead of everybody's. */
#define NAME_WIDTH_MAX   48
#define SOURCE_WIDTH_MAX 24

struct row {
	char *description, *means;
	char source[EVENT_NAME_MAX];
	struct event event;
	bool unknown, available, user_only;
};

struct list_options {
	const char *pattern;
	bool verbose, json, available;
};

struct listing {
	const struct list_options *options;
	struct row *rows;
	size_t nr_rows;
	size_t nr_hidden; /* matched, but cannot be opened, and only such were asked for */
};

/* -- collecting -------------------------------------------------------------------------------- */

static struct row *row_new(struct listing *list)
{
	struct row *rows = array_grow(list->rows, list->nr_rows, sizeof(*rows));

	if (!rows)
		return NULL;
	list->rows = rows;
	return &list->rows[list->nr_rows];
}

static int collect(void *arg, const struct event_info *info)
{
	struct listing *list = arg;
	struct row *row;

	if (list->options->available && !info->available) {
		list->nr_hidden++;
		return 0;
	}
	row = row_new(list);
	if (!row)
		return -ENOMEM;
	row->description = strdup(info->description);
	row->means = strdup(info->means);
	if (!row->description || !row->means) {
		free(row->description);
		free(row->means);
		return -ENOMEM;
	}
	snprintf(row->source, sizeof(row->source), "%s", info->source);
	row->event = *info->event;
	row->unknown = info->unknown;
	row->available = info->available;
	row->user_only = info->user_only;
	list->nr_rows++;
	return 0;
}

static void listing_fini(struct listing *list)
{
	for (size_t i = 0; i < list->nr_rows; i++) {
		free(list->rows[i].description);
		free(list->rows[i].means);
	}
	free(list->rows);
}

/* -- as a table -------------------------------------------------------------------------------- */

static int widest(int width, const char *text, int max)
{
	int size = (int)strlen(text);

	return size > max || size < width ? width : size;
}

static char mark(const struct row *row)
{
	return !row->available ? ' ' : row->user_only ? 'u' : '*';
}

static void print_row(const struct row *row, int name_width, int source_width, int screen)
{
	int used = printf("%c %-*s  %-*s", mark(row), name_width, row->event.name,
	                  *row->description ? source_width : 0, row->source);

	if (!*row->description)
		putchar('\n');
	else if (!screen)
		printf("  %s\n", row->description);
	else
		printf("  %.*s\n", screen > used + 2 ? screen - used - 2 : 0, row->description);
}

/* Prints the heading of the events that cannot be opened. */
static void print_rest_heading(const struct listing *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr_rows; i++)
		nr += !list->rows[i].available;
	if (nr)
		printf("\n%zu event%s cannot be opened here now; adaptrace list -v says why, -a "
		       "leaves them out:\n",
		       nr, plural(nr));
}

static void print_table(const struct listing *list)
{
	int name_width = strlen("EVENT"), source_width = strlen("SOURCE");
	int screen = terminal_size(STDOUT_FILENO).ws_col;

	for (size_t i = 0; i < list->nr_rows; i++) {
		name_width = widest(name_width, list->rows[i].event.name, NAME_WIDTH_MAX);
		source_width = widest(source_width, list->rows[i].source, SOURCE_WIDTH_MAX);
	}
	printf("  %-*s  %-*s  %s\n", name_width, "EVENT", source_width, "SOURCE", "DESCRIPTION");
	for (size_t i = 0; i < list->nr_rows; i++)
		if (list->rows[i].available)
			print_row(&list->rows[i], name_width, source_width, screen);
	print_rest_heading(list);
	for (size_t i = 0; i < list->nr_rows; i++)
		if (!list->rows[i].available)
			print_row(&list->rows[i], name_width, source_width, screen);
	if (screen)
		printf("\n* can be opened now; u: its user side only\n");
}

/* -- in full ----------------------------------------------------------------------------------- */

static void print_obstacle(const struct row *row)
{
	char why[WHY_SIZE];
	int err = event_probe(&row->event);

	if (!err)
		return;
	event_explain(&row->event, err, why);
	printf("      %s\n", why);
}

static void print_code(const struct row *row)
{
	const struct perf_event_attr *attr = &row->event.attr;

	printf("      type %u, config 0x%llx", attr->type, (unsigned long long)attr->config);
	if (attr->config1)
		printf(", config1 0x%llx", (unsigned long long)attr->config1);
	if (attr->config2)
		printf(", config2 0x%llx", (unsigned long long)attr->config2);
	printf("; counts %s\n", row->event.unit == EVENT_NS ? "nanoseconds" : "occurrences");
}

static void print_full(const struct row *row)
{
	printf("%c %s  %s\n", mark(row), row->event.name, row->source);
	if (*row->description)
		printf("      %s\n", row->description);
	if (*row->means)
		printf("      %s%s\n", row->unknown ? "" : "here: ", row->means);
	if (row->unknown)
		return;
	print_code(row);
	if (!row->available || row->user_only)
		print_obstacle(row);
}

/* -- as JSON ----------------------------------------------------------------------------------- */

static void put_row_json(struct json_writer *json, const struct row *row)
{
	const struct perf_event_attr *attr = &row->event.attr;

	json_begin(json, NULL);
	json_text(json, "name", row->event.name);
	json_text(json, "source", row->source);
	json_text(json, "description", row->description);
	json_text(json, "unit", row->event.unit == EVENT_NS ? "ns" : "count");
	json_flag(json, "available", row->available);
	json_flag(json, "user_only", row->user_only);
	json_number(json, "type", attr->type);
	json_number(json, "config", attr->config);
	json_number(json, "config1", attr->config1);
	json_number(json, "config2", attr->config2);
	json_text(json, "means", row->means);
	json_number(json, "scale", row->event.scale);
	json_end(json);
}

static int print_json(const struct listing *list)
{
	struct json_writer json = {.to = stdout, .pretty = true};

	json_begin_list(&json, NULL);
	for (size_t i = 0; i < list->nr_rows; i++)
		put_row_json(&json, &list->rows[i]);
	json_end_list(&json);
	putchar('\n');
	return 0;
}

/* -- the command ------------------------------------------------------------------------------- */

static void complain_empty(const struct listing *list)
{
	const char *pattern = list->options->pattern;
	struct event event;
	char why[WHY_SIZE];

	if (list->nr_hidden)
		say("none of the %zu events that match can be opened now; adaptrace list -v says "
		    "why",
		    list->nr_hidden);
	else if (!pattern)
		say("this machine has no events");
	else if (event_parse(&event, pattern, why))
		say("%s", why); /* with the nearest names */
	else
		say("nothing listed matches '%s', but -e %s is understood", pattern, pattern);
}

static int print_listing(const struct listing *list)
{
	int err = list->options->json ? 0 : plain_text_start();

	if (err)
		return err;
	if (list->options->json)
		return print_json(list);
	if (list->options->verbose)
		for (size_t i = 0; i < list->nr_rows; i++)
			print_full(&list->rows[i]);
	else if (list->nr_rows)
		print_table(list);
	return 0;
}

static int list_events(const struct list_options *options)
{
	struct listing list = {.options = options};
	int err = event_list(options->pattern, collect, &list);

	if (!err)
		err = print_listing(&list);
	if (err)
		say("cannot list events: %s", strerror(-err));
	else if (!list.nr_rows)
		complain_empty(&list);
	err = err || !list.nr_rows;
	listing_fini(&list);
	return open_trace_status(NULL, 0) ? 1 : err;
}

static const struct argp_option options_known[] = {
	{"available", 'a', NULL, 0, "only events that can be opened now", 0},
	{"verbose", 'v', NULL, 0, "each event in full: its code, and why it cannot be opened", 0},
	{"json", 'j', NULL, 0, "as JSON: an array of objects", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct list_options *options = state->input;

	switch (key) {
	case 'a':
		options->available = true;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->pattern)
			say_usage("one pattern at most; '%s' is the second", arg);
		options->pattern = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_list(int argc, char **argv)
{
	const struct argp argp = {
		options_known,
		parse_option,
		"[PATTERN]",
		"Shows the events that 'adaptrace record -e' takes on this machine. Those marked * "
		"can be opened now; u: only their user side, as EVENT:u.\v"
		"PATTERN is looked for in names and descriptions, in any case. One that begins "
		"PMU:: shows the events of that PMU, as libpfm4 names it, be it another "
		"machine's.\n\n"
		"  adaptrace list cache\n"
		"  adaptrace list --available\n"
		"  adaptrace list -v skx::FP_ARITH",
	};
	struct list_options options = {0};

	if (foreign_options_parse(&argp, argc, argv, 2, 0, &options))
		return 2;
	return list_events(&options);
}
