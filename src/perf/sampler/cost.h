/*
 * The price of one sample on this machine: what the interrupted program loses to the timer, the
 * interrupt and the copying of its stack. 1-2 µs on bare metal, ten times that in a virtual
 * machine, so it is measured, not known.
 */
#ifndef PERF_SAMPLER_COST_H
#define PERF_SAMPLER_COST_H

#include <stdbool.h>
#include <stdint.h>

/* A sample as it will be taken. */
struct cost_question {
	bool exclude_kernel; /* for users who may sample their own side only */
	bool callchain;      /* the kernel walks the frame pointers; 32 frames here */
	uint32_t
		stack_size; /* bytes of user stack to copy, a multiple of 8 up to EVENT_STACK_MAX */
	uint64_t regs;      /* user registers, as in sample_regs_user; 0: none */
};

/*
 * Spins on the calling thread for 20 ms (40 where other tasks are in the way) under a clock of its
 * own, of 10 kHz, and takes the lower quartile of several tries. Repeats within 10 % as long as the
 * machine itself does: the host of a virtual one can make samples a third dearer from one second to
 * the next. Needs one descriptor and 260 KiB of ring meanwhile. 0; else the kernel's -errno
 * (-EACCES and -EPERM: not for this user), -EINVAL, or -EAGAIN where the thread hardly came to run.
 * Real programs pay up to twice as much: their caches suffer, too.
 */
int cost_measure(const struct cost_question *question, uint64_t *ns_per_sample);

#endif
