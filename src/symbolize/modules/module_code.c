#include "symbolize/modules/module_code.h"

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

/* before: 0: whenever it was. */
static int check_time(struct module_code *code, int fd, int64_t before)
{
	struct stat st;

	if (fstat(fd, &st))
		return -ESTALE;
	code->changed = source_changed(&st);
	return before && (st.st_mtim.tv_sec >= before || st.st_ctim.tv_sec >= before) ? -ESTALE : 0;
}

static int read_bytes(struct module_code *code, int fd, const struct module *module, uint64_t lo,
                      uint64_t hi)
{
	const struct segment *segment = module->segments;
	unsigned i = 0;
	ssize_t got;

	while (i < module->nr_segments &&
	       (lo < segment->vaddr || lo - segment->vaddr >= segment->size)) {
		segment++;
		i++;
	}
	if (i == module->nr_segments || hi <= lo)
		return -ENODATA;
	code->size = hi - lo < MODULE_CODE_MAX ? hi - lo : MODULE_CODE_MAX;
	if (code->size > segment->size - (lo - segment->vaddr))
		code->size = segment->size - (lo - segment->vaddr);
	code->bytes = malloc(code->size);
	if (!code->bytes)
		return -ENOMEM;
	got = pread(fd, code->bytes, code->size, (off_t)(segment->offset + (lo - segment->vaddr)));
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
	const struct module_file file = {.path = path, .build_id = *build_id};
	struct module_table *table = module_table_new();
	struct module *module = table ? module_table_file(table, &file) : NULL;
	int fd = module ? module_fd(table, module) : -1;
	int err = !module ? -ENOMEM : fd < 0 ? -errno : 0;

	*code = (struct module_code){0};
	if (!err)
		err = check_time(code, fd, build_id->size ? 0 : before);
	if (!err)
		err = read_machine(fd, &code->machine);
	if (!err)
		err = read_bytes(code, fd, module, lo, hi);
	module_table_free(table);
	return err;
}
