/* Archive that is being written. Only the files that write an archive include this header. */
#ifndef OUTPUT_OTF2_OTF2_ARCHIVE_H
#define OUTPUT_OTF2_OTF2_ARCHIVE_H

#include "output/convert/convert.h"
#include "output/otf2/otf2_numbers.h"
#include "output/otf2/otf2_plan.h"
#include "trace/message_pairs.h"

#include <otf2/otf2.h>

#define OTF2_TEXT_SIZE 256

/*
 * Calling context without a path of its own: an instrumented call, or a function that was sampled
 * in such a call.
 */
struct otf2_context {
	uint32_t caller; /* a path; from the number of paths on, another otf2_context; PATH_NONE: a
	                    root */
	uint32_t region; /* of OTF2 */
};

/* Calls of MPI at a location. */
struct otf2_calls {
	uint64_t nr, known; /* known: calls whose callers are known from a sample */
};

/* Threads that were in parallel regions, their processes, and the sums of their regions. */
struct otf2_teams {
	struct otf2_numbers threads, groups;
	struct map64 sums; /* of trace_openmp(), by thread and region */
};

struct archive {
	struct conversion *conversion;
	const struct trace *trace;
	struct spool *spool;
	const struct paths *paths;         /* the spool's */
	uint32_t *depths, *source_of_name; /* by path, by name */
	unsigned char *mpi;                /* by function: it is one of MPI's */
	struct otf2_plan plan;
	OTF2_Archive *otf2;
	OTF2_GlobalDefWriter *definitions;
	OTF2_MarkerWriter *markers; /* NULL: none yet */
	struct map64 strings;       /* OTF2's number by the trace's */
	uint32_t nr_strings;
	uint64_t taken;      /* bytes of events and texts that were written */
	uint64_t *nr_events; /* by location */
	struct otf2_calls *nr_calls;
	uint64_t nr_moments; /* of calls, seen so far */
	uint32_t nr_regions; /* of the trace */
	struct iteration_index iterations;
	struct message_source source;
	struct message_pairs *pairs;
	uint64_t nr_unpaired; /* ends of messages and collectives whose other ends are not stored */
	bool has_messages;    /* some have been written */
	struct otf2_context *contexts;
	uint32_t nr_contexts;
	struct map64 context_by_key, moved;       /* by caller and region; by context and path */
	struct otf2_numbers metrics, mpi_windows; /* of regions; of communicators */
	struct otf2_numbers handles; /* of files, which stand among the communicators */
	struct otf2_teams teams;
	unsigned nr_counters;     /* that are written, as one class of metrics */
	size_t properties_size;   /* of names and values */
	uint32_t properties_left; /* that found no room */
	int err;                  /* the first one */
};

/*
 * Returns OTF2's number of a region of the trace: OTF2 calls functions regions, too, and numbers
 * them first.
 */
static inline uint32_t otf2_region(const struct archive *archive, uint32_t region)
{
	return archive->paths->names.nr_functions + region;
}

/*
 * Returns OTF2's class of metrics for a value that the program reported. These classes follow that
 * of the counters.
 */
static inline uint32_t otf2_value_class(const struct archive *archive, uint32_t number)
{
	return (archive->nr_counters != 0) + number;
}

/* Returns the region that replaces the callers of a call whose callers are unknown. */
static inline uint32_t otf2_unknown_callers(const struct archive *archive)
{
	return otf2_region(archive, archive->nr_regions);
}

/* Returns the region of an iteration: one that was dropped is empty. */
static inline uint32_t otf2_iteration(const struct archive *archive, bool stored)
{
	return otf2_region(archive, archive->nr_regions + (stored ? 1 : 2));
}

/* Keeps the error of an OTF2 call, unless an earlier one was kept. */
void otf2_check(struct archive *archive, OTF2_ErrorCode code);
/* Counts bytes that were written. More than the conversion has room for are an error. */
void otf2_took(struct archive *archive, uint64_t bytes);
/* Calls convert_tick(), unless there was an error. */
void otf2_tick(struct archive *archive);
/* Whether there was an error. A NULL pointer counts as one. */
bool otf2_failed(struct archive *archive, const void *pointer);

/*
 * Adds a string to the definitions and returns its number. The numbers have no gaps, and 0 is the
 * empty string.
 */
uint32_t otf2_add_string(struct archive *archive, const char *text);
/* Returns the number of a string of the trace, and adds the string where it is new. */
uint32_t otf2_find_string(struct archive *archive, uint32_t offset);

/* These write the definitions that calls refer to. */
void otf2_write_paradigms(struct archive *archive);
void otf2_write_call_regions(struct archive *archive);
void otf2_write_metrics(struct archive *archive);
void otf2_write_comms(struct archive *archive);
void otf2_write_files(struct archive *archive);
void otf2_write_teams(struct archive *archive);
/* Writes the definitions of the counters that were read with samples. */
void otf2_define_counters(struct archive *archive);

/* Returns 0 or -ENOMEM; call otf2_teams_fini() in either case. */
int otf2_teams_init(struct otf2_teams *teams, const struct trace *trace, uint32_t nr_threads);
void otf2_teams_fini(struct otf2_teams *teams);

/* Writes the events of all locations. */
void otf2_write_events(struct archive *archive);
/*
 * Writes the global definitions. It comes after the events, for definitions may refer to all that
 * the events mention.
 */
void otf2_write_definitions(struct archive *archive);

/* Writes a marker for a location; PLAN_NONE: for all locations. */
void otf2_write_marker(struct archive *archive, uint64_t time, uint32_t location, const char *text);

#endif
