/*
 * Moments of a job at which all ranks are at the same place: behind their nth collective of all
 * ranks. Each rank has a balance there, see hmb/channel.h. Where those of all ranks add up to 0, no
 * message was on its way, so that the first message of a channel that was sent behind it is the
 * first one that was received behind it.
 */
#ifndef TRACE_MESSAGE_EPOCHS_H
#define TRACE_MESSAGE_EPOCHS_H

#include "base/map64.h"

#include <stdbool.h>

struct message_epoch {
	uint64_t balance; /* of all ranks that were added */
	uint32_t nr_ranks;
};

struct message_epochs {
	struct map64 by_number;
	struct message_epoch *epochs;
	uint32_t nr;
};

/* Adds what one rank has behind its collective with this number, from 1 on; 0: before the first. */
int message_epochs_add(struct message_epochs *epochs, uint64_t number, uint64_t balance);
/* Whether each of nr_ranks was added once, and no message was on its way. */
bool message_epochs_settled(const struct message_epochs *epochs, uint64_t number,
                            uint32_t nr_ranks);
void message_epochs_fini(struct message_epochs *epochs);

#endif
