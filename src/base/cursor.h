/*
 * A cursor over untrusted bytes. A read beyond the end yields 0, moves the cursor to the end and
 * sets `bad`, so that one check after a run of reads is enough.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	uint64_t vaddr_end; /* the address of end, for pointers relative to themselves */
	bool bad;
	bool is_narrow; /* addresses have 4 bytes, not 8 */
};

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static inline void cursor_fail(struct cursor *cursor)
{
	cursor->bad = true;
	cursor->at = cursor->end;
}

/* Steps over size bytes and returns where they are; NULL: there are fewer. */
static inline const uint8_t *cursor_take(struct cursor *cursor, uint64_t size)
{
	const uint8_t *at = cursor->at;

	if (size > cursor_left(cursor)) {
		cursor_fail(cursor);
		return NULL;
	}
	cursor->at += size;
	return at;
}

/* Reads an unsigned little-endian number of 1 to 8 bytes. */
static inline uint64_t cursor_uint(struct cursor *cursor, size_t size)
{
	const uint8_t *at = cursor_take(cursor, size);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, size);
	return value;
}

static inline uint64_t cursor_sint(struct cursor *cursor, size_t size)
{
	unsigned shift = 64 - 8 * (unsigned)size;

	return (uint64_t)((int64_t)(cursor_uint(cursor, size) << shift) >> shift);
}

#define CURSOR_MAX_LEB 16 /* bytes; 10 are enough, and some writers pad */

static inline uint64_t cursor_leb(struct cursor *cursor, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cursor_uint(cursor, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 7 * CURSOR_MAX_LEB);
	if (byte & 0x80)
		cursor_fail(cursor);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= UINT64_MAX << shift;
	return value;
}

static inline uint64_t cursor_uleb(struct cursor *cursor)
{
	return cursor_leb(cursor, false);
}

/*
 * Reads a signed number and returns its two's complement: sums and products of such numbers may
 * wrap.
 */
static inline uint64_t cursor_sleb(struct cursor *cursor)
{
	return cursor_leb(cursor, true);
}

#endif
