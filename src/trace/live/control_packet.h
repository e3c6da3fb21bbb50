/*
 * Packets between adaptrace ctl and a recorder: a JSON object each way.
 *
 *     {"v":1,"ctl":"mark","text":"phase 2"}     →  {"ok":true,"time_ns":81023456789}
 *     {"v":1,"ctl":"resume"}                    →  {"ok":false,"error":"nothing is paused"}
 *
 * Both sides take what they receive for untrusted.
 */
#ifndef TRACE_LIVE_CONTROL_PACKET_H
#define TRACE_LIVE_CONTROL_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_PACKET_MAX  4096
#define CONTROL_TEXT_MAX    256  /* bytes, without the NUL */
#define CONTROL_ERROR_MAX   256  /* likewise */
#define CONTROL_FILE_MAX    2048 /* likewise */
#define CONTROL_SECONDS_MIN 0.001
#define CONTROL_SECONDS_MAX 1e9
#define CONTROL_HZ_MIN      0.001
#define CONTROL_HZ_MAX      1e9
#define CONTROL_LEASE_MAX   10  /* seconds that a lease lasts at most */
#define CONTROL_LEASE_HZ    250 /* samples a second of a CPU that it is given at most */

enum control_command {
	CONTROL_MARK,   /* text */
	CONTROL_PAUSE,  /* recording, seconds */
	CONTROL_RESUME, /* seconds */
	CONTROL_STOP,
	CONTROL_RESET,
	CONTROL_OVERHEAD,  /* percent */
	CONTROL_CALLS,     /* text: on, off, or a class of calls */
	CONTROL_CONDITION, /* text, value, file: it has come true, which is to be noted */
	CONTROL_DETAIL,    /* seconds, hz */
	CONTROL_MEMORY,    /* bytes */
	CONTROL_EVENT,     /* change, text: names of events as in -e; anyway */
	CONTROL_LEASE,     /* seconds, hz: a window for somebody who looks on, which is not kept */
	CONTROL_IMAGE, /* the memory of the image, which comes with the answer: image_memory.h */
	NR_CONTROL_COMMANDS
};

enum control_change { CONTROL_ONLY, CONTROL_ADD, CONTROL_DROP, NR_CONTROL_CHANGES };

/* Members that a command does not have are 0. */
struct control_request {
	enum control_command command;
	enum control_change change;
	bool recording; /* pause: the recording alone, while the target runs on */
	bool anyway;    /* event: opened for each thread, where it is inherited and not spare */
	double seconds; /* time after which the command is undone; 0: not given */
	double percent; /* 0 … 100 */
	double value;
	double hz;    /* samples a second; 0: not given */
	double bytes; /* a whole number below 2^53 */
	char text[CONTROL_TEXT_MAX + 1];
	char file[CONTROL_FILE_MAX + 1]; /* a path, which the recorder only notes */
};

struct control_answer {
	bool ok;
	uint64_t time;                     /* of the command's effect, ns; if ok */
	char error[CONTROL_ERROR_MAX + 1]; /* one line, if not */
	char note[CONTROL_ERROR_MAX + 1];  /* one line to be shown, if ok; mostly empty */
};

/* Returns the name of a command. */
const char *control_command_name(enum control_command command);

/* The name of a change, and the change of a name; NR_CONTROL_CHANGES: there is none. */
const char *control_change_name(enum control_change change);
enum control_change control_change_find(const char *name);

/* Returns NULL, or what is wrong with the packet. */
const char *control_request_parse(const char *packet, size_t size, struct control_request *request);
/* Returns false for a packet that is no answer. Control characters in an error become '?'. */
bool control_answer_parse(const char *packet, size_t size, struct control_answer *answer);

/* Return the size of the packet; 0: it does not fit, or there is no memory. */
size_t control_request_print(const struct control_request *request,
                             char packet[CONTROL_PACKET_MAX]);
size_t control_answer_print(const struct control_answer *answer, char packet[CONTROL_PACKET_MAX]);

/*
 * Makes a packet of a line that another program wrote: a request without its "v", or {"mark":"…"}.
 * Returns its size; 0: it is no such line.
 */
size_t control_request_of_line(const char *line, size_t size, char packet[CONTROL_PACKET_MAX]);

#endif
