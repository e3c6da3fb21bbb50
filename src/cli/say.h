/* Messages on standard error: one line each, "adaptrace: …". */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "perf/machine/advice.h"

#include <stdbool.h>
#include <stdint.h>

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Prints `begin`, then the obstacle and the way out. Returns false and prints nothing if there is
 * no obstacle.
 */
bool say_advice(const char *begin, const struct advice *advice);

/* Prints the warnings for these flags of a run. */
void say_flags(uint32_t flags);
struct trace;
struct trace_run;

/* Reports it if none of the trace's samples has callers. */
void say_callers(const struct trace *trace);

/* Reports why stacks do not reach their root, as report does, where these are many. */
void say_cut_stacks(const struct trace_run *run);

/* Reports wrong usage and ends the program with argp_err_exit_status. */
void say_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
