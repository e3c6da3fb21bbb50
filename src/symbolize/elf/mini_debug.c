#include "symbolize/elf/debug_file.h"
#include "symbolize/elf/elf_sections.h"
#include "symbolize/modules/target_file.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#define MAX_PACKED   (64u << 20)
#define MAX_UNPACKED (256u << 20) /* some bytes can stand for gigabytes */

static char *unpack(const Elf_Data *data, size_t *size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t room = 4 * data->d_size + 4096;
	char *image = NULL, *more;
	lzma_ret ret = lzma_stream_decoder(&stream, MAX_UNPACKED, 0);

	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	while (ret == LZMA_OK && room <= MAX_UNPACKED) {
		more = realloc(image, room);
		if (!more)
			break;
		image = more;
		stream.next_out = (uint8_t *)image + stream.total_out;
		stream.avail_out = room - stream.total_out;
		ret = lzma_code(&stream, LZMA_FINISH);
		room *= 2;
	}
	*size = stream.total_out;
	lzma_end(&stream);
	if (ret == LZMA_STREAM_END)
		return image;
	free(image);
	return NULL;
}

int mini_debug_open(Elf *elf)
{
	GElf_Shdr shdr;
	Elf_Scn *section = elf_section_find(elf, SHT_PROGBITS, ".gnu_debugdata", &shdr);
	Elf_Data *data = section ? elf_section_data(section, MAX_PACKED) : NULL;
	size_t size;
	char *image = data ? unpack(data, &size) : NULL;
	int fd = image ? target_file_of_image(image, size) : -ENOENT;

	free(image);
	return fd;
}
