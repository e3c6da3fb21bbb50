/* adaptrace top on a terminal: rows that change each second, and keys. */
#ifndef OUTPUT_SCREEN_SCREEN_H
#define OUTPUT_SCREEN_SCREEN_H

#include "output/screen/top_model.h"

/*
 * Shows the recording until the user quits, and returns 0, or until a signal ends it, and returns
 * its number, which is SIGINT, SIGTERM or SIGHUP. -ENOTTY: the terminal cannot show it, -ENOSYS:
 * this program was built without curses, -EBADMSG, -ENOMEM.
 */
int screen_run(const struct top_recording *recording);

#endif
