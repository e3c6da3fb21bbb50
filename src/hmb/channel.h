/*
 * A channel: messages of one communicator, sender, receiver and tag. Its hash is the same in all
 * processes. A balance is the sum of the hashes of all messages that a thread has sent, minus those
 * that it has received: where the balances of all threads of a job add up to 0, each message that
 * was sent was received.
 */
#ifndef HMB_CHANNEL_H
#define HMB_CHANNEL_H

#include "hmb/lambda.h"

/* comm: the id of the communicator in the job. Sender and receiver are ranks in their groups. */
static inline uint64_t channel_hash(uint64_t comm, uint32_t sender, uint32_t receiver, int32_t tag)
{
	uint64_t hash = lambda_mix(comm ^ (uint64_t)(uint32_t)tag << 1);

	return lambda_mix(hash ^ ((uint64_t)sender << 32 | receiver));
}

#endif
