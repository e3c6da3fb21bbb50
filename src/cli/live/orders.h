/* Commands that keys of adaptrace top give to a recorder, and lines that say what became of them.
 */
#ifndef CLI_LIVE_ORDERS_H
#define CLI_LIVE_ORDERS_H

#include "output/screen/top_model.h"

#include <sys/types.h>

struct watched;

struct orders {
	const struct watched *watched; /* the recorder's recording; borrowed */
	const char *snapshots;         /* they are called NAME-COUNT.atr after this */
	unsigned nr_snapshots;
	pid_t writer; /* of a snapshot; 0: none */
	int said;     /* what it says */
};

/* Gives a command, and says in a line what has become of it. */
void orders_give(struct orders *orders, enum top_command command, const char *text,
                 char answer[TOP_ANSWER]);
/* Says what became of a snapshot. False: nothing new. */
bool orders_hear(struct orders *orders, char answer[TOP_ANSWER]);
/* Waits for a snapshot that is being written. */
void orders_fini(struct orders *orders);

#endif
