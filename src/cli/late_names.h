/* Names of a trace looked up again, with the files of this machine: report --symbols. */
#ifndef CLI_LATE_NAMES_H
#define CLI_LATE_NAMES_H

#include "output/trace.h"
#include "symbolize/module.h"
#include "symbolize/symbols.h"

/* Only files with the build-id that was recorded are asked. 0, or -errno, which was told. */
int late_names(struct trace *trace, const struct debug_places *places);
/* Says so where there are lines that could not be read. */
void late_names_say_packed(const struct symbolizer_stats *stats);

#endif
