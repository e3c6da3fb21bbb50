/*
 * Converters write a trace in another format; there is one file for each format.
 *
 * A converter reads the trace through trace/trace.h and writes one file, or one folder. It writes
 * weights, never counts: a sample stands for its period. Its memory grows with the number of call
 * paths of a trace, not with the number of samples. Data that has to be sorted goes through an
 * unlinked file in the scratch folder.
 */
#ifndef OUTPUT_CONVERT_CONVERT_H
#define OUTPUT_CONVERT_CONVERT_H

#include "output/text/json_writer.h"
#include "trace/selection.h"

#include <stdbool.h>
#include <stdio.h>

struct conversion {
	const struct trace *trace;
	uint32_t event;   /* for formats with `one_event` */
	bool event_alone; /* --event names the event: write no other event and no counter */
	const struct selection *selection; /* for formats with `one_part`; NULL: the whole run */
	uint32_t counter; /* for formats with `one_counter`: show it, not the event; its number + 1
	                   */
	const char *scratch; /* a folder with room for the samples: see spool.h */
	uint64_t room;       /* bytes that a folder may take; a larger one is -E2BIG; 0: any */
	bool enter_leave;    /* OTF2: calls alone, for readers that know no calling contexts */
	/*
	 * Called from time to time with the share that is done. If it returns not 0, the conversion
	 * ends with this error.
	 */
	int (*tick)(void *arg, double share);
	void *arg;
	uint64_t unpaired; /* ends of messages and collectives left out for want of the others; out
	                    */
	bool has_unsure_pairs;     /* readers may pair wrong ends of messages; out */
	uint64_t steps, all_steps; /* samples seen, in all walks; the converter's */
};

struct converter {
	const char *name;   /* of its option */
	const char *what;   /* "for Vampir" */
	const char *suffix; /* of its file or folder, instead of the trace's .atr */
	bool text;          /* may go to a terminal */
	bool one_event;     /* writes conversion.event only */
	bool event_alone;   /* writes all events and counters, and with --event that event alone */
	bool one_counter;   /* obeys conversion.counter */
	bool one_part;      /* obeys conversion.selection */
	bool unsampled;     /* writes weights that no sample stands for, too */
	/*
	 * A converter has one of the two. If it has neither, the program was built without the
	 * package `missing`. They return 0 or -errno.
	 */
	int (*to_file)(struct conversion *conversion, FILE *file);
	int (*to_folder)(struct conversion *conversion, const char *folder);
	/* Whether a file in a folder of this format is one that this converter writes. */
	bool (*known)(const char *path);
	const char *missing; /* a package */
	const char *instead; /* advice for users whose file becomes large; NULL: there is none */
};

#define MAX_CONVERTERS 16

/* Returns the converter at an index; NULL: there are no more. */
const struct converter *converter_at(unsigned index);

/*
 * Converters call convert_plan() with the number of walks over an event's samples, and then
 * convert_step() at every sample. convert_tick() returns 0 or -errno.
 */
void convert_plan(struct conversion *conversion, unsigned walks, uint32_t event);
int convert_tick(struct conversion *conversion);

static inline int convert_step(struct conversion *conversion)
{
	return ++conversion->steps % (1 << 16) ? 0 : convert_tick(conversion);
}

#define CONVERT_TEXT_SIZE 256
/*
 * Returns the same number for all threads of a process. PIDs cannot serve, because they repeat when
 * the ranks of a job run on several hosts.
 */
uint64_t convert_process(const struct trace *trace, uint32_t thread);
/* Writes the name of a process: "app", or in a job "rank 3: app". */
void convert_process_text(const struct trace *trace, uint32_t thread, uint32_t comm,
                          char text[CONVERT_TEXT_SIZE]);
/*
 * Writes the name of the process and "1234", and ": page-faults" if the event is not the first. The
 * text may hold any bytes.
 */
void convert_thread_text(const struct trace *trace, uint32_t thread, uint32_t event,
                         char text[CONVERT_TEXT_SIZE]);
/*
 * Returns the profile of the event or counter, with a tree for each command; NULL with errno.
 * Functions of one name in two modules are two functions, and inlined functions are functions. So
 * two paths of a tree may become the same text where a format writes names alone.
 */
struct profile *convert_profile(const struct conversion *conversion);
/* These return the name and the unit of the profile's weights. */
const char *convert_weight_name(const struct conversion *conversion);
enum trace_unit convert_weight_unit(const struct conversion *conversion);
/*
 * Returns "app -x (comm=app)", the command line and the part that is written. The caller frees it.
 * NULL: no memory.
 */
char *convert_title(const struct conversion *conversion);
/* Puts the command line. Returns 0 or -ENOMEM. */
int convert_command_json(const struct trace *trace, struct json_writer *json, const char *key);

/*
 * These write the formats that are one file; the table of converters refers to them. They return 0
 * or -errno.
 */
int chrome_write(struct conversion *conversion, FILE *file);
int callgrind_write(struct conversion *conversion, FILE *file);
int perf_script_write(struct conversion *conversion, FILE *file);
int firefox_write(struct conversion *conversion, FILE *file);
int pprof_write(struct conversion *conversion, FILE *file);
int speedscope_write(struct conversion *conversion, FILE *file);
int flamegraph_write(struct conversion *conversion, FILE *file);
int folded_write(struct conversion *conversion, FILE *file);

#endif
