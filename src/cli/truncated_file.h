/* Files that end, or cannot be read any further, while a command reads them. */
#ifndef CLI_TRUNCATED_FILE_H
#define CLI_TRUNCATED_FILE_H

/*
 * From now on such a file is named on standard error and ends the program with 1. Only a signal
 * tells that a mapped file became shorter.
 */
void truncated_file_watch(void);

#endif
