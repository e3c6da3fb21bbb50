/*
 * What reports show of counters: their sums, and what pairs of them make, such as instructions per
 * cycle. Sums are scaled up where the counters had to share the hardware, and marked with "~";
 * ratios need no scaling, for all counters had it at the same time.
 */
#ifndef OUTPUT_PROFILE_COUNTER_COLUMNS_H
#define OUTPUT_PROFILE_COUNTER_COLUMNS_H

#include "output/text/text.h"
#include "trace/trace.h"

enum counter_state {
	COUNTER_COUNTED,
	COUNTER_SCALED, /* it had the hardware for part of the time */
	COUNTER_NEVER,  /* it never had it, or never counted anything there: nothing is known */
};

enum counter_state trace_counter_state(const struct trace_counter *counter);
/* How many times more there must have been than were counted; 1 where that is all. */
double trace_counter_scale(const struct trace_counter *counter);

/* What is wrong with a counter, in a line for people. false: nothing. */
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

/* First a sum for each counter, then the ratios. */
struct counter_columns {
	struct counter_column columns[COUNTER_MAX_COLUMNS];
	unsigned nr, nr_sums;
};

/* None where the event's samples have no counters. */
void counter_columns_init(struct counter_columns *columns, const struct trace *trace,
                          uint32_t event);

/* The value of a column, for counters of COUNTER_MAX places. false: it has none. */
bool counter_column_value(const struct counter_column *column, const uint64_t *counters,
                          double *value);
/* "1.234M", "~1.234M", "0.87", "-" */
void counter_column_text(const struct counter_column *column, const uint64_t *counters,
                         char text[TEXT_SIZE]);

#endif
