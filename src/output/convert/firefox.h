/* The Firefox Profiler's tables that all threads share; for firefox.c and firefox_tables.c alone.
 */
#ifndef OUTPUT_CONVERT_FIREFOX_H
#define OUTPUT_CONVERT_FIREFOX_H

#include "output/convert/spool.h"
#include "output/text/json_writer.h"
#include "trace/trace_iterations.h"

enum category { CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_OTHER, CATEGORY_CALLS };

struct firefox {
	struct conversion *conversion;
	const struct trace *trace;
	const struct trace_event *event;
	struct spool *spool;
	const struct paths *paths; /* the spool's */
	struct json_writer json;
	struct map64 libs;  /* by the string of the path */
	uint32_t *lib_name; /* functions whose modules they are */
	uint32_t nr_libs;
	struct map64 files;  /* numbers by the string of the path */
	uint32_t *file_name; /* and the strings */
	uint32_t nr_files;
	struct map64 functions; /* numbers by name and file */
	uint32_t *function_of;  /* for each name */
	uint32_t *name_of;      /* for each function one of its names */
	uint32_t *process_of;   /* see processes.h */
	uint64_t start;         /* ns: time 0 */
	bool time_event;        /* weights are ns */
	struct iteration_index iterations;
};

/* Finds the names that the tables refer to, after all paths are known. Returns 0 or -ENOMEM. */
int firefox_find_names(struct firefox *firefox);
void firefox_free_names(struct firefox *firefox);

/* Puts the members "libs" and "shared" of the profile. */
void firefox_put_tables(struct firefox *firefox);
/*
 * Returns the number of the string "Reduction". The numbers of the names of the trace's regions
 * follow it.
 */
uint32_t firefox_reduction_string(const struct firefox *firefox);
/* Returns the number of the string "Action". */
uint32_t firefox_action_string(const struct firefox *firefox);

/* Returns that of "iteration", or of "iterations, calls not stored". */
uint32_t firefox_iteration_string(const struct firefox *firefox, bool stored);

/* Puts nanoseconds as milliseconds, without loss. */
void firefox_put_ms(struct json_writer *json, const char *key, uint64_t ns);
uint64_t firefox_since_start(const struct firefox *firefox, uint64_t time);

/*
 * Puts the member "markers" of a thread. The first thread shows the markers of the whole run,
 * too. Returns 0 or -errno.
 */
int firefox_put_markers(struct firefox *firefox, uint32_t thread, bool first);

#endif
