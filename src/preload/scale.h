/*
 * Trace scaling: of the iterations that a thread's calls form, some of each pattern are kept.
 * Records are written as they always are, but while a loop is known, the recorder is not told of
 * them until its iteration ends. Then they are published, or the thread goes back to where the
 * iteration began. Sums have all calls in either case.
 *
 * Kept are the first iterations of each pattern, some that are spread over the run by their
 * ordinals, which are the same on all ranks, and those that are slower than all but 1/256 of their
 * pattern, or much slower than usual.
 *
 * Where the recorder drops whole iterations, each has a level of the buffer: that of its ordinal,
 * or a higher one if it is slow or one of the first of its pattern. Iterations of levels that the
 * recorder has dropped are not published.
 */
#ifndef PRELOAD_SCALE_H
#define PRELOAD_SCALE_H

#include "preload/write.h"

/* Prepares a thread that has a ring. Without memory all of its calls are kept. */
void scale_start(struct thread *thread);
void scale_stop(struct thread *thread);

/* Publishes all records: the thread ends. */
void scale_end(struct thread *thread);

#endif
