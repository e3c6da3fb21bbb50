/*
 * The output of a conversion: its name, the check for files in the way, and the writing. These
 * functions also report errors.
 */
#ifndef CLI_CONVERT_OUTPUT_H
#define CLI_CONVERT_OUTPUT_H

#include "output/convert/convert.h"

/* The output as the command line describes it. */
struct convert_output {
	const struct converter *converter;
	const char *from; /* the trace's file */
	uint64_t trace_size;
	const char *named; /* a file or folder, or "-": standard output; NULL: beside the trace */
	bool force;        /* replaces what is there */
	bool quiet;        /* shows no progress */
};

/* Returns the name of the output, to be freed. NULL: no memory. */
char *convert_output_name(const struct convert_output *output);
/*
 * Returns the name of a folder for the intermediate data of an output, to be freed. NULL: no
 * memory.
 */
char *convert_output_scratch(const char *name);

/*
 * Checks the output before a long conversion. Returns 0, or -errno after an error message. A file
 * that appears later is found when the result gets its name.
 */
int convert_output_check(const struct convert_output *output, const char *name);
/*
 * Converts into the output and sets conversion->tick. Returns 0, or -errno after an error message.
 */
int convert_output_write(const struct convert_output *output, struct conversion *conversion,
                         const char *name);

#endif
