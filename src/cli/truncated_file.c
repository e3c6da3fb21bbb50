#include "cli/truncated_file.h"
#include "cli/say.h"

#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Finds the file that is mapped at this address; false: there is none. */
static bool find_mapped(uintptr_t at, char path[PATH_MAX])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	uintptr_t start, end;
	int name = 0;
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &start, &end, &name) != 2)
			continue;
		found = at >= start && at < end;
	}
	if (maps)
		fclose(maps);
	if (found)
		snprintf(path, PATH_MAX, "%.*s", (int)strcspn(line + name, "\n"), line + name);
	return found && *path == '/';
}

/*
 * It was our own access to the file that raised this, so that whatever a handler may not use is
 * not in use, but for the output that the data went to. Without a file it comes again, and ends us.
 */
static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	char path[PATH_MAX];

	(void)signal;
	(void)context;
	if (info->si_code != BUS_ADRERR || !find_mapped((uintptr_t)info->si_addr, path))
		return;
	say("cannot read '%s': it was cut, or its disk failed, meanwhile; copy it again or record "
	    "again",
	    path);
	_exit(1);
}

void truncated_file_watch(void)
{
	struct sigaction action = {.sa_sigaction = on_bus_error,
	                           .sa_flags = SA_SIGINFO | (int)SA_RESETHAND};

	sigaction(SIGBUS, &action, NULL);
}
