/*
 * Where a conversion goes: its name, what may be in the way there, and the writing. Complaints are
 * made here, too.
 */
#ifndef CLI_CONVERT_OUTPUT_H
#define CLI_CONVERT_OUTPUT_H

#include "output/convert/convert.h"

/* What a command line says of it. */
struct convert_output {
	const struct converter *converter;
	const char *from; /* the trace's file */
	uint64_t trace_size;
	const char *named; /* a file or folder, or "-": standard output; NULL: beside the trace */
	bool force;        /* replaces what is there */
	bool quiet;        /* shows no progress */
};

/* Its name, to be freed. NULL: no memory. */
char *convert_output_name(const struct convert_output *output);
/* A folder for intermediate data of what has this name, to be freed. NULL: no memory. */
char *convert_output_scratch(const char *name);

/*
 * Before a long conversion: 0, or -errno after a complaint. What appears meanwhile is found when
 * the result gets its name.
 */
int convert_output_check(const struct convert_output *output, const char *name);
/* Converts into it; conversion->tick is its own. 0, or -errno after a complaint. */
int convert_output_write(const struct convert_output *output, struct conversion *conversion,
                         const char *name);

#endif
