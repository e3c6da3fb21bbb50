/* The terminal that output may go to. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <sys/ioctl.h>

/* How many columns it has; 0: it is none, or as wide as it likes. */
static inline unsigned terminal_width(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

#endif
