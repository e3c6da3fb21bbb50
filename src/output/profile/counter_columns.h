/*
 * Columns of counters in reports: sums, and ratios of two counters, such as instructions per cycle.
 * Where counters had to share the hardware, sums are scaled up and marked with "~". Ratios need no
 * scaling, because all counters have the hardware at the same times.
 */
#ifndef OUTPUT_PROFILE_COUNTER_COLUMNS_H
#define OUTPUT_PROFILE_COUNTER_COLUMNS_H

#include "output/text/text.h"
#include "trace/trace.h"

enum counter_state {
	COUNTER_COUNTED,
	COUNTER_SCALED, /* it had the hardware for part of the time */
	COUNTER_NEVER,  /* it never had it, or counted nothing there: its value is unknown */
};

enum counter_state trace_counter_state(const struct trace_counter *counter);
/*
 * Returns the factor from the counted to the estimated number; 1 where the counter always had the
 * hardware.
 */
double trace_counter_scale(const struct trace_counter *counter);

/* Writes a line for people about a problem of a counter. Returns false if there is none. */
bool trace_counter_trouble(const struct trace_counter *counter, const char *name, char *text,
                           size_t size);

#define COUNTER_NAME_SIZE   160
#define COUNTER_MAX_COLUMNS (3 * COUNTER_MAX)

struct counter_column {
	char title[COUNTER_NAME_SIZE]; /* for people: "IPC", "cache-misses %" */
	char key[COUNTER_NAME_SIZE];   /* for programs: "ipc", "cache-misses-rate" */
	uint32_t above, below; /* bits for places in a sample's counters, which are summed */
	double factor;         /* of above / below; for sums: the scale */
	bool ratio, percent;
	enum counter_state state;
	enum trace_unit unit; /* of a sum */
};

/* The columns begin with a sum for each counter. The ratios follow. */
struct counter_columns {
	struct counter_column columns[COUNTER_MAX_COLUMNS];
	unsigned nr, nr_sums;
};

/* Prepares the columns for an event. There are none where its samples have no counters. */
void counter_columns_init(struct counter_columns *columns, const struct trace *trace,
                          uint32_t event);

/* Computes the value of a column from COUNTER_MAX counters. Returns false if it has none. */
bool counter_column_value(const struct counter_column *column, const uint64_t *counters,
                          double *value);
/* Writes the value of a column: "1.234M", "~1.234M", "0.87", or "-" where it has none. */
void counter_column_text(const struct counter_column *column, const uint64_t *counters,
                         char text[TEXT_SIZE]);

#endif
