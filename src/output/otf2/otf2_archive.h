/* An archive on its way; for the files that write one, alone. */
#ifndef OUTPUT_OTF2_OTF2_ARCHIVE_H
#define OUTPUT_OTF2_OTF2_ARCHIVE_H

#include "output/convert/convert.h"
#include "output/otf2/otf2_numbers.h"
#include "output/otf2/otf2_plan.h"

#include <otf2/otf2.h>

#define OTF2_TEXT_SIZE 256

/* A context that no sample has as such: a call, or what was sampled in one. */
struct otf2_context {
	uint32_t caller; /* a path, or behind them another of these; PATH_NONE: a root */
	uint32_t region; /* of OTF2 */
};

/* Calls of MPI at a location. */
struct otf2_calls {
	uint64_t nr, known; /* known: whose callers a sample tells */
};

struct archive {
	struct conversion *conversion;
	const struct trace *trace;
	struct spool *spool;
	const struct paths *paths;          /* the spool's */
	uint32_t *depths, *source_of_place; /* by path, by place */
	unsigned char *mpi;                 /* by function: it is one of MPI's */
	struct otf2_plan plan;
	OTF2_Archive *otf2;
	OTF2_GlobalDefWriter *definitions;
	OTF2_MarkerWriter *markers; /* NULL: none yet */
	struct map64 strings;       /* OTF2's number by the trace's */
	uint32_t nr_strings;
	uint64_t *nr_events; /* by location */
	struct otf2_calls *nr_calls;
	uint64_t nr_moments; /* of calls, seen so far */
	uint32_t nr_regions; /* of the trace */
	struct otf2_context *contexts;
	uint32_t nr_contexts;
	struct map64 context_by_key, moved;   /* by caller and region; by context and path */
	struct otf2_numbers metrics, windows; /* of regions; of communicators */
	struct otf2_numbers handles;          /* of files, which stand among the communicators */
	unsigned nr_counters;                 /* that are written, as one class of metrics */
	size_t properties_size;               /* of names and values */
	uint32_t properties_left;             /* that found no room */
	int err;                              /* the first one */
};

/* The number of what OTF2 calls a region: functions first, then the trace's regions. */
static inline uint32_t otf2_region(const struct archive *archive, uint32_t region)
{
	return archive->paths->names.nr_functions + region;
}

/* The class of metrics of a value that the program gave: behind that of the counters. */
static inline uint32_t otf2_value_class(const struct archive *archive, uint32_t number)
{
	return (archive->nr_counters != 0) + number;
}

/* What stands for the callers of a call where nobody knows them. */
static inline uint32_t otf2_unknown_callers(const struct archive *archive)
{
	return otf2_region(archive, archive->nr_regions);
}

/* Keeps the first error. */
void otf2_check(struct archive *archive, OTF2_ErrorCode code);
/* convert_tick(), unless there was an error. */
void otf2_tick(struct archive *archive);
/* Whether there was an error; a NULL is one. */
bool otf2_failed(struct archive *archive, const void *pointer);

/* For definitions: a new string; its number is free of gaps, and 0 is the empty one. */
uint32_t otf2_add_string(struct archive *archive, const char *text);
/* A string of the trace. */
uint32_t otf2_find_string(struct archive *archive, uint32_t offset);

/* The definitions of calls. */
void otf2_write_paradigms(struct archive *archive);
void otf2_write_call_regions(struct archive *archive);
void otf2_write_metrics(struct archive *archive);
void otf2_write_comms(struct archive *archive);
void otf2_write_files(struct archive *archive);
/* The definitions of counters that were read with samples. */
void otf2_define_counters(struct archive *archive);

/* Writes the events of all locations. */
void otf2_write_events(struct archive *archive);
/* The global definitions, which may refer to all that the events brought up. */
void otf2_write_definitions(struct archive *archive);

/* At a location, or PLAN_NONE: of all. */
void otf2_write_marker(struct archive *archive, uint64_t time, uint32_t location, const char *text);

#endif
