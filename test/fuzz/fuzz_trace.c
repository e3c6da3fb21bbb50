/*
 * Fuzzing of all that reads traces: the input is a trace whose checksums are made right, so that
 * what they protect is reached. Start with traces of 64 KiB.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/convert.h"
#include "output/dump.h"
#include "output/info.h"
#include "output/report.h"
#include "output/report_job.h"
#include "seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_directory(const struct trace_header *header, size_t size)
{
	return size >= sizeof(*header) &&
	       header->nr_sections <= (size - sizeof(*header)) / sizeof(struct trace_entry);
}

static void report_all(const struct trace *trace, FILE *nowhere)
{
	struct report_options options = {
		.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_LINE, PROFILE_BY_THREAD},
		.nr_keys = 3,
		.event = TRACE_ALL_EVENTS,
		.limit = UINT32_MAX,
	};

	info_text(nowhere, trace, "x.atr");
	info_json(nowhere, trace);
	dump_text(nowhere, trace);
	dump_json(nowhere, trace);
	report_text(nowhere, trace, "x.atr", &options);
	report_json(nowhere, trace, &options);
	report_mpi_text(nowhere, trace, "x.atr", &options);
	report_ranks_json(nowhere, trace, &options);
	options.tree = true;
	report_text(nowhere, trace, "x.atr", &options);
}

static void convert_all(const struct trace *trace, FILE *nowhere)
{
	const struct converter *converter;

	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		struct conversion conversion = {.trace = trace, .scratch = "/tmp"};

		if (converter->to_file)
			converter->to_file(&conversion, nowhere);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	FILE *nowhere = fopen("/dev/null", "w");
	char path[32], why[TRACE_WHY_SIZE];
	unsigned char *bytes = malloc(size + 1);
	struct trace *trace;

	memcpy(bytes, data, size);
	if (has_directory((void *)bytes, size))
		seal(bytes, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = write(fd, bytes, size) == (ssize_t)size ? trace_open(path, why) : NULL;
	if (trace) {
		report_all(trace, nowhere);
		convert_all(trace, nowhere);
	}
	trace_close(trace);
	free(bytes);
	fclose(nowhere);
	close(fd);
	return 0;
}
