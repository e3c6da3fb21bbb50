/* A line that a module wrote: {"ctl":"pause","seconds":2}, or {"mark":"text"}. */
#ifndef CLI_WATCH_MODULE_LINE_H
#define CLI_WATCH_MODULE_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct steering;

/* Sends it to the recorder. Returns whether it was done. */
bool module_line_do(struct steering *steering, const char *line, size_t size, const char *module);

#endif
