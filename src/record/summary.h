/* The description of a recording in its tables. */
#ifndef RECORD_SUMMARY_H
#define RECORD_SUMMARY_H

#include "record/session.h"

/* Stores what is known before the target starts. */
void summary_start(struct session *session);
/* Stores an event whose kind is the next in the trace. */
void summary_event(struct session *session, unsigned event);
/* Sets the start of the recording, when sampling starts. */
void summary_begin(struct session *session);
/* Enters the modules of frames that a sample or a call is about to name. */
void summary_modules(struct session *session, const uint64_t *frames, unsigned nr);
/* Updates what a recovered trace would contain if the recorder were killed now. */
void summary_progress(struct session *session);
/*
 * Returns the time that the sampled CPUs were idle, ns; 0 where it is of no interest. The second
 * counts from the start, and not in pauses.
 */
uint64_t summary_idle(const struct session *session);
uint64_t summary_idle_unpaused(const struct session *session);
/* Stores what is known at the end. */
void summary_totals(struct session *session);

#endif
