/* What is longer than the terminal goes to a pager, as with git. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdbool.h>
#include <stdio.h>

/*
 * A stream for text: standard output itself where that is no terminal, or paging is not wanted.
 * Else what is written is held back until it is known to fill the screen: then a pager is started
 * for it, the one that ADAPTRACE_PAGER or PAGER names, or less. Who starts none gets everything on
 * standard output.
 */
FILE *pager_open(bool wanted);
/*
 * Shows what is held back, or waits until the user has left the pager. Who leaves it early wants no
 * more: that is no error. Write errors are those of standard output.
 */
void pager_close(FILE *to);

#endif
