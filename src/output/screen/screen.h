/* adaptrace top on a terminal: rows that change each second, and keys. */
#ifndef OUTPUT_SCREEN_SCREEN_H
#define OUTPUT_SCREEN_SCREEN_H

#include "output/screen/top_model.h"

/*
 * Shows the recording until the user quits. 0, -ENOTTY: the terminal cannot show it, -ENOSYS: this
 * program was built without curses, -EBADMSG, -ENOMEM.
 */
int screen_run(const struct top_recording *recording);

#endif
