#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/debug_file.h"
#include "symbolize/elf/elf_sections.h"
#include "symbolize/modules/target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <lzma.h>
#include <stdlib.h>

/* Where the file itself has not all its symbols, or no debug information. */
static void find_debug(struct elf_image *image, const struct module_table *table,
                       const struct module *module)
{
	if (!image->only_own)
		image->debug_fd =
			debug_file_open(module, image->main, module_table_debug_search(table));
	if (image->debug_fd >= 0)
		image->debug = elf_file_begin(image->debug_fd);
	if (image->debug || !image->main || elf_has_symtab(image->main))
		return;
	image->mini_fd = mini_debug_open(image->main);
	if (image->mini_fd >= 0)
		image->mini = elf_file_begin(image->mini_fd);
}

int elf_image_open(struct elf_image *image, struct module_table *table, struct module *module)
{
	int fd = module_fd(table, module), err = fd < 0 ? -errno : 0;

	*image = (struct elf_image){module, .main_fd = -1, .debug_fd = -1, .mini_fd = -1,
	                            .alt_fd = -1};
	image->only_own = module_table_has_only_own_files(table);
	if (fd >= 0)
		image->main_fd = target_file_again(fd);
	if (image->main_fd >= 0)
		image->main = elf_file_begin(image->main_fd);
	if (!image->main || !elf_has_symtab(image->main) || !elf_has_dwarf(image->main))
		find_debug(image, table, module);
	if (image->main || image->debug)
		return 0;
	elf_image_close(image);
	return err ? err : -ENOEXEC;
}

Elf *elf_image_dwarf(struct elf_image *image)
{
	bool in_main = image->main && elf_has_dwarf(image->main);
	Elf *elf = in_main ? image->main : image->debug;

	if (!elf || image->alt || image->only_own)
		return elf;
	image->alt_fd =
		debug_alt_open(image->module, elf, in_main ? image->main_fd : image->debug_fd);
	if (image->alt_fd >= 0)
		image->alt = elf_file_begin(image->alt_fd);
	return elf;
}

static void elf_close(Elf *elf, int fd)
{
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

void elf_image_close(struct elf_image *image)
{
	elf_close(image->main, image->main_fd);
	elf_close(image->debug, image->debug_fd);
	elf_close(image->mini, image->mini_fd);
	elf_close(image->alt, image->alt_fd);
}

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
