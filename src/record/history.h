/*
 * The history (record --history): the last seconds of the run at a rate that does not fall as that
 * of the run does.
 *
 *     half 0   |----- SECONDS -----|                     |----- SECONDS ---
 *     half 1                       |----- SECONDS -----|
 *     there    0 ...               SECONDS ... 2 * SECONDS    SECONDS ...
 *
 * It has two halves, each a kind of its own in the buffer, with a floor, a weight and a tree of its
 * own. Each sample of the first event that is of its level goes to one of them, beside the run's
 * kind and those of windows. Once that half spans its seconds, the other one is cleared and takes
 * its turn. A half whose memory is used up ends earlier. Calls have two halves more, see
 * calls_keep().
 *
 * The kernel samples no less often than the history needs. If that costs too much, the history
 * becomes coarser, and not the run.
 */
#ifndef RECORD_HISTORY_H
#define RECORD_HISTORY_H

#include "record/history/halves.h"

struct hmb_sample;
struct session;

struct history {
	bool on;
	struct halves halves;
};

/* Begins it where the configuration wants one, with the start of sampling. 0 or -errno. */
int history_begin(struct session *session);
/* All kinds were cleared: it begins anew. */
void history_restart(struct session *session);

/* An event was not sampled for so many ns. */
void history_skip(struct history *history, unsigned event, uint64_t ns);

/* Returns the shift at which an event is to be sampled, which is `shift` without a history. */
unsigned history_shift(const struct history *history, unsigned event, unsigned shift);
/*
 * Sampling costs too much: makes the history coarser, if it is what the kernel samples so often
 * for. Returns whether it was.
 */
bool history_slow_down(struct session *session);

/* Whether it stores a sample of this level of an event. */
bool history_takes(const struct history *history, unsigned event, unsigned level);
/* Gives the sample the kind of the half that takes it. The halves change their turn here. */
void history_choose_half(struct session *session, struct hmb_sample *sample);

/* At the end: notices of what it did not keep to. */
void history_warn(const struct session *session);

#endif
