/* What a session writes into the tables about itself. */
#ifndef RECORD_SUMMARY_H
#define RECORD_SUMMARY_H

#include "record/session.h"

/* What is known before the target starts. */
void summary_start(struct session *session);
/* Sampling starts now: so does the time of the recording. */
void summary_begin(struct session *session);
/* Enters the modules of frames that a sample is about to name. */
void summary_modules(struct session *session, const uint64_t *frames, unsigned nr);
/* What a recovered trace should say if the recorder were killed now. */
void summary_progress(struct session *session);
/* What is known in the end. */
void summary_totals(struct session *session);

#endif
