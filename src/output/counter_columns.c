#include "output/counter_columns.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHARED_SHARE 0.98 /* of the time on the hardware; less was not all of it */

/* --- what is known ---------------------------------------------------------------------------- */

enum counter_state trace_counter_state(const struct trace_counter *counter)
{
	if (!(counter->flags & TRACE_COUNTER_TOTAL))
		return COUNTER_COUNTED;
	if (!counter->running || (!counter->total && !(counter->flags & TRACE_COUNTER_KERNEL)))
		return COUNTER_NEVER;
	if ((double)counter->running < SHARED_SHARE * (double)counter->enabled)
		return COUNTER_SCALED;
	return COUNTER_COUNTED;
}

double trace_counter_scale(const struct trace_counter *counter)
{
	if (trace_counter_state(counter) != COUNTER_SCALED)
		return 1;
	return (double)counter->enabled / (double)counter->running;
}

bool trace_counter_trouble(const struct trace_counter *counter, const char *name, char *text,
                           size_t size)
{
	enum counter_state state = trace_counter_state(counter);
	double scale = trace_counter_scale(counter);
	char time[TEXT_SIZE];

	text_quantity(time, (double)counter->running, TRACE_NS);
	if (state == COUNTER_SCALED)
		snprintf(text, size,
		         "counters had the hardware for %.1f %% of the time, and samples were "
		         "taken only then: sums are scaled up by %.2f (~), and may be wrong by as "
		         "much as that adds",
		         100 / scale, scale);
	else if (state == COUNTER_NEVER && counter->running)
		snprintf(text, size,
		         "counter '%s' counted nothing in %s: this machine does not count it, or "
		         "the program has none",
		         name, time);
	else if (state == COUNTER_NEVER)
		snprintf(text, size, "counter '%s' was never let on the hardware: not counted",
		         name);
	return state != COUNTER_COUNTED;
}

/* --- what names mean -------------------------------------------------------------------------- */

/* In small letters, without the PMU and without the sides that are counted. */
static void plain_name(char plain[COUNTER_NAME_SIZE], const char *name)
{
	const char *pmu = strstr(name, "::"), *sides;
	size_t size;

	name = pmu ? pmu + 2 : name;
	sides = strrchr(name, ':');
	size = sides && sides[1] && !sides[1 + strspn(sides + 1, "ukhpGHPD")]
	               ? (size_t)(sides - name)
	               : strlen(name);
	if (size >= COUNTER_NAME_SIZE)
		size = COUNTER_NAME_SIZE - 1;
	for (size_t i = 0; i < size; i++)
		plain[i] = name[i] == '_' ? '-' : (char)tolower((unsigned char)name[i]);
	plain[size] = '\0';
}

static bool ends_in(const char *name, const char *end)
{
	size_t size = strlen(name), end_size = strlen(end);

	return size >= end_size && !strcmp(name + size - end_size, end);
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strncmp(name, *names, strlen(*names)))
			return true;
	return false;
}

static bool is_cycles(const char *name)
{
	static const char *const names[] = {"cycles", "cpu-cycles", "cpu-clk-unhalted",
	                                    "unhalted-core-cycles", NULL};

	return is_one_of(name, names);
}

static bool is_instructions(const char *name)
{
	static const char *const names[] = {"instructions",         "inst-retired",
	                                    "retired-instructions", "instruction-retired",
	                                    "ex-ret-instr",         NULL};

	return is_one_of(name, names);
}

static bool is_flops(const char *name)
{
	return ends_in(name, "flops");
}

static bool is_bytes(const char *name)
{
	return ends_in(name, "mem-bytes");
}

/* --- choosing --------------------------------------------------------------------------------- */

/* The event and its counters by their plain names, in the places that samples have them. */
struct chooser {
	struct counter_columns *columns;
	char names[COUNTER_MAX][COUNTER_NAME_SIZE];
	enum counter_state states[COUNTER_MAX];
	unsigned nr;
	bool clock; /* the event's own count is ns */
};

#define NOWHERE UINT32_MAX

static unsigned find(const struct chooser *chooser, bool (*is)(const char *name))
{
	for (unsigned i = 0; i < chooser->nr; i++)
		if (is(chooser->names[i]))
			return i;
	return NOWHERE;
}

static unsigned find_name(const struct chooser *chooser, const char *stem, size_t size,
                          const char *end)
{
	for (unsigned i = 0; i < chooser->nr; i++)
		if (!strncmp(chooser->names[i], stem, size) &&
		    !strcmp(chooser->names[i] + size, end))
			return i;
	return NOWHERE;
}

/* What the misses of a name that ends in "-misses" are a part of. */
static unsigned find_whole(const struct chooser *chooser, const char *misses)
{
	static const char *const ends[] = {"-references", "s", "es", "-instructions", ""};
	size_t size = strlen(misses) - strlen("-misses");
	unsigned found = NOWHERE;

	for (unsigned e = 0; e < sizeof(ends) / sizeof(*ends) && found == NOWHERE; e++)
		found = find_name(chooser, misses, size, ends[e]);
	return found;
}

static struct counter_column *add_ratio(struct chooser *chooser, unsigned above, unsigned below,
                                        double factor)
{
	struct counter_columns *columns = chooser->columns;
	struct counter_column *column = &columns->columns[columns->nr++];

	*column = (struct counter_column){
		.above = above,
		.below = below,
		.factor = factor,
		.ratio = true,
	};
	if (chooser->states[above] == COUNTER_NEVER || chooser->states[below] == COUNTER_NEVER)
		column->state = COUNTER_NEVER;
	return column;
}

static void name_column(struct counter_column *column, const char *title, const char *key)
{
	snprintf(column->title, sizeof(column->title), "%s", title);
	snprintf(column->key, sizeof(column->key), "%s", key);
}

static void add_pair(struct chooser *chooser, unsigned above, unsigned below, const char *title,
                     const char *key)
{
	if (above != NOWHERE && below != NOWHERE)
		name_column(add_ratio(chooser, above, below, 1), title, key);
}

static void add_misses(struct chooser *chooser, unsigned misses)
{
	unsigned whole = find_whole(chooser, chooser->names[misses]);
	unsigned instructions = find(chooser, is_instructions);
	struct counter_column *column;
	int size = COUNTER_NAME_SIZE - 32;

	if (whole != NOWHERE) {
		column = add_ratio(chooser, misses, whole, 1);
		column->percent = true;
		snprintf(column->title, sizeof(column->title), "%.*s %%", size,
		         chooser->names[misses]);
		snprintf(column->key, sizeof(column->key), "%.*s-rate", size,
		         chooser->names[misses]);
	} else if (instructions != NOWHERE) {
		column = add_ratio(chooser, misses, instructions, 1000);
		snprintf(column->title, sizeof(column->title), "%.*s/ki", size,
		         chooser->names[misses]);
		snprintf(column->key, sizeof(column->key), "%.*s-per-1000-instructions", size,
		         chooser->names[misses]);
	}
}

static void add_ratios(struct chooser *chooser)
{
	unsigned flops = find(chooser, is_flops), bytes = find(chooser, is_bytes);
	unsigned cycles = find(chooser, is_cycles), clock = chooser->clock ? 0 : NOWHERE;

	add_pair(chooser, find(chooser, is_instructions), cycles, "IPC", "ipc");
	for (unsigned i = 0; i < chooser->nr; i++)
		if (ends_in(chooser->names[i], "-misses"))
			add_misses(chooser, i);
	add_pair(chooser, flops, bytes, "flops/byte", "flops-per-byte");
	/* A ns is a billionth of a second. */
	add_pair(chooser, flops, clock, "GFLOP/s", "gflops-per-second");
	add_pair(chooser, bytes, clock, "GB/s", "gigabytes-per-second");
	add_pair(chooser, cycles, clock, "GHz", "ghz");
}

static void add_sum(struct chooser *chooser, const struct trace *trace, unsigned i)
{
	const struct trace_counter *counter = trace_counter(trace, i);
	struct counter_column *column = &chooser->columns->columns[chooser->columns->nr++];
	const char *name = trace_string(trace, counter->name);

	*column = (struct counter_column){
		.above = 1 + i,
		.factor = trace_counter_scale(counter),
		.state = trace_counter_state(counter),
		.unit = counter->unit,
	};
	name_column(column, name, name);
	plain_name(chooser->names[1 + i], name);
	chooser->states[1 + i] = column->state;
}

void counter_columns_init(struct counter_columns *columns, const struct trace *trace,
                          uint32_t event)
{
	struct chooser chooser = {.columns = columns, .nr = 1 + trace_nr_counters(trace)};
	const struct trace_event *leader = trace_event(trace, event);

	columns->nr = columns->nr_sums = 0;
	if (event || chooser.nr == 1)
		return;
	plain_name(chooser.names[0], trace_string(trace, leader->name));
	chooser.clock = leader->unit == TRACE_NS;
	for (unsigned i = 0; i + 1 < chooser.nr; i++)
		add_sum(&chooser, trace, i);
	columns->nr_sums = columns->nr;
	add_ratios(&chooser);
}

/* --- values ----------------------------------------------------------------------------------- */

bool counter_column_value(const struct counter_column *column, const uint64_t *counters,
                          double *value)
{
	if (column->state == COUNTER_NEVER || (column->ratio && !counters[column->below]))
		return false;
	*value = column->factor * (double)counters[column->above];
	if (column->ratio)
		*value /= (double)counters[column->below];
	return true;
}

/* Four digits, or five where they are all. */
static void sum_text(char text[TEXT_SIZE], const char *mark, double value)
{
	static const char units[] = {'k', 'M', 'G', 'T', 'P', 'E'};
	unsigned i = 0;

	if (value < 99999.5) {
		snprintf(text, TEXT_SIZE, "%s%.0f", mark, value);
		return;
	}
	for (value /= 1000; value >= 999.95 && i + 1 < sizeof(units); i++)
		value /= 1000;
	snprintf(text, TEXT_SIZE, "%s%.*f%c", mark,
	         value < 9.9995   ? 3
	         : value < 99.995 ? 2
	                          : 1,
	         value, units[i]);
}

void counter_column_text(const struct counter_column *column, const uint64_t *counters,
                         char text[TEXT_SIZE])
{
	const char *mark = column->state == COUNTER_SCALED ? "~" : "";
	char quantity[TEXT_SIZE];
	double value;

	if (!counter_column_value(column, counters, &value))
		snprintf(text, TEXT_SIZE, "-");
	else if (column->percent)
		snprintf(text, TEXT_SIZE, "%.2f%%", 100 * value);
	else if (column->ratio)
		snprintf(text, TEXT_SIZE, value < 9.995 ? "%.3f" : "%.2f", value);
	else if (column->unit == TRACE_NS) {
		text_quantity(quantity, value, TRACE_NS);
		snprintf(text, TEXT_SIZE, "%s%.*s", mark, TEXT_SIZE - 2, quantity);
	} else {
		sum_text(text, mark, value);
	}
}
