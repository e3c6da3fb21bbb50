/*
 * Events of a place in memory or in code:
 *
 *	mem:0x601040		what reads or writes 4 bytes there
 *	mem:0x601040/8:w	what writes 8 (1, 2, 4, 8); r, w, x (executes) or several
 *	uprobe:/bin/app:main	calls of a function; +OFFSET within; or the offset in the file alone
 *	uretprobe:/bin/app:main	returns from it
 *	kprobe:vfs_read+4	the same in the kernel
 *	kretprobe:vfs_read
 *
 * A probe in a file needs the place of its function in the file, which this module cannot find out.
 */
#ifndef PERF_EVENTS_EVENT_PLACE_H
#define PERF_EVENTS_EVENT_PLACE_H

#include "perf/events/event.h"

/* Tells whether a name has the form of one of them. Its modifiers begin at *modifiers. */
bool place_looks_so(const char *text, const char **modifiers);

/* Tells whether a name is that of a probe in a file. */
bool place_is_in_file(const char *text);

/*
 * Fills attr, probe and function. root: PMU_ROOT. 0, -EINVAL, or -ENOENT (this kernel has no such
 * probes), with one line in why.
 */
int place_encode(const char *root, const char *text, struct event *event, char why[WHY_SIZE]);

#endif
