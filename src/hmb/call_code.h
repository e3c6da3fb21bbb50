/*
 * The coding of instrumented calls inside a bin: a few bytes each, and every bin decodable on its
 * own.
 *
 * Programs repeat themselves: most calls are of a *shape* that the bin has seen, the same region
 * with the same messages, and differ in their times and requests alone. Shapes get numbers in the
 * order of appearance; encoder and decoder keep the same small model of the bin so far.
 *
 *     record   = [switch] control [gap duration] {request} {difference}
 *     control:  below 240 the number of a shape; up to 252: number in two bytes, 240 + high bits,
 *               low byte; 253: a new shape follows
 *     switch:   254, and the number of a thread in the bin; 255: a new one, varint thread. Both
 *               mean the next records, too
 *     shape:    flags, varint region, varint depth, where SHAPE_SITE is set varint site, number of
 *               parts; {part}
 *     part:     type, and what parts of the type have: varint communicator, zigzag peer, zigzag
 *               tag, varint bytes, varint bytes_in; the bytes of a CALL_VALUE are swapped end to
 *               end, for most values that people give are round
 *     gap:      varint, units of 2^time_shift ns: the last leave of the thread to this enter; the
 *               other way round where the shape says SHAPE_BACK; for a new thread from the last
 *               record of the bin, at first from its base time
 *     duration: varint. SHAPE_MORE has neither: it goes on with the thread's last record
 *     request:  where the shape says SHAPE_REQUESTS, for each part with one: zigzag varint to the
 *               one that is expected, which is the thread's last one of its type (posted, or
 *               done) + 1; else all are as expected
 *     difference: SHAPE_PEERS: each part's zigzag(peer - that of the shape's last record), and the
 *               tag likewise; SHAPE_SIZES: bytes, bytes_in; values by exclusive or, end to end
 *
 * A call with more than CALL_CODE_PARTS parts is several records, all but the last CALL_CONTINUED.
 * The page adaptrace-trace(5) specifies the same for other readers.
 */
#ifndef HMB_CALL_CODE_H
#define HMB_CALL_CODE_H

#include "hmb/arena.h"
#include "hmb/call.h"

#define CALL_CODE_PARTS 3 /* of one record */
/* The most bytes of a record with so many parts. The smallest bin has room for every record. */
#define CALL_CODE_ROOM(nr_parts) (45 + 46 * (size_t)(nr_parts))
#define CALL_CODE_MAX_RECORD     CALL_CODE_ROOM(CALL_CODE_PARTS)

#define CALL_CODE_SHAPES      1024
#define CALL_CODE_SHAPE_PARTS 2048
#define CALL_CODE_THREADS     256

/* The lowest bits are enum call_flags. */
enum shape_flags {
	SHAPE_BACK = 4,      /* entered before the thread's last call was left */
	SHAPE_MORE = 8,      /* more parts of the thread's last record */
	SHAPE_REQUESTS = 16, /* requests are not as expected */
	SHAPE_SIZES = 32,    /* sizes differ from record to record */
	SHAPE_PEERS = 64,    /* peers and tags do */
	SHAPE_SITE = 128,    /* the calling site is known */
};

struct call_shape {
	uint32_t region, depth, site;
	uint8_t flags, nr_parts;
	uint16_t first_part;
};

/* A part without its request; of SHAPE_SIZES and SHAPE_PEERS the last one. */
struct call_shape_part {
	uint64_t bytes, bytes_in;
	uint32_t comm;
	int32_t peer, tag;
	uint8_t type;
};

struct call_thread {
	uint32_t thread;
	bool continued;       /* its last record was CALL_CONTINUED */
	uint64_t enter, last; /* of its last record: enter and leave, time units */
	struct call_requests requests;
};

/*
 * The state of the prediction after the latest call of a bin. Encoder and decoder keep identical
 * models.
 */
struct call_model {
	uint64_t time; /* the last record's leave, time units */
	uint32_t nr_shapes, nr_parts;
	uint32_t nr_threads; /* goes on counting: the ring's oldest is replaced */
	struct call_thread *thread;
	struct call_shape shapes[CALL_CODE_SHAPES];
	struct call_shape_part parts[CALL_CODE_SHAPE_PARTS];
	struct call_thread threads[CALL_CODE_THREADS];
};

#define CALL_CODE_ALIKES 1024

/*
 * The data that is stored for each of several alike calls, besides the number of their shape and
 * their times.
 */
enum call_alike_state {
	ALIKE_TIMES, /* nothing */
	ALIKE_SIZE,  /* the bytes of their only part */
	ALIKE_SIZES, /* several sizes */
};

/* The model with hash tables over it: 124 KiB, zeroed before the first bin. */
struct call_encoder {
	struct call_model model;
	uint64_t nr_bins; /* that it has begun: what was alike before is not known any more */
	struct call_alike {
		uint64_t key;     /* call_alike_key(); never 0 where somebody is */
		uint16_t number;  /* of their last shape */
		uint16_t part;    /* with ALIKE_SIZE the one in the model that has the size */
		uint8_t state;    /* enum call_alike_state */
		uint8_t requests; /* whether there are any */
		uint8_t fields[CALL_CODE_PARTS];
		/*
		 * Each alike call advances the numbers of the latest posted and the latest
		 * completed request by these counts.
		 */
		uint32_t nr_posted, nr_done;
	} alikes[CALL_CODE_ALIKES];           /* by the lowest bits of what they share */
	uint16_t slots[2 * CALL_CODE_SHAPES]; /* shapes by hash; 0: empty */
	uint8_t sizes[256], peers[256];       /* how many shapes differ in nothing else, by hash */
	uint16_t next[CALL_CODE_SHAPES + 1];  /* the shape that followed each last time, + 1 */
	uint16_t last;                        /* the last record's, + 1; 0: it had no number */
};

static inline uint64_t call_alike_key(const struct call_encoder *encoder, uint32_t alike)
{
	return encoder->nr_bins << 32 | alike;
}

/* Prepares for the first record of a bin and sets the bin's base time. */
void call_code_begin(struct call_encoder *encoder, struct bin *bin, uint64_t time,
                     unsigned time_shift);

/*
 * Appends a record to a bin with CALL_CODE_ROOM() for it: a call of at most CALL_CODE_PARTS parts,
 * of known types.
 */
void call_code_put(struct call_encoder *encoder, struct bin *bin, const struct call *call);

/* A walk over the records of one bin, which may come from a file and be anything. */
struct call_cursor {
	const unsigned char *at, *end;
	unsigned time_shift;
	uint32_t left; /* records */
	struct call_part parts[CALL_CODE_PARTS];
	struct call_model model;
};

/* Returns a cursor without a bin, which the caller frees, or NULL. See code_cursor_new(). */
struct call_cursor *call_cursor_new(void);

/*
 * Starts at a bin in `size` bytes of memory. Returns 0, or -EBADMSG if its header contradicts
 * itself.
 */
int call_code_open(struct call_cursor *cursor, const struct bin *bin, size_t size);

/*
 * 1 with the next record, whose parts live until the call after, 0 at the end, -EBADMSG where the
 * bytes make no sense. Times are rounded down to multiples of 1 << time_shift; enter <= leave.
 */
int call_code_next(struct call_cursor *cursor, struct call *call);

#endif
