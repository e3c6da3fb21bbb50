/* Numbers of a few bytes, for the codings inside bins: 7 bits a byte, the lowest first. */
#ifndef HMB_VARINT_H
#define HMB_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define VARINT_MAX 10 /* bytes of the longest */

/* Small for small differences of either sign. */
static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

/* The place behind it. */
static inline unsigned char *varint_put(unsigned char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (unsigned char)(value | 0x80);
	*at++ = (unsigned char)value;
	return at;
}

/* The getters return 0 behind the end and leave *at == NULL: one check serves a whole record. */

static inline unsigned byte_get(const unsigned char **at, const unsigned char *end)
{
	if (!*at || *at == end) {
		*at = NULL;
		return 0;
	}
	return *(*at)++;
}

static inline uint64_t varint_get(const unsigned char **at, const unsigned char *end)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned byte = byte_get(at, end);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	*at = NULL;
	return 0;
}

#endif
