/* The terminal that output may go to. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* How many columns and rows it has; 0: it is none, or as large as it likes. */
static inline struct winsize terminal_size(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? (struct winsize){0} : size;
}

/* Whether it can do more than show one line below the other, as those of editors cannot. */
static inline bool terminal_obeys(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

#endif
