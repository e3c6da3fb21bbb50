/*
 * Names of a trace that are looked up again: on another machine, or when debug files are at hand
 * that were not when it was recorded.
 */
#ifndef TRACE_WRITE_TRACE_RENAME_H
#define TRACE_WRITE_TRACE_RENAME_H

#include "trace/write/trace_symbols.h"
#include "trace/trace.h"

/*
 * Asks provider for the names of all frames. A module takes the new names and lines if they say
 * more than those in the file, which itself is not touched: they live with the trace. renewed (may
 * be NULL): how many modules did. 0, -ENOMEM, -EBADMSG, or what provider failed with.
 */
int trace_rename(struct trace *trace, const struct name_provider *provider, uint32_t *renewed);

#endif
