/* Processes and their threads, as /proc shows them. */
#ifndef RECORD_TASKS_PROCESS_H
#define RECORD_TASKS_PROCESS_H

#include <dirent.h>
#include <sys/types.h>

#define PROCESS_STAT_SIZE 1024

/* The fields of /proc/PID/stat behind the name, the state first; NULL: there is no such task. */
const char *process_stat(pid_t pid, char text[PROCESS_STAT_SIZE]);

/* The process that a thread belongs to; 0: there is no such thread. */
pid_t process_of(pid_t tid);

/* All processes, or the threads of one, to be ended by closedir(). NULL with errno. */
DIR *process_all(void);
DIR *process_threads(pid_t pid);
/* The next of them; 0: none is left. */
pid_t process_next(DIR *list);

#endif
