/* Gives up privileges before a process does what somebody wrote on a command line. */
#ifndef CLI_WATCH_PRIVILEGES_H
#define CLI_WATCH_PRIVILEGES_H

#include <stdbool.h>

/*
 * Leaves this process no capability, and no way to get one by executing a program. names: it keeps
 * that of reading names of the kernel's functions, CAP_SYSLOG, if it has that.
 */
void privileges_drop(bool names);

/* Makes these the first two descriptors (-1: /dev/null), and closes all but the first three. */
void privileges_close_files(int input, int output);

/*
 * In a child: signals as at the start of a program, no descriptors but the first three, which are
 * these, and no privileges.
 */
void privileges_enter_child(int input, int output);

#endif
