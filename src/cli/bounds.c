#include "cli/bounds.h"
#include "base/proc_memory.h"
#include "cli/say.h"
#include "output/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE (256 << 10)

uint64_t bounds_trace_size(const char *path)
{
	struct stat now;

	return stat(path, &now) || !S_ISREG(now.st_mode) ? 0 : (uint64_t)now.st_size;
}

uint64_t bounds_traces_size(char *const *paths, size_t nr)
{
	uint64_t size = 0;

	for (size_t i = 0; i < nr; i++)
		size += bounds_trace_size(paths[i]);
	return size;
}

/* --- memory ----------------------------------------------------------------------------------- */

rlim_t bounds_set_memory(rlim_t limit)
{
	struct rlimit now;
	rlim_t before;

	if (getrlimit(RLIMIT_DATA, &now))
		return RLIM_INFINITY;
	before = now.rlim_cur;
	now.rlim_cur = limit < now.rlim_max ? limit : now.rlim_max;
	setrlimit(RLIMIT_DATA, &now);
	return before;
}

/* A limit of the user's own is a hard one from now on. */
static void keep_limit(rlim_t limit)
{
	const struct rlimit both = {limit, limit};

	setrlimit(RLIMIT_DATA, &both);
}

void bounds_memory(uint64_t traces_size, uint64_t asked_for)
{
	const rlim_t bound = proc_memory_data() + BOUNDS_MEMORY +
	                     BOUNDS_MEMORY_PER_BYTE * traces_size + asked_for;
	const rlim_t before = bounds_set_memory(bound);

	if (before < bound)
		keep_limit(before);
}

/* Returns a size that the kernel gives of this process, in bytes; 0: it does not. */
static uint64_t status_size(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256], format[32];
	unsigned long kib = 0;

	if (!file)
		return 0;
	snprintf(format, sizeof(format), "%s: %%lu", name);
	while (fgets(line, sizeof(line), file) && sscanf(line, format, &kib) != 1)
		;
	fclose(file);
	return (uint64_t)kib << 10;
}

/* Whether memory can be had, as far as all other limits are concerned. */
static bool can_have(uint64_t size)
{
	const rlim_t bound = bounds_set_memory(RLIM_INFINITY);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	bounds_set_memory(bound);
	if (memory == MAP_FAILED)
		return false;
	munmap(memory, size);
	return true;
}

/* Tables double, so that a process that meets its limit has used half of it. */
static bool bound_met(uint64_t limit)
{
	const uint64_t other = status_size("VmSize") - status_size("VmData");

	return status_size("VmPeak") - other >= limit / 2 && can_have(limit);
}

const char *bounds_strerror(int errnum, char text[BOUNDS_TEXT_SIZE])
{
	struct rlimit limit;
	char most[TEXT_SIZE];

	if (errnum != ENOMEM || getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    !bound_met(limit.rlim_cur))
		return strerror(errnum);
	text_bytes(most, limit.rlim_cur);
	snprintf(text, BOUNDS_TEXT_SIZE,
	         "%s; for traces of this size %s is the limit, see LIMITS in adaptrace-trace(5)",
	         strerror(errnum), most);
	return text;
}

/* --- output ----------------------------------------------------------------------------------- */

uint64_t bounds_output_room(uint64_t traces_size)
{
	const uint64_t most = traces_size * BOUNDS_OUTPUT_PER_BYTE;

	return most > BOUNDS_OUTPUT ? most : BOUNDS_OUTPUT;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t written = write(fd, data, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return -1;
		data += written;
		size -= (size_t)written;
	}
	return 0;
}

void bounds_say_output(const char *name, uint64_t traces_size)
{
	const char *quote = name ? "'" : "";
	char most[TEXT_SIZE];

	text_bytes(most, bounds_output_room(traces_size));
	say("cannot write %s%s%s: more than %s is the limit for a trace of this size, see LIMITS "
	    "in adaptrace-trace(5)",
	    quote, name ? name : "to standard output", quote, most);
}

static _Noreturn void end_there(const struct bounds_output *output)
{
	if (output->give_up)
		output->give_up(output->arg);
	bounds_say_output(output->name, output->traces_size);
	_exit(1);
}

static ssize_t write_bounded(void *cookie, const char *data, size_t size)
{
	struct bounds_output *output = cookie;

	if (size > bounds_output_room(output->traces_size) - output->written)
		end_there(output);
	output->written += size;
	return write_all(output->fd, data, size) ? 0 : (ssize_t)size;
}

/* Serves ftello(); the place only goes forward. */
static int tell_place(void *cookie, off64_t *offset, int whence)
{
	const struct bounds_output *output = cookie;

	if (whence != SEEK_CUR || *offset)
		return -1;
	*offset = (off64_t)output->written;
	return 0;
}

FILE *bounds_stream(struct bounds_output *output)
{
	const cookie_io_functions_t functions = {.write = write_bounded, .seek = tell_place};
	FILE *stream = fopencookie(output, "w", functions);

	if (stream)
		setvbuf(stream, NULL, isatty(output->fd) ? _IOLBF : _IOFBF, BUFFER_SIZE);
	return stream;
}

void bounds_standard_output(uint64_t traces_size)
{
	struct bounds_output *output = malloc(sizeof(*output));
	FILE *stream;

	if (!output)
		return;
	*output = (struct bounds_output){.fd = STDOUT_FILENO, .traces_size = traces_size};
	stream = bounds_stream(output);
	if (stream)
		stdout = stream;
	else
		free(output);
}
