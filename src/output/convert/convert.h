/*
 * Converters: what a trace can be turned into, one file per format.
 *
 * A converter reads the trace through output/trace.h and writes one file, or one folder. Weights,
 * never counts, are what it writes: a sample stands for its period. Memory grows with the call
 * paths of a trace, not with its samples; what has to be sorted goes through a nameless file in
 * the scratch folder.
 */
#ifndef OUTPUT_CONVERT_CONVERT_H
#define OUTPUT_CONVERT_CONVERT_H

#include "trace/part.h"

#include <stdbool.h>
#include <stdio.h>

struct conversion {
	const struct trace *trace;
	uint32_t event;          /* of formats for one event */
	bool event_alone;        /* of formats for all that can be of one: no other */
	const struct part *part; /* of formats for one; NULL: all of the run */
	uint32_t counter;        /* of formats for one, in its place: its number + 1; 0: none */
	const char *scratch;     /* a folder with room for the samples: see spool.h */
	bool enter_leave;        /* OTF2: calls alone, for readers that know no calling contexts */
	/* Called now and then with the share that is done; not 0: give up with this error. */
	int (*tick)(void *arg, double share);
	void *arg;
	uint64_t steps, all_steps; /* samples seen, in all walks; the converter's */
};

struct converter {
	const char *name;   /* of its option */
	const char *what;   /* "for Vampir" */
	const char *suffix; /* of its file or folder, instead of the trace's .atr */
	bool text;          /* may go to a terminal */
	bool one_event;     /* writes conversion.event only */
	bool event_alone;   /* obeys conversion.event_alone */
	bool one_counter;   /* or conversion.counter */
	bool one_part;      /* obeys conversion.part */
	bool unsampled;     /* has what no sample stands for, too */
	/* One of the two; neither: this program was built without `missing`. 0 or -errno. */
	int (*to_file)(struct conversion *conversion, FILE *file);
	int (*to_folder)(struct conversion *conversion, const char *folder);
	/* Of a folder: whether a file below it is one that this converter writes. */
	bool (*known)(const char *path);
	const char *missing; /* a package */
	const char *instead; /* what spares a user a large file of this; NULL: nothing does */
};

/* NULL: there are no more. */
const struct converter *converter_at(unsigned index);

/* For converters: how many walks over these events there will be, then every sample. 0 or -errno.
 */
void convert_plan(struct conversion *conversion, unsigned walks, uint32_t event);
int convert_tick(struct conversion *conversion);

static inline int convert_step(struct conversion *conversion)
{
	return ++conversion->steps % (1 << 16) ? 0 : convert_tick(conversion);
}

#define CONVERT_TEXT_SIZE 256
/* The same number for all threads of a process: PIDs repeat where a job's ranks have hosts. */
uint64_t convert_process(const struct trace *trace, uint32_t thread);
/* "app", or in a job "rank 3: app". */
void convert_process_text(const struct trace *trace, uint32_t thread, uint32_t comm,
                          char text[CONVERT_TEXT_SIZE]);
/* The same and "1234", and ": page-faults" if the event is not the first; any bytes. */
void convert_thread_text(const struct trace *trace, uint32_t thread, uint32_t event,
                         char text[CONVERT_TEXT_SIZE]);
/* The profile of the event or counter, by function and command; NULL with errno. */
struct profile *convert_profile(const struct conversion *conversion);
/* What its weights are of. */
const char *convert_weight_name(const struct conversion *conversion);
enum trace_unit convert_weight_unit(const struct conversion *conversion);
/* "app -x (comm=app)": the command line and what part is written, to be freed. NULL: no memory. */
char *convert_title(const struct conversion *conversion);
/* The command line as a JSON string: 0 or -ENOMEM. */
int convert_command_json(const struct trace *trace, FILE *file);

/* The formats that are one file, for the table of converters: 0 or -errno. */
int chrome_write(struct conversion *conversion, FILE *file);
int callgrind_write(struct conversion *conversion, FILE *file);
int perf_script_write(struct conversion *conversion, FILE *file);
int firefox_write(struct conversion *conversion, FILE *file);
int pprof_write(struct conversion *conversion, FILE *file);
int speedscope_write(struct conversion *conversion, FILE *file);
int flamegraph_write(struct conversion *conversion, FILE *file);
int folded_write(struct conversion *conversion, FILE *file);

#endif
