/*
 * A call that instrumentation saw whole: an MPI call, a visit of a user's region, a marker, or a
 * value that the program gave. Calls are the second dimension of the buffer: kept until they fill
 * their share, then thinned by the policy in force, always whole (see hmb.h).
 *
 * The parts of a call are its messages, requests and collectives, in the order of their occurrence.
 */
#ifndef HMB_CALL_H
#define HMB_CALL_H

#include <stdint.h>

/* The policy `class` gives up classes of calls in this order. */
enum call_class {
	CLASS_POINT_TO_POINT,
	CLASS_ONE_SIDED,
	CLASS_IO,
	CLASS_COLLECTIVE,
	CLASS_OTHER,  /* the world, communicators, groups */
	CLASS_OPENMP, /* parallel regions */
	CLASS_USER,   /* regions, markers and values of adaptrace.h */
	NR_CALL_CLASSES
};

enum call_part_type {
	CALL_SEND,        /* a blocking send: comm, peer, tag, bytes */
	CALL_RECEIVE,     /* a receive that ended here, from its status: comm, peer, tag, bytes */
	CALL_SEND_POSTED, /* a non-blocking send begins: … and request */
	CALL_SEND_DONE,   /* request */
	CALL_RECEIVE_POSTED,    /* request */
	CALL_RECEIVE_DONE,      /* comm, peer, tag, bytes, request */
	CALL_TEST_FAILED,       /* request: it was asked for and not ready */
	CALL_CANCELLED,         /* request */
	CALL_COLLECTIVE,        /* comm, peer = root, bytes sent, bytes_in received */
	CALL_COLLECTIVE_POSTED, /* request */
	CALL_COLLECTIVE_DONE,   /* comm, peer, bytes, bytes_in, request */
	CALL_COMM_CREATED,      /* comm */
	CALL_COMM_FREED,        /* comm */
	CALL_PUT,               /* one-sided, to the peer of an MPI window's communicator: bytes */
	CALL_GET,
	CALL_ATOMIC,
	CALL_READ, /* of a file that is not known: bytes */
	CALL_WRITE,
	CALL_VALUE, /* bytes: the bits of a double that the program gave for the region's name */
	CALL_FILE_OPENED, /* comm = the file, tag = MPI's mode of access */
	CALL_FILE_CLOSED, /* comm = the file */
	CALL_FILE_READ,   /* comm = the file, bytes moved, bytes_in asked for */
	CALL_FILE_WRITE,
	CALL_READ_POSTED, /* comm = the file, bytes_in asked for, request: it goes on */
	CALL_READ_DONE,   /* comm = the file, bytes moved, bytes_in asked for, request */
	CALL_WRITE_POSTED,
	CALL_WRITE_DONE,
	NR_CALL_PARTS
};

/* Values in place of a peer. The last two are roots of collectives in an intercommunicator. */
#define CALL_NO_PEER   (-1)
#define CALL_ROOT_SELF (-2) /* the process itself, which said MPI_ROOT */
#define CALL_ROOT_NEAR (-3) /* another one of its own group; it said MPI_PROC_NULL */

struct call_part {
	uint8_t type;  /* enum call_part_type */
	uint32_t comm; /* index into the trace's communicators, where files are, too */
	int32_t peer;  /* rank in comm, in its remote group if it has one */
	int32_t tag;
	uint64_t bytes, bytes_in;
	uint64_t request; /* unique in its process while active, never 0 */
};

/* The fields that a part of this type has, in the order in which they are coded. */
enum part_fields {
	PART_COMM = 1,
	PART_PEER = 2,
	PART_TAG = 4,
	PART_BYTES = 8,
	PART_BYTES_IN = 16,
	PART_REQUEST = 32,
	PART_POSTS = 64, /* its request begins */
	PART_ASKS = 128, /* its request is still to be done */
	PART_MESSAGE = PART_COMM | PART_PEER | PART_TAG | PART_BYTES,
	PART_COLLECTIVE = PART_COMM | PART_PEER | PART_BYTES | PART_BYTES_IN,
	PART_ONE_SIDED = PART_COMM | PART_PEER | PART_BYTES,
	PART_TRANSFER = PART_COMM | PART_BYTES | PART_BYTES_IN,
};

/* Returns the fields of a type, or 0 for an unknown type. Other fields of a decoded part are 0. */
static inline unsigned call_part_fields(unsigned type)
{
	static const uint8_t fields[NR_CALL_PARTS] = {
		[CALL_SEND] = PART_MESSAGE,
		[CALL_RECEIVE] = PART_MESSAGE,
		[CALL_SEND_POSTED] = PART_MESSAGE | PART_REQUEST | PART_POSTS,
		[CALL_SEND_DONE] = PART_REQUEST,
		[CALL_RECEIVE_POSTED] = PART_REQUEST | PART_POSTS,
		[CALL_RECEIVE_DONE] = PART_MESSAGE | PART_REQUEST,
		[CALL_TEST_FAILED] = PART_REQUEST | PART_ASKS,
		[CALL_CANCELLED] = PART_REQUEST,
		[CALL_COLLECTIVE] = PART_COLLECTIVE,
		[CALL_COLLECTIVE_POSTED] = PART_REQUEST | PART_POSTS,
		[CALL_COLLECTIVE_DONE] = PART_COLLECTIVE | PART_REQUEST,
		[CALL_COMM_CREATED] = PART_COMM,
		[CALL_COMM_FREED] = PART_COMM,
		[CALL_PUT] = PART_ONE_SIDED,
		[CALL_GET] = PART_ONE_SIDED,
		[CALL_ATOMIC] = PART_ONE_SIDED,
		[CALL_READ] = PART_BYTES,
		[CALL_WRITE] = PART_BYTES,
		[CALL_VALUE] = PART_BYTES,
		[CALL_FILE_OPENED] = PART_COMM | PART_TAG,
		[CALL_FILE_CLOSED] = PART_COMM,
		[CALL_FILE_READ] = PART_TRANSFER,
		[CALL_FILE_WRITE] = PART_TRANSFER,
		[CALL_READ_POSTED] = PART_COMM | PART_BYTES_IN | PART_REQUEST | PART_POSTS,
		[CALL_READ_DONE] = PART_TRANSFER | PART_REQUEST,
		[CALL_WRITE_POSTED] = PART_COMM | PART_BYTES_IN | PART_REQUEST | PART_POSTS,
		[CALL_WRITE_DONE] = PART_TRANSFER | PART_REQUEST,
	};

	return type < NR_CALL_PARTS ? fields[type] : 0;
}

/* Tells what the bytes of a part are: how a part adds to the sums of its call. */
enum part_moves {
	PART_OUT = 1,     /* bytes were sent or written */
	PART_IN = 2,      /* bytes were received or read; with PART_OUT it is bytes_in */
	PART_COUNTED = 4, /* it is a message, or an access to a peer's memory */
};

/* Returns the moves of a type. The beginning of a request moves nothing but messages to send. */
static inline unsigned call_part_moves(unsigned type)
{
	static const uint8_t moves[NR_CALL_PARTS] = {
		[CALL_SEND] = PART_OUT | PART_COUNTED,
		[CALL_SEND_POSTED] = PART_OUT | PART_COUNTED,
		[CALL_PUT] = PART_OUT | PART_COUNTED,
		[CALL_ATOMIC] = PART_OUT | PART_COUNTED,
		[CALL_RECEIVE] = PART_IN | PART_COUNTED,
		[CALL_RECEIVE_DONE] = PART_IN | PART_COUNTED,
		[CALL_GET] = PART_IN | PART_COUNTED,
		[CALL_COLLECTIVE] = PART_OUT | PART_IN,
		[CALL_COLLECTIVE_DONE] = PART_OUT | PART_IN,
		[CALL_WRITE] = PART_OUT,
		[CALL_FILE_WRITE] = PART_OUT,
		[CALL_WRITE_DONE] = PART_OUT,
		[CALL_READ] = PART_IN,
		[CALL_FILE_READ] = PART_IN,
		[CALL_READ_DONE] = PART_IN,
	};

	return type < NR_CALL_PARTS ? moves[type] : 0;
}

/*
 * The latest requests that a thread's calls mention. The next request is expected to be one more.
 */
struct call_requests {
	uint64_t posted, done;
};

/* Returns the latest request of the type that a part with these fields continues. */
static inline uint64_t *call_last_request(struct call_requests *last, unsigned fields)
{
	return fields & PART_POSTS ? &last->posted : &last->done;
}

static inline void call_note_request(struct call_requests *last, unsigned fields, uint64_t request)
{
	if (!(fields & PART_ASKS))
		*call_last_request(last, fields) = request;
}

enum call_flags {
	CALL_UNFINISHED = 1, /* never returned: leave is when the process ended, or when it was seen
	                        that the program had left it */
	CALL_CONTINUED =
		2, /* more parts follow in the next call of this thread, same enter, leave */
};

struct call {
	uint64_t enter, leave; /* ns, of the samples' clock; equal for markers and values */
	uint32_t thread;       /* index into the trace's threads */
	uint32_t region;       /* index into the trace's regions */
	uint32_t flags;        /* enum call_flags */
	uint32_t site;         /* in the trace's call sites, + 1; 0: unknown */
	uint32_t depth;        /* instrumented calls of this thread that are open around it */
	uint32_t nr_parts;
	uint32_t alike; /* calls with the same differ in their threads, times, requests and
	                   nothing else, as somebody knows who does not compare; 0: nobody does */
	const struct call_part *parts;
};

#endif
