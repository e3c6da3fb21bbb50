/* How well the recording is in step so far, and what it costs the program. */
#ifndef RECORD_IN_STEP_H
#define RECORD_IN_STEP_H

struct session;

/* Writes both into the run of the session's tables. */
void in_step_note(struct session *session);

#endif
