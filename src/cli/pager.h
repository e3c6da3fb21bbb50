/* Sends output that is longer than the terminal to a pager, as git does. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Returns a stream for text. It is standard output itself if that is not a terminal or if paging is
 * not wanted. Otherwise the text is held back until it is known to fill the screen. Then a pager is
 * started: ADAPTRACE_PAGER, PAGER or less. If no pager can be started, all text goes to standard
 * output.
 */
FILE *pager_open(bool wanted);
/*
 * Shows the text that is held back, or waits until the user has left the pager. Leaving the pager
 * early is not an error. Write errors are those of standard output.
 */
void pager_close(FILE *to);

#endif
