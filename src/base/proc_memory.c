#include "base/proc_memory.h"

#include "base/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RESIDENT = 1, DATA = 5 };

/* Returns a field of the file, in which memory is counted in pages; 0: there is none. */
static uint64_t read_field(const char *path, unsigned field)
{
	uint64_t pages = 0;
	char text[256], *at = text;

	if (text_file_read(path, text, sizeof(text)))
		return 0;
	for (unsigned i = 0; i <= field; i++)
		pages = strtoull(at, &at, 10);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t proc_memory_resident(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	return read_field(path, RESIDENT);
}

uint64_t proc_memory_data(void)
{
	return read_field("/proc/self/statm", DATA);
}
