/* How well the recording is in step so far, and what it costs the program. */
#ifndef RECORD_IN_STEP_H
#define RECORD_IN_STEP_H

#include <stdint.h>

struct session;

/*
 * Returns how many ns off the grid are not worth a restart, where a sample has this price: each ns
 * costs as much as the sample takes longer, and the call is as inexact as samples are slow.
 */
uint64_t in_step_tolerance(uint64_t price);

/* Writes both into the run of the session's tables. */
void in_step_note(struct session *session);

/* Notes whether the recorder ran on a CPU of the program since the last call, and how long. */
void in_step_note_round(struct session *session);
/* Tells the guard what calls cost since the last call, and how far apart samples in step are. */
void in_step_tell_guard(struct session *session);

#endif
