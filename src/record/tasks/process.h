/* Processes and their threads, as /proc shows them. */
#ifndef RECORD_TASKS_PROCESS_H
#define RECORD_TASKS_PROCESS_H

#include <dirent.h>
#include <stdio.h>
#include <sys/types.h>

#define PROCESS_STAT_SIZE 1024

/*
 * Returns the fields of /proc/PID/stat that follow the name, beginning with the state. NULL: there
 * is no such task.
 */
const char *process_stat(pid_t pid, char text[PROCESS_STAT_SIZE]);

/* Returns the process that a thread belongs to; 0: there is no such thread. */
pid_t process_of(pid_t tid);

/*
 * Lists all processes, or the threads of one; close it with closedir(). Returns NULL with errno on
 * failure.
 */
DIR *process_all(void);
DIR *process_threads(pid_t pid);
/* Returns the next ID of a list; 0: none is left. */
pid_t process_next(DIR *list);

/*
 * Opens the list of the processes that a thread has started and that have not ended. NULL: not
 * every kernel tells.
 */
FILE *process_children(pid_t pid, pid_t tid);
/* Returns the next PID of that list; 0: none is left. */
pid_t process_next_child(FILE *children);

#endif
