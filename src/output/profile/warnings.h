/* Warnings about the quality of a recording and of a profile. */
#ifndef OUTPUT_PROFILE_WARNINGS_H
#define OUTPUT_PROFILE_WARNINGS_H

#include "output/profile/profile.h"

#define WARNING_SIZE 512

/* Called for each, most serious first; text is one line, and may hold names as they are. */
typedef void warning_fn(void *arg, const char *text);

/*
 * Emits the warnings about the whole recording. Where a part of it is shown, they say that they are
 * not about the part alone.
 */
void warnings_of_run(const struct trace *trace, const struct selection *selection, warning_fn *fn,
                     void *arg);
/* Emits only those warnings that depend on the flags of a run. */
void warnings_of_flags(uint32_t flags, warning_fn *fn, void *arg);
/*
 * Writes the reason for which an event has no samples. counted: event->exact is known, even where
 * it is 0.
 */
void warning_of_silence(char text[WARNING_SIZE], const char *name, const struct trace_event *event,
                        bool counted);
/* Writes the warning that calls never reached the recorder, and why. */
void warning_of_lost_calls(char text[WARNING_SIZE], uint64_t lost);
/* Writes the warning that the kernel stopped observing `nr` processes, and why. */
void warning_of_unobserved(char text[WARNING_SIZE], uint64_t nr);
/* Warns a view of callers that none were recorded, and tells how to get them. */
void warnings_of_callers(const struct trace *trace, warning_fn *fn, void *arg);
/* The warnings about one event's samples. */
void warnings_of_profile(const struct profile *profile, warning_fn *fn, void *arg);

#endif
