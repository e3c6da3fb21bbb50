/*
 * Perf maps: the names that a process gives to code it made at run time, in /tmp/perf-PID.map.
 * A line is "START SIZE name", numbers in hexadecimal. The file is appended to while the process
 * runs and reuses its memory, so a later line replaces what earlier ones said of its addresses.
 */
#ifndef SYMBOLIZE_JIT_PERF_MAP_H
#define SYMBOLIZE_JIT_PERF_MAP_H

#include "symbolize/modules/module.h"
#include "symbolize/elf/symbol.h"

/*
 * The text of a MODULE_ANON's perf map, to be freed; NULL with errno: there is none, or it is not
 * to be trusted: not a regular file of the process's own user or of root. left is how many bytes
 * may still be read; EFBIG: the map has more.
 */
char *perf_map_read(const struct module *module, uint64_t *left);

/* Answers from the text, which is changed. 0, -ENOMEM, or what the query's fn returned. */
int perf_map_lookup(char *text, const struct jit_query *query);

#endif
