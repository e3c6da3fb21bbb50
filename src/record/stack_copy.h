/*
 * How much of the stack is copied with each sample: as much as the user says or, by default, more
 * where that proves too little. A compiler's recursion goes deeper than 16 KiB a hundredth of the
 * time, for too short a time to learn from the samples around it how the stack goes on.
 *
 * The kernel copies no more than there is, so larger copies cost a target only where its stacks are
 * deep; but each sample takes the room of the largest in the ring.
 *
 * Inherited events and those with counters cannot be opened once more to copy more. So they do from
 * the start, as far as there would be room and time if all stacks were that deep, and each further
 * rung of the ladder for the lower frequency that it has.
 *
 * The two are judged differently, for they know differently much:
 *
 *                at the start                          while sampling
 *     needed     nobody knows, and few programs do     one stack in 256 is cut
 *     steps      one, which nothing corrects           doubled, no further once samples are lost
 *     time       as if all stacks were that deep       of the share that is cut; twice, as programs
 *                                                      pay more than was measured of a sample
 *     room       10 ms of samples behind the mark      10 ms of samples in the whole ring
 *                that wakes the recorder; 50 ms for
 *                copies beyond 32 KiB
 *
 * Where copies can grow, the ring is made so large at the start that it has that room for the
 * largest copies, if that is permitted: at 10 kHz 4 MiB end growth at 32 KiB.
 *
 * Rules of the start would keep copies from growing where that costs next to nothing and completes
 * stacks; those of later would lose samples of programs that gain nothing by it.
 */
#ifndef RECORD_STACK_COPY_H
#define RECORD_STACK_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

struct stack_copy {
	unsigned samples, cut; /* unwound since the last look; cut: some callers are missing */
	uint64_t since;        /* of the last look, ns; 0: there was none */
	bool done;             /* larger copies were refused */
};

/* A stack was unwound. */
static inline void stack_copy_note(struct stack_copy *copy, bool cut)
{
	copy->samples++;
	copy->cut += cut;
}

/*
 * For the sampler of the session arg: how many bytes the samples of a period, ns, copy at the start
 * where a ring that wakes the recorder has that room left. Where the rate of an event is not known
 * before, no more than the default.
 */
uint32_t stack_copy_size(const void *arg, uint64_t period, size_t room);

/*
 * How large a ring should be that has `size` bytes by default and may have `most`: so large that
 * copies can grow as far as they go, where they can.
 */
size_t stack_copy_ring(const struct session *session, size_t size, size_t most);

/* Asks for larger copies, where stacks are cut and there is room and time for more. */
void stack_copy_follow(struct session *session);

/*
 * How many ns may pass until that is asked again. A program that will have deep stacks has them
 * soon, and of a short run each tenth of a second counts.
 */
uint64_t stack_copy_wait(const struct session *session);

#endif
