#include "output/profile/counter_columns.h"

#include <ctype.h>
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

static bool ends_in(const char *name, const char *end)
{
	size_t size = strlen(name), end_size = strlen(end);

	return size >= end_size && !strcmp(name + size - end_size, end);
}

/* "flops.x4" is a part of "flops". */
static void cut_part(char *plain)
{
	static const char *const wholes[] = {"flops", "-misses", "mem-bytes"};
	char *dot = strchr(plain, '.');

	if (!dot)
		return;
	*dot = '\0';
	for (unsigned i = 0; i < sizeof(wholes) / sizeof(*wholes); i++)
		if (ends_in(plain, wholes[i]))
			return;
	*dot = '.';
}

/* Writes a name in small letters, without the PMU and the sides that are counted. */
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
	cut_part(plain);
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

/* The places of all counters with the same name: an event may be counted in several parts. */
static uint32_t places_of(const struct chooser *chooser, const char *name)
{
	uint32_t places = 0;

	for (unsigned i = 0; i < chooser->nr; i++)
		if (!strcmp(chooser->names[i], name))
			places |= 1U << i;
	return places;
}

/* 0: there is none. */
static uint32_t find(const struct chooser *chooser, bool (*is)(const char *name))
{
	for (unsigned i = 0; i < chooser->nr; i++)
		if (is(chooser->names[i]))
			return places_of(chooser, chooser->names[i]);
	return 0;
}

/*
 * Finds the counter that a counter of misses is a part of: for "cache-misses" this is
 * "cache-references", or another name that has one of these endings.
 */
static uint32_t find_whole(const struct chooser *chooser, const char *misses)
{
	static const char *const ends[] = {"-references", "s", "es", "-instructions", ""};
	int size = (int)(strlen(misses) - strlen("-misses"));
	char whole[COUNTER_NAME_SIZE + 16];
	uint32_t found = 0;

	for (unsigned e = 0; e < sizeof(ends) / sizeof(*ends) && !found; e++) {
		snprintf(whole, sizeof(whole), "%.*s%s", size, misses, ends[e]);
		found = places_of(chooser, whole);
	}
	return found;
}

static struct counter_column *add_ratio(struct chooser *chooser, uint32_t above, uint32_t below,
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
	for (unsigned i = 0; i < chooser->nr; i++)
		if ((above | below) & 1U << i && chooser->states[i] == COUNTER_NEVER)
			column->state = COUNTER_NEVER;
	return column;
}

static void name_column(struct counter_column *column, const char *title, const char *key)
{
	snprintf(column->title, sizeof(column->title), "%s", title);
	snprintf(column->key, sizeof(column->key), "%s", key);
}

static void add_pair(struct chooser *chooser, uint32_t above, uint32_t below, const char *title,
                     const char *key)
{
	if (above && below)
		name_column(add_ratio(chooser, above, below, 1), title, key);
}

static void add_misses(struct chooser *chooser, const char *name)
{
	uint32_t misses = places_of(chooser, name), whole = find_whole(chooser, name);
	uint32_t instructions = find(chooser, is_instructions);
	struct counter_column *column;
	int size = COUNTER_NAME_SIZE - 32;

	if (whole) {
		column = add_ratio(chooser, misses, whole, 1);
		column->percent = true;
		snprintf(column->title, sizeof(column->title), "%.*s %%", size, name);
		snprintf(column->key, sizeof(column->key), "%.*s-rate", size, name);
	} else if (instructions) {
		column = add_ratio(chooser, misses, instructions, 1000);
		snprintf(column->title, sizeof(column->title), "%.*s/ki", size, name);
		snprintf(column->key, sizeof(column->key), "%.*s-per-1000-instructions", size,
		         name);
	}
}

static bool is_first(const struct chooser *chooser, unsigned i)
{
	return !(places_of(chooser, chooser->names[i]) & ((1U << i) - 1));
}

static void add_ratios(struct chooser *chooser)
{
	uint32_t flops = find(chooser, is_flops), bytes = find(chooser, is_bytes);
	uint32_t cycles = find(chooser, is_cycles), clock = chooser->clock ? 1 : 0;

	add_pair(chooser, find(chooser, is_instructions), cycles, "IPC", "ipc");
	for (unsigned i = 0; i < chooser->nr; i++)
		if (ends_in(chooser->names[i], "-misses") && is_first(chooser, i))
			add_misses(chooser, chooser->names[i]);
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
		.above = 2U << i,
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
	struct chooser chooser = {.columns = columns, .nr = 1 + trace_nr(trace, TRACE_COUNTERS)};
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

static double sum_of(uint32_t places, const uint64_t *counters)
{
	double sum = 0;

	for (unsigned i = 0; i < COUNTER_MAX; i++)
		if (places & 1U << i)
			sum += (double)counters[i];
	return sum;
}

bool counter_column_value(const struct counter_column *column, const uint64_t *counters,
                          double *value)
{
	double below = column->ratio ? sum_of(column->below, counters) : 1;

	if (column->state == COUNTER_NEVER || below <= 0)
		return false;
	*value = column->factor * sum_of(column->above, counters) / below;
	return true;
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
	else {
		text_cell(quantity, value, column->unit);
		snprintf(text, TEXT_SIZE, "%s%.*s", mark, TEXT_SIZE - 2, quantity);
	}
}
