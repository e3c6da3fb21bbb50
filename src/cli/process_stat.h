/* What the kernel says of a process in one line, as ps shows it. */
#ifndef CLI_PROCESS_STAT_H
#define CLI_PROCESS_STAT_H

#include <sys/types.h>

#define PROCESS_STAT_SIZE 1024

/* The fields of /proc/PID/stat behind the name, the state first; NULL: there is no such task. */
const char *process_stat(pid_t pid, char text[PROCESS_STAT_SIZE]);

#endif
