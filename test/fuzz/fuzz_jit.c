/*
 * Fuzzing of what a process says of code that it made: the input is a jitdump, or a perf map where
 * it does not begin as one. Names and lines are asked for at addresses that it speaks of, and
 * around them.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolize/jit/jitdump.h"
#include "symbolize/jit/perf_map.h"

#define MOST_ADDRESSES 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct addresses {
	uint32_t at[MOST_ADDRESSES];
	size_t nr, told;
};

static int compare(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* Any four bytes of the input may be one; ascending, and each once. */
static void addresses_find(struct addresses *addresses, const uint8_t *data, size_t size)
{
	size_t nr = 0, kept = 0;

	for (size_t at = 0; at + 4 <= size && nr < MOST_ADDRESSES; at += 4)
		memcpy(&addresses->at[nr++], data + at, 4);
	for (size_t at = 0; at < size && nr < MOST_ADDRESSES; at = at + 1 + size / 16)
		addresses->at[nr++] = (uint32_t)strtoul((const char *)data + at, NULL, 16);
	qsort(addresses->at, nr, sizeof(*addresses->at), compare);
	for (size_t i = 0; i < nr; i++)
		if (!kept || addresses->at[kept - 1] != addresses->at[i])
			addresses->at[kept++] = addresses->at[i];
	addresses->nr = kept;
}

static int look(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct addresses *addresses = arg;

	assert(addresses->told < addresses->nr);
	while (addresses->at[addresses->told] != offset)
		assert(++addresses->told < addresses->nr);
	addresses->told++;
	assert(offset >= symbol->lo && offset < symbol->hi);
	assert(symbol->name && strlen(symbol->name) <= 256U << 20);
	for (size_t i = 0; i < symbol->nr_sources; i++)
		assert(strlen(symbol->sources[i].file) < 4096);
	return 0;
}

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("jit", MFD_CLOEXEC);

	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct addresses addresses = {0};
	char *text = strndup((const char *)data, size);
	int fd = file_of(data, size);

	assert(text);
	addresses_find(&addresses, (const uint8_t *)text, strlen(text));
	for (uint32_t area = 0; area < 2; area++) {
		const struct jit_query query = {area, addresses.at, addresses.nr, look, &addresses};

		addresses.told = 0;
		perf_map_lookup(text, &query);
		free(text);
		text = strndup((const char *)data, size);
	}
	free(text);
	text = calloc(1, size + 1); /* numbers end */
	assert(text);
	memcpy(text, data, size);
	addresses_find(&addresses, (const uint8_t *)text, size);
	free(text);
	for (uint32_t area = 0; area < 2; area++) {
		const struct jit_query query = {area, addresses.at, addresses.nr, look, &addresses};
		uint64_t left = UINT64_MAX;

		addresses.told = 0;
		jitdump_lookup(fd, &query, &left);
	}
	close(fd);
	return 0;
}
