/*
 * Large frames: the callers of frames that are larger than a sample's copy of the stack.
 *
 * A routine with large arrays on the stack takes more than a sample can copy. The place of its
 * return address is known, so it can be read from the process some milliseconds later. But the
 * thread may have left the routine by then and have entered it again from elsewhere. So the place
 * is read again and again, at least READ_EVERY apart. The callers are trusted when they were the
 * same several times in a row, for as long as that lasts, and for samples from the first of these
 * times on. Each time they differ, twice as many equal readings are needed before they are trusted
 * again.
 *
 * If callers differ only in the place of a call within a function, the ones that were read last are
 * used. So the time of a routine that is called from several lines of one function is distributed
 * over these lines as they are found, and the line of a single sample is not certain.
 */
#ifndef SYMBOLIZE_UNWIND_LARGE_FRAMES_H
#define SYMBOLIZE_UNWIND_LARGE_FRAMES_H

#include "symbolize/unwind/stack_cache.h"

struct large_frames;

/* A frame: its thread, the place of its return address, and its lower end. */
struct large_frame {
	pid_t tid;
	uint64_t slot, bottom;
};

/*
 * Holds about 256 frames. `same` tells which callers are alike. Returns NULL if there is no memory.
 */
struct large_frames *large_frames_new(same_function_fn *same, void *arg);
void large_frames_free(struct large_frames *table);

/* Tells whether the part of the stack above the frame should be read now (ns). */
bool large_frames_is_due(struct large_frames *table, const struct large_frame *key, uint64_t now);

/*
 * Stores what was read: the frame that the return address leads to, with that slot, and all frames
 * above it.
 */
void large_frames_learn(struct large_frames *table, const struct large_frame *key, uint64_t now,
                        const struct stack_entry *entries, size_t nr);

/*
 * Completes a stack that ends in the frame, for a sample of that time. It fills no cut->regs.
 * Returns the new number of entries. It is unchanged if no callers are trusted or there is no room.
 */
size_t large_frames_append(const struct large_frames *table, const struct large_frame *key,
                           uint64_t time, const struct cut *cut);

void large_frames_forget(struct large_frames *table, pid_t tid);

#endif
