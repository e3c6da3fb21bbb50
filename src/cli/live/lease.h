/*
 * A lease of a window from a recorder: as long as somebody looks on, it samples as often as is
 * needed for a picture each second. The lease ends by itself when it is not renewed.
 */
#ifndef CLI_LIVE_LEASE_H
#define CLI_LIVE_LEASE_H

#include <stdint.h>

struct lease {
	const char *image_file; /* borrowed; NULL: there is no lease */
	int fd;                 /* -1: not connected */
	uint64_t due;           /* when it is to be renewed, ns of the clock */
};

/* Does not ask for anything yet. image_file: NULL: there will be no lease. */
void lease_init(struct lease *lease, const char *image_file);
void lease_fini(struct lease *lease);
/* Renews it, at most once a second. Waits for no answer: a recorder may refuse, and may be gone. */
void lease_renew(struct lease *lease);

#endif
