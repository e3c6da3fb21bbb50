/*
 * Traces that lie: some bytes are changed, and all checksums are right. Nothing that reads traces
 * may come to harm.
 */
#ifndef TEST_LIES_H
#define TEST_LIES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random.h"
#include "seal.h"

struct lies {
	unsigned char *good, *bad;
	size_t size;
	uint64_t seed;
	int fd;
	char path[32]; /* of the latest one */
};

static inline uint64_t lies_random(struct lies *lies, uint64_t below)
{
	return random_below(&lies->seed, below);
}

/* Of this trace, which may go away. */
static inline void lies_open(struct lies *lies, const char *path)
{
	FILE *file = fopen(path, "r");
	struct stat status;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	*lies = (struct lies){.size = (size_t)status.st_size, .seed = 1};
	lies->good = malloc(lies->size);
	lies->bad = malloc(lies->size);
	assert_int_equal(fread(lies->good, 1, lies->size, file), lies->size);
	fclose(file);
	lies->fd = memfd_create("lies", MFD_CLOEXEC);
	snprintf(lies->path, sizeof(lies->path), "/proc/self/fd/%d", lies->fd);
}

static inline void lies_close(struct lies *lies)
{
	close(lies->fd);
	free(lies->good);
	free(lies->bad);
}

/* The next one: up to `most` bytes are other ones, in one of the sections, or in the directory. */
static inline const char *lies_next(struct lies *lies, unsigned most)
{
	const struct trace_header *header = (void *)lies->good;
	const struct trace_entry *entries = (const void *)(header + 1);
	uint32_t section = (uint32_t)lies_random(lies, header->nr_sections + 1);
	uint64_t offset = sizeof(*header), size = header->nr_sections * sizeof(*entries);

	if (section < header->nr_sections && entries[section].size) {
		offset = entries[section].offset;
		size = entries[section].size;
	}
	memcpy(lies->bad, lies->good, lies->size);
	for (uint64_t n = 1 + lies_random(lies, most); n; n--)
		lies->bad[offset + lies_random(lies, size)] =
			(unsigned char)(lies_random(lies, 2) ? 0xff : lies_random(lies, 256));
	seal(lies->bad, lies->size);
	assert_int_equal(pwrite(lies->fd, lies->bad, lies->size, 0), lies->size);
	return lies->path;
}

#endif
