/*
 * Divides a stream of events, the calls of one thread, into iterations of the loop that the program
 * is in. Nothing is known of the program beforehand.
 *
 *     events   i r s w i r s w A i r s w i r s w i r s w A i r s w …
 *     level 0  |a      |a      |b        |a      |a      |b
 *     level 1  |a              b         |a              b
 *
 * A period of the stream (see period.h) only says where to look: following it event by event would
 * end at the first variation. From a locked period an *anchor* is taken, an event that occurs in it
 * exactly once. From then on an iteration begins wherever the anchor occurs, whatever is between.
 * Iterations with the same events have one *pattern*. Several inner loops in a row have an anchor
 * each.
 *
 * Iterations of one pattern in a row are one event of the next level, which is divided in the same
 * way, so that the number of inner iterations does not matter there. A *phase* is a part of the
 * stream that is divided by the same anchors.
 *
 * The memory is bounded and belongs to the caller; no clock is read. It is made for recorded
 * programs, which divide their own calls, as well as for reports.
 */
#ifndef HMB_SEGMENT_H
#define HMB_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_LEVELS   3
#define SEGMENT_IDS      4096 /* events are 1 … SEGMENT_IDS - 1 */
#define SEGMENT_PATTERNS 64   /* of a level; beyond that the least recently seen one is replaced */
#define SEGMENT_HISTORY  16384

struct segment_iteration {
	uint64_t begin, end; /* numbers of its first event and of the first one behind it, from 0 */
	uint64_t ordinal;    /* how often its anchor has occurred, from 1 */
	uint32_t phase;      /* number of the phase at its level, from 1 */
	uint32_t row;        /* iterations of this pattern in a row, with this one */
	uint8_t level, pattern; /* pattern < SEGMENT_PATTERNS */
	bool is_new;            /* the first one of its pattern */
	/* Its phase is that of the next iteration that is not loose. */
	bool is_loose;
};

/*
 * Takes an iteration that has ended. Iterations of one level come in their order. When a phase is
 * found, those before come, too, as far back as SEGMENT_HISTORY events.
 */
typedef void segment_fn(void *arg, const struct segment_iteration *iteration);

/*
 * The latest events. Most of them need no look when they come: only the last event of an anchor
 * ends an iteration, and the search for periods takes eight events at a time.
 */
struct segment_queue {
	uint64_t nr;   /* events that were put */
	uint64_t look; /* the number of the next event that needs a look, whatever it is */
	uint16_t events[SEGMENT_HISTORY];      /* by number modulo SEGMENT_HISTORY */
	uint64_t needs_look[SEGMENT_IDS / 64]; /* a bit for each event; 0, which is none, has it */
};

struct segmenter;

/* Prepares a segmenter in memory of segmenter_bytes(), aligned to 16 bytes. */
size_t segmenter_bytes(void);
/*
 * Where nothing repeats, `pausing` limits the mean time of an event to about 10 ns: the stream is
 * searched now and then only, above all for long periods.
 */
struct segmenter *segmenter_init(void *memory, bool pausing, segment_fn *fn, void *arg);

/* Takes an event; wide: a collective of all processes, at which all of them agree. */
void segmenter_put(struct segmenter *segmenter, uint16_t event, bool wide);

/* Returns the queue of a segmenter, which is valid as long as that is. */
struct segment_queue *segmenter_queue(struct segmenter *segmenter);

/*
 * Takes an event that was put before, if it needs no look. Returns false otherwise: then it must be
 * put by segmenter_put(), which does both.
 */
static inline bool segment_queue_put(struct segment_queue *queue, uint16_t event)
{
	if (queue->nr == queue->look || queue->needs_look[event / 64] >> event % 64 & 1)
		return false;
	queue->events[queue->nr++ % SEGMENT_HISTORY] = event;
	return true;
}

/*
 * Whether iterations of a level seem to be parts of those of the next level: an inner loop, and not
 * steps of which some have a few more events. Both are one stream: (x s s s)* may be a loop around
 * s, or steps s of which every third begins with x. s is taken for an inner loop
 *
 *     if s has a wide event, and x is at least 1.4 times as long as s;
 *     if s has none, and x is at least as long as s;
 *     if s has none, x has one, and x is at least a quarter as long as s;
 *     if there are several such s, which begin with different events.
 */
bool segmenter_is_inner(const struct segmenter *segmenter, unsigned level);

#endif
