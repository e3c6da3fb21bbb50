/*
 * A call that instrumentation saw whole: an MPI call, a visit of a user's region, a marker, or a
 * value that the program gave. Calls are the second dimension of the buffer: kept until they fill
 * their share, then thinned by the policy in force, always whole (see hmb.h).
 *
 * What the call did (messages, requests, collectives) are its parts, in the order of happening.
 */
#ifndef HMB_CALL_H
#define HMB_CALL_H

#include <stdint.h>

enum call_part_kind {
	CALL_SEND,        /* a blocking send: comm, peer, tag, bytes */
	CALL_RECEIVE,     /* a receive that ended here, from its status: comm, peer, tag, bytes */
	CALL_SEND_POSTED, /* a non-blocking send begins: … and request */
	CALL_SEND_DONE,   /* request */
	CALL_RECEIVE_POSTED, /* request */
	CALL_RECEIVE_DONE,   /* comm, peer, tag, bytes, request */
	CALL_TEST_FAILED,    /* request: it was asked for and not ready */
	CALL_CANCELLED,      /* request */
	CALL_COLLECTIVE,     /* comm, peer = root or CALL_NO_PEER, bytes sent, bytes_in received */
	CALL_COLLECTIVE_POSTED, /* request */
	CALL_COLLECTIVE_DONE,   /* comm, peer, bytes, bytes_in, request */
	CALL_COMM_CREATED,      /* comm */
	CALL_COMM_FREED,        /* comm */
	CALL_PUT,               /* one-sided, to the peer of a window's communicator: bytes */
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

#define CALL_NO_PEER (-1)

struct call_part {
	uint8_t kind;  /* enum call_part_kind */
	uint32_t comm; /* index into the trace's communicators, where files are, too */
	int32_t peer;  /* rank in comm */
	int32_t tag;
	uint64_t bytes, bytes_in;
	uint64_t request; /* unique in its process while active, never 0 */
};

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
	uint32_t depth;        /* instrumented calls of this thread that are open around it */
	uint32_t nr_parts;
	uint32_t alike; /* calls with the same differ in their threads, times, requests and
	                   nothing else, as somebody knows who does not compare; 0: nobody does */
	const struct call_part *parts;
};

#endif
