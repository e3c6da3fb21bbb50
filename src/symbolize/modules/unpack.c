#include "symbolize/modules/unpack.h"

#include <zlib.h>

bool image_unpack(struct image_cache *images, struct module *module, uint64_t offset,
                  uint64_t packed, uint8_t *to, uint32_t size)
{
	z_stream stream = {.next_out = to, .avail_out = size};
	uint8_t piece[4096];
	int result = Z_OK;

	if (inflateInit(&stream) != Z_OK)
		return false;
	while (result == Z_OK && packed) {
		size_t wanted = packed < sizeof(piece) ? (size_t)packed : sizeof(piece);

		stream.next_in = piece;
		stream.avail_in = (uInt)image_read(images, module, offset, piece, wanted);
		offset += wanted;
		packed = stream.avail_in == wanted ? packed - wanted : 0;
		result = inflate(&stream, Z_NO_FLUSH);
	}
	inflateEnd(&stream);
	return result == Z_STREAM_END && stream.avail_out == 0;
}
