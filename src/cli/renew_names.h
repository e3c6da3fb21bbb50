/* Names of a trace looked up again, with the files of this machine: report --symbols. */
#ifndef CLI_RENEW_NAMES_H
#define CLI_RENEW_NAMES_H

#include "trace/trace.h"
#include "symbolize/modules/module.h"

/* Only files with the build-id that was recorded are asked. 0, or -errno, which was told. */
int names_renew(struct trace *trace, const struct debug_search *search);

#endif
