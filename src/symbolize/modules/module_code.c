#include "symbolize/modules/module_code.h"

#include "symbolize/modules/mapped_file.h"
#include "symbolize/modules/source_identity.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_machine(int fd, unsigned *machine)
{
	Elf64_Ehdr header; /* these fields lie the same in 32 bits */
	ssize_t need = (ssize_t)(offsetof(Elf64_Ehdr, e_machine) + sizeof(header.e_machine));

	if (pread(fd, &header, (size_t)need, 0) != need)
		return -ENOEXEC;
	*machine = header.e_machine;
	return 0;
}

/* before: 0 permits changes at any time. */
static int check_time(struct module_code *code, int fd, int64_t before)
{
	struct stat st;

	if (fstat(fd, &st))
		return -ESTALE;
	code->changed = source_changed(&st);
	return before && (st.st_mtim.tv_sec >= before || st.st_ctim.tv_sec >= before) ? -ESTALE : 0;
}

static int read_bytes(struct module_code *code, const struct mapped_file *file, uint64_t lo,
                      uint64_t hi)
{
	const struct segment *segment = file->headers.segments;
	unsigned i = 0;
	ssize_t got;

	while (i < file->headers.nr_segments &&
	       (lo < segment->vaddr || lo - segment->vaddr >= segment->size)) {
		segment++;
		i++;
	}
	if (i == file->headers.nr_segments || hi <= lo)
		return -ENODATA;
	code->size = hi - lo < MODULE_CODE_MAX ? hi - lo : MODULE_CODE_MAX;
	if (code->size > segment->size - (lo - segment->vaddr))
		code->size = segment->size - (lo - segment->vaddr);
	code->bytes = malloc(code->size);
	if (!code->bytes)
		return -ENOMEM;
	got = pread(file->fd, code->bytes, code->size,
	            (off_t)(segment->offset + (lo - segment->vaddr)));
	code->size = got > 0 ? (size_t)got : 0;
	if (code->size)
		return 0;
	free(code->bytes);
	code->bytes = NULL;
	return -ENODATA;
}

int module_code_read(struct module_code *code, const char *path, const struct build_id *build_id,
                     int64_t before, uint64_t lo, uint64_t hi)
{
	const struct module_file said = {.path = path, .build_id = *build_id};
	struct mapped_file file;
	int err = mapped_file_open(&file, &said, NULL);

	*code = (struct module_code){0};
	if (err)
		return err;
	err = check_time(code, file.fd, build_id->size ? 0 : before);
	if (!err)
		err = read_machine(file.fd, &code->machine);
	if (!err)
		err = read_bytes(code, &file, lo, hi);
	close(file.fd);
	return err;
}
