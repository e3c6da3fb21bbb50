/* Names of classes of calls that are recorded, on the command line and in commands to a recorder.
 */
#ifndef RECORD_CALLS_CALL_CLASSES_H
#define RECORD_CALLS_CALL_CLASSES_H

#include <stdint.h>

#define CALL_CLASSES_WAY_OUT                                                               \
	"try on, off, mpi, openmp, regions, point-to-point, one-sided, io, collective or " \
	"management"

/* Sets a bit for each enum call_class that the text names. Returns 0 or -EINVAL. */
int call_classes_parse(const char *text, uint32_t *classes);

#define CALL_OPENMP_WAY_OUT "try regions or threads"

/* Returns what --openmp with this value records, a constant; NULL: there is no such value. */
const char *call_openmp_parse(const char *text);

#endif
