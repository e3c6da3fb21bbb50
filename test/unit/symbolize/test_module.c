/* Modules: which file is behind a mapping, and that nothing else is taken for it. */
#include "cases.h"
#include "symbolize/modules/module.h"
#include "symbolize/modules/elf_headers.h"
#include "symbolize/modules/kernel_code.h"
#include "symbolize/modules/space.h"
#include "symbolize/modules/target_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
	struct module_table *table;
	char dir[64];
	char path[128]; /* a small ELF file in dir */
};

/* An ELF file with one executable segment and a build-id of one repeated byte. */
struct tiny {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr[3];
	struct {
		Elf64_Nhdr nhdr;
		char name[4];
		unsigned char desc[8];
	} note;
	char code[64];
};

static struct tiny tiny_make(unsigned char id)
{
	struct tiny tiny = {
		.ehdr = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
	                             __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB},
	                 .e_type = ET_DYN,
	                 .e_phoff = offsetof(struct tiny, phdr),
	                 .e_phentsize = sizeof(Elf64_Phdr),
	                 .e_phnum = 3},
		.phdr = {{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 64},
	                 {.p_type = PT_LOAD,
	                  .p_flags = PF_R | PF_X,
	                  .p_offset = offsetof(struct tiny, code),
	                  .p_vaddr = 0x1000 + offsetof(struct tiny, code),
	                  .p_filesz = 64},
	                 {.p_type = PT_NOTE,
	                  .p_offset = offsetof(struct tiny, note),
	                  .p_filesz = sizeof(tiny.note),
	                  .p_align = 4}},
		.note = {.nhdr = {4, 8, NT_GNU_BUILD_ID}, .name = "GNU"},
	};

	memset(tiny.note.desc, id, sizeof(tiny.note.desc));
	if (!id)
		tiny.phdr[2].p_type = PT_NULL;
	return tiny;
}

static void file_write(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* As a package manager does it: the new file gets the name, the old one goes on without. */
static void tiny_write(const char *path, unsigned char id)
{
	struct tiny tiny = tiny_make(id);
	char temporary[PATH_MAX];

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	file_write(temporary, &tiny, sizeof(tiny));
	assert_int_equal(rename(temporary, path), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->dir, "/tmp/test_module.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/tiny", f->dir);
	f->table = module_table_new();
	assert_non_null(f->table);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	module_table_free(f->table);
	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static struct module_file by_numbers(const char *path)
{
	struct module_file file = {.path = path, .pid = getpid()};
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	return file;
}

static struct module_file by_build_id(const char *path, unsigned char id)
{
	struct module_file file = {.path = path, .pid = getpid(), .build_id = {.size = 8}};

	memset(file.build_id.bytes, id, 8);
	return file;
}

static unsigned open_files(void)
{
	unsigned nr = 0;
	int fd;

	for (fd = 0; fd < 1024; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void special_module_is_there(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(module_table_count(f->table), 1);
	assert_int_equal(module_table_get(f->table, 0)->type, MODULE_SPECIAL);
	assert_null(module_table_get(f->table, 1));
	assert_int_equal(module_fd(f->table, module_table_get(f->table, 0)), -1);
}

static int first_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	memcpy(arg, info, sizeof(*info));
	return 1;
}

/* The dynamic linker's own view of this program is the truth. */
static void own_program(void **state)
{
	struct fixture *f = *state;
	struct module_file file;
	struct dl_phdr_info info;
	char path[PATH_MAX];
	Dl_info own;
	struct module *module;
	unsigned i, n = 0;

	assert_true(dladdr(first_object, &own)); /* under valgrind, /proc/self/exe is valgrind */
	assert_non_null(realpath(own.dli_fname, path));
	file = by_numbers(path);
	dl_iterate_phdr(first_object, &info);
	module = module_table_file(f->table, &file);
	assert_non_null(module);
	assert_int_equal(module->type, MODULE_FILE);
	for (i = 0; i < info.dlpi_phnum; i++) {
		if (info.dlpi_phdr[i].p_type != PT_LOAD || !(info.dlpi_phdr[i].p_flags & PF_X))
			continue;
		assert_int_equal(module->segments[n].offset, info.dlpi_phdr[i].p_offset);
		assert_int_equal(module->segments[n].vaddr, info.dlpi_phdr[i].p_vaddr);
		assert_int_equal(module->segments[n++].size, info.dlpi_phdr[i].p_filesz);
	}
	assert_int_equal(module->nr_segments, n);
	assert_true(module_fd(f->table, module) >= 0);
	assert_ptr_equal(module_table_get(f->table, module->id), module);
}

static void same_file_same_module(void **state)
{
	struct fixture *f = *state;
	struct module_file file;
	struct module *module;
	char link_path[160];

	tiny_write(f->path, 1);
	snprintf(link_path, sizeof(link_path), "%s/link", f->dir);
	assert_int_equal(link(f->path, link_path), 0);
	file = by_numbers(f->path);
	module = module_table_file(f->table, &file);
	assert_int_equal(module->nr_segments, 1);
	assert_int_equal(module->build_id.size, 8);
	assert_int_equal(module->build_id.bytes[7], 1);
	file.path = link_path;
	assert_ptr_equal(module_table_file(f->table, &file), module);
}

/* A file with code at such an address, and one with code at 4 GiB and beyond has modules for both.
 */
static void module_has_one_area(void **state)
{
	struct fixture *f = *state;
	struct tiny tiny = tiny_make(1);
	struct module_file file;
	struct module *module, *other;
	uint64_t area = 9;

	tiny.phdr[1].p_vaddr += 7ull << 32;
	file_write(f->path, &tiny, sizeof(tiny));
	file = by_numbers(f->path);
	module = module_table_file(f->table, &file);
	assert_int_equal(module->area, 7);
	assert_int_equal(module_address(module, 5), (7ull << 32) + 5);
	assert_ptr_equal(module_table_area(f->table, module, 7), module);
	other = module_table_area(f->table, module, 8);
	assert_ptr_not_equal(other, module);
	assert_int_equal(other->area, 8);
	assert_string_equal(other->path, module->path);
	assert_int_equal(other->build_id.size, 8);
	assert_true(module_fd(f->table, other) >= 0);
	assert_ptr_equal(module_table_area(f->table, module, 8), other);
	assert_ptr_equal(module_table_area(f->table, other, 7), module);
	assert_ptr_equal(module_table_area(f->table, other, 9),
	                 module_table_area(f->table, module, 9));
	assert_int_equal(module_table_count(f->table), 4);

	module_table_free(f->table);
	f->table = module_table_new();
	file.area = &area;
	assert_int_equal(module_table_file(f->table, &file)->area, 9);
}

/* The same address is one piece's, another's, and nobody's; and each has a module for its name. */
static void kernel_code_comes_and_goes(void **state)
{
	const uint64_t at = 0xffffffffc0001000;
	struct fixture *f = *state;
	struct kernel_code *code = module_table_kernel_code(f->table);
	struct module *kernel = module_table_kernel(f->table, at), *first, *second;

	kernel_code_come(code, at, 0x100, "bpf_prog_1_a");
	kernel_code_come(code, at - 0x100, 0x80, "bpf_prog_1_a");
	first = module_table_kernel(f->table, at + 0xff);
	assert_string_equal(first->path, "bpf_prog_1_a [bpf]");
	assert_int_equal(first->type, MODULE_KERNEL);
	assert_int_equal(first->area, 0xffffffff);
	assert_ptr_equal(module_table_kernel(f->table, at + 0x100), kernel);
	assert_ptr_equal(module_table_kernel(f->table, at - 0x80), kernel);
	assert_ptr_not_equal(module_table_kernel(f->table, at - 0x81), first);
	kernel_code_go(code, at, 0x100, "bpf_prog_1_a");
	assert_ptr_equal(module_table_kernel(f->table, at), kernel);
	kernel_code_come(code, at + 0x80, 0x100, "ftrace_trampoline");
	second = module_table_kernel(f->table, at + 0x80);
	assert_string_equal(second->path, "ftrace_trampoline");
	kernel_code_come(code, at, 0x100, "bpf_prog_1_a"); /* that the other has gone, was lost */
	assert_ptr_equal(module_table_kernel(f->table, at + 0x80), first);
	assert_int_equal(code->nr_earlier, 0);
	kernel_code_go(code, at + 0x1000, 0x100, "bpf_prog_2_b");
	assert_int_equal(code->nr_earlier, 1);
	assert_ptr_equal(module_table_kernel(f->table, at + 0x1000), kernel);
	kernel_code_come(code, at, 0, "nothing");
	kernel_code_come(code, UINT64_MAX - 1, 0x100, "too much");
	assert_int_equal(code->nr, 2);
}

/* What /proc tells of a file by its numbers, the kernel's records tell by its build-id. */
static void numbers_and_build_id_are_one(void **state)
{
	struct fixture *f = *state;
	struct module_file numbers, id;
	struct module *module;
	unsigned char i;

	for (i = 1; i <= 2; i++) {
		tiny_write(f->path, i);
		numbers = by_numbers(f->path);
		id = by_build_id(f->path, i);
		module = module_table_file(f->table, i == 1 ? &numbers : &id);
		assert_int_equal(module->nr_segments, 1);
		assert_ptr_equal(module_table_file(f->table, i == 1 ? &id : &numbers), module);
		assert_ptr_equal(module_table_file(f->table, &numbers), module);
		assert_true(module_fd(f->table, module) >= 0);
	}
	assert_int_equal(module_table_count(f->table), 3);
}

/* 0: the file system does not tell. */
static uint32_t generation_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t found[2] = {0};

	if (ioctl(fd, FS_IOC_GETVERSION, found))
		found[0] = 0;
	close(fd);
	return found[0];
}

/* Nor does /proc tell the generation of an inode. */
static void numbers_without_build_id_are_one(void **state)
{
	struct fixture *f = *state;
	struct module_file file;
	struct module *module;

	tiny_write(f->path, 0);
	file = by_numbers(f->path);
	module = module_table_file(f->table, &file);
	file.ino_generation = generation_of(f->path);
	assert_ptr_equal(module_table_file(f->table, &file), module);
}

/* As one that was deleted has, whose number a later file was given. */
static void other_generation_is_refused(void **state)
{
	struct fixture *f = *state;
	struct module_file file;

	tiny_write(f->path, 0);
	if (!generation_of(f->path))
		skip();
	file = by_numbers(f->path);
	file.ino_generation = generation_of(f->path) + 1;
	assert_int_equal(module_table_file(f->table, &file)->nr_segments, 0);
}

static void other_files_are_other_modules(void **state)
{
	struct fixture *f = *state;
	struct module_file file, id, numbers;
	struct tiny tiny = tiny_make(1);
	const struct module *module;
	char path[160];

	tiny_write(f->path, 1);
	numbers = by_numbers(f->path);
	module = module_table_file(f->table, &numbers);

	/* The same program in another place. */
	snprintf(path, sizeof(path), "%s/copy", f->dir);
	tiny_write(path, 1);
	file = by_numbers(path);
	id = by_build_id(path, 1);
	assert_ptr_not_equal(module_table_file(f->table, &file), module);
	assert_ptr_equal(module_table_file(f->table, &id), module_table_file(f->table, &file));

	/* The same number of another file system. */
	file = numbers;
	file.dev++;
	assert_ptr_not_equal(module_table_file(f->table, &file), module);

	/* In its place, with the same build-id, but with the code at other addresses. */
	tiny.phdr[1].p_vaddr += 0x1000;
	snprintf(path, sizeof(path), "%s/moved", f->dir);
	file_write(path, &tiny, sizeof(tiny));
	assert_int_equal(rename(path, f->path), 0);
	file = by_numbers(f->path);
	assert_int_equal(module_table_file(f->table, &file)->segments[0].vaddr,
	                 tiny.phdr[1].p_vaddr);
	assert_ptr_equal(module_table_file(f->table, &numbers), module);
}

/* The kernel tells no build-id of a file that has none, or whose notes are not in memory. */
static void rewritten_file_is_another_module(void **state)
{
	static const unsigned char ids[] = {0, 1};
	/* Clocks of file systems may not go on between two writes. */
	static const struct timespec later[] = {{2000000000, 0}, {2000000000, 0}};
	struct fixture *f = *state;
	struct tiny tiny = tiny_make(0);
	struct module *module, *again;
	struct module_file file;
	size_t i;

	for (i = 0; i < 2; i++) {
		tiny_write(f->path, ids[i]);
		file = by_numbers(f->path);
		module = module_table_file(f->table, &file);
		assert_int_equal(module->segments[0].vaddr, tiny_make(0).phdr[1].p_vaddr);
		tiny.phdr[1].p_vaddr = 0x5000;
		file_write(f->path, &tiny, sizeof(tiny)); /* the same inode */
		assert_int_equal(utimensat(AT_FDCWD, f->path, later, 0), 0);
		again = module_table_file(f->table, &file);
		assert_ptr_not_equal(again, module);
		assert_int_equal(again->segments[0].vaddr, 0x5000);
		assert_ptr_equal(module_table_file(f->table, &file), again);
		assert_int_equal(module_fd(f->table, module), -1);
		assert_true(module_fd(f->table, again) >= 0);
	}
}

/* Writing the same again, or the time alone, makes no other program of it. */
static void touched_file_is_the_same(void **state)
{
	struct fixture *f = *state;
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 2}};
	struct module_file file;
	struct module *module;

	tiny_write(f->path, 1);
	file = by_numbers(f->path);
	module = module_table_file(f->table, &file);
	assert_int_equal(utimensat(AT_FDCWD, f->path, times, 0), 0);
	assert_ptr_equal(module_table_file(f->table, &file), module);
	assert_true(module_fd(f->table, module) >= 0);
}

static void build_id_identifies(void **state)
{
	struct fixture *f = *state;
	struct module_file right, wrong = by_build_id(f->path, 2);
	struct module *module;

	tiny_write(f->path, 1);
	right = by_build_id(f->path, 1);
	module = module_table_file(f->table, &right);
	assert_int_equal(module->nr_segments, 1);
	assert_ptr_equal(module_table_file(f->table, &right), module);
	module = module_table_file(f->table, &wrong);
	assert_non_null(module);
	assert_int_equal(module->nr_segments, 0);
	assert_int_equal(module_fd(f->table, module), -1);
	assert_int_equal(errno, ESTALE);
}

static void unidentified_file_is_one_module(void **state)
{
	struct fixture *f = *state;
	struct module_file file = {.path = f->path, .pid = getpid()};
	struct module *module;

	tiny_write(f->path, 1);
	module = module_table_file(f->table, &file);
	assert_int_equal(module->nr_segments, 1);
	assert_ptr_equal(module_table_file(f->table, &file), module);
}

static void other_inode_is_refused(void **state)
{
	struct fixture *f = *state;
	struct module_file file;
	struct module *module;

	tiny_write(f->path, 1);
	file = by_numbers(f->path);
	file.ino += 1000000;
	module = module_table_file(f->table, &file);
	assert_int_equal(module->nr_segments, 0);
	assert_int_equal(module_fd(f->table, module), -1);
	assert_int_equal(errno, ESTALE);
}

static void special_files_are_not_opened(void **state)
{
	struct fixture *f = *state;
	struct module_file file;
	struct module *module;
	char elsewhere[160];

	assert_int_equal(mkfifo(f->path, 0600), 0);
	file = by_numbers(f->path);
	module = module_table_file(f->table, &file); /* would wait for a writer */
	assert_int_equal(module->nr_segments, 0);
	file = by_numbers("/dev/zero");
	assert_int_equal(module_table_file(f->table, &file)->nr_segments, 0);
	assert_int_equal(target_file_open("/proc/self/status", 0, NULL), -EINVAL);
	file = by_numbers(f->dir);
	assert_int_equal(module_table_file(f->table, &file)->nr_segments, 0);
	snprintf(elsewhere, sizeof(elsewhere), "%s/missing", f->dir);
	file = (struct module_file){.path = elsewhere, .pid = getpid(), .ino = 1};
	assert_int_equal(module_table_file(f->table, &file)->nr_segments, 0);
	file = (struct module_file){.path = "", .ino = 2};
	assert_int_equal(module_table_file(f->table, &file)->nr_segments, 0);
}

static void unreadable_file_may_come_back(void **state)
{
	struct fixture *f = *state;
	struct module_file file = by_build_id(f->path, 1);
	struct module *module = module_table_file(f->table, &file), *again;

	assert_int_equal(module_fd(f->table, module), -1);
	assert_int_equal(errno, ENOENT);
	assert_ptr_equal(module_table_file(f->table, &file), module);
	tiny_write(f->path, 1);
	again = module_table_file(f->table, &file);
	assert_ptr_not_equal(again, module);
	assert_int_equal(module->nr_segments, 0);
	assert_int_equal(again->nr_segments, 1);
	assert_ptr_equal(module_table_file(f->table, &file), again);
}

/* An image of another kind is there, a file that is gone is not. */
static void other_files_than_elf_are_told(void **state)
{
	struct fixture *f = *state;
	struct module_file file = {.path = f->path};
	struct module *module = module_table_file(f->table, &file);
	FILE *image;

	assert_false(module_is_no_elf(module));
	image = fopen(f->path, "w");
	assert_non_null(image);
	assert_true(fputs("LCBS, and then the heap", image) > 0);
	assert_int_equal(fclose(image), 0);
	assert_true(module_is_no_elf(module_table_file(f->table, &file)));
	tiny_write(f->path, 1);
	file = by_build_id(f->path, 1);
	assert_false(module_is_no_elf(module_table_file(f->table, &file)));
}

static void overwritten_file_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct tiny tiny = tiny_make(2);
	struct module_file file;
	struct module *module;

	tiny_write(f->path, 1);
	file = by_numbers(f->path);
	module = module_table_file(f->table, &file);
	assert_true(module_fd(f->table, module) >= 0);
	tiny.code[0] = 1;
	file_write(f->path, &tiny, sizeof(tiny)); /* the same inode */
	assert_int_equal(truncate(f->path, sizeof(tiny) + 1), 0);
	assert_int_equal(module_fd(f->table, module), -1);
	assert_int_equal(errno, ESTALE);
}

static void open_many(struct fixture *f, unsigned n)
{
	struct module_file file;
	char path[160];
	unsigned i;

	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%u", f->dir, i);
		tiny_write(path, 3);
		file = by_numbers(path);
		assert_int_equal(module_table_file(f->table, &file)->nr_segments, 1);
	}
}

static struct rlimit limit_files(rlim_t nr)
{
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){nr < before.rlim_max ? nr : before.rlim_max, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

/* So many are open that others are closed, as where descriptors are few. */
static void push_out(struct fixture *f, unsigned n)
{
	const struct rlimit limit = limit_files(120);

	open_many(f, n);
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void few_files_stay_open(void **state)
{
	struct fixture *f = *state;
	unsigned before = open_files();
	struct module_file file;
	struct module *module;

	tiny_write(f->path, 1);
	file = by_numbers(f->path);
	module = module_table_file(f->table, &file);
	push_out(f, 300);
	assert_true(open_files() - before <= 64);
	assert_int_equal(module->fd, -1);
	assert_true(module_fd(f->table, module) >= 0);
	assert_true(open_files() - before <= 64);
}

static void more_stay_open_where_that_fits(void **state)
{
	struct fixture *f = *state;
	unsigned before = open_files();
	const struct rlimit limit = limit_files(400);

	open_many(f, 300);
	assert_in_range(open_files(), 190, 200);
	module_table_free(f->table);
	f->table = module_table_new();
	limit_files(2000);
	open_many(f, 700);
	assert_in_range(open_files() - before, 480, 512);
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Its path led to it when it was mapped, which says nothing of the end. */
static void file_that_samples_met_is_kept(void **state)
{
	struct fixture *f = *state;
	struct module_file file;
	struct module *module;

	tiny_write(f->path, 1);
	file = by_numbers(f->path);
	module = module_table_file(f->table, &file);
	module->named = true;
	push_out(f, 300);
	unlink(f->path);
	assert_true(module_fd(f->table, module) >= 0);
}

static void deleted_file_is_found_and_kept(void **state)
{
	struct fixture *f = *state;
	struct module_file file;
	struct module *module;
	char marked[160];
	void *map;
	int fd;

	if (geteuid())
		skip();
	tiny_write(f->path, 1);
	file = by_numbers(f->path);
	fd = open(f->path, O_RDONLY | O_CLOEXEC);
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	close(fd);
	unlink(f->path);
	file.start = (uintptr_t)map;
	file.end = file.start + 4096;
	snprintf(marked, sizeof(marked), "%s (deleted)", f->path);
	file.path = marked;
	module = module_table_file(f->table, &file);
	munmap(map, 4096);
	if (!module->nr_segments)
		skip(); /* not the root of the machine */
	assert_string_equal(module->path, f->path);
	file = by_build_id(f->path, 1);
	assert_ptr_equal(module_table_file(f->table, &file), module);
	push_out(f, 300); /* it could not be opened again, so it stays */
	assert_true(module_fd(f->table, module) >= 0);
}

static void replaced_file_is_not_reopened(void **state)
{
	struct fixture *f = *state;
	struct module_file file, plain;
	struct module *module, *no_id;
	char path[160];

	snprintf(path, sizeof(path), "%s/plain", f->dir);
	tiny_write(f->path, 1);
	tiny_write(path, 0);
	file = by_numbers(f->path);
	plain = by_numbers(path);
	module = module_table_file(f->table, &file);
	no_id = module_table_file(f->table, &plain);
	assert_int_equal(no_id->nr_segments, 1);
	assert_int_equal(no_id->build_id.size, 0);
	push_out(f, 100);
	tiny_write(f->path, 2);
	tiny_write(path, 0);
	assert_int_equal(module_fd(f->table, module), -1);
	assert_int_equal(errno, ESTALE);
	assert_int_equal(module_fd(f->table, no_id), -1);
	assert_int_equal(errno, ESTALE);
	tiny_write(f->path, 1); /* a copy with the same build-id will do, once it is mapped */
	assert_ptr_equal(module_table_file(f->table, &file), module);
	assert_true(module_fd(f->table, module) >= 0);
}

static void vaddr_of_segments(void **state)
{
	struct module module = {
		.nr_segments = 2,
		.segments = {{0x1ca0, 0x2ca0, 0x500}, {0x3000, 0x8000, 0x1000}},
	};

	(void)state;
	assert_int_equal(module_vaddr(&module, 0x1ca0), 0x2ca0);
	assert_int_equal(module_vaddr(&module, 0x1000), 0x2000);
	assert_int_equal(module_vaddr(&module, 0x219f), 0x319f);
	assert_int_equal(module_vaddr(&module, 0x3010), 0x8010);
	assert_int_equal(module_vaddr(&module, 0x4010), 0x9010);
	module.nr_segments = 0;
	assert_int_equal(module_vaddr(&module, 0x1234), 0x1234);
}

static void areas(void **state)
{
	struct fixture *f = *state;
	struct module *kernel = module_table_kernel(f->table, 0xffffffff81000000);
	struct module *anon = module_table_anon(f->table, getpid(), 0x7f0012345678);

	assert_int_equal(kernel->type, MODULE_KERNEL);
	assert_int_equal(kernel->area, 0xffffffff);
	assert_ptr_equal(module_table_kernel(f->table, 0xffffffffc0001234), kernel);
	assert_ptr_not_equal(module_table_kernel(f->table, 0xffff888000000000), kernel);
	assert_int_equal(anon->type, MODULE_ANON);
	assert_int_equal(anon->area, 0x7f00);
	assert_int_equal(anon->pid, getpid());
	assert_int_equal(anon->uid, geteuid());
	assert_ptr_equal(module_table_anon(f->table, getpid(), 0x7f00ffffffff), anon);
	assert_ptr_not_equal(module_table_anon(f->table, getpid(), 0x7f0100000000), anon);
	assert_ptr_not_equal(module_table_anon(f->table, getppid(), 0x7f0012345678), anon);
	assert_int_equal(module_fd(f->table, anon), -1);
}

static void vdso_is_a_file(void **state)
{
	struct fixture *f = *state;
	struct module *vdso = module_table_vdso(f->table);
	char magic[4];
	int fd;

	assert_int_equal(vdso->type, MODULE_VDSO);
	assert_ptr_equal(module_table_vdso(f->table), vdso);
	if (module_fd(f->table, vdso) < 0)
		skip(); /* valgrind hides it */
	assert_true(vdso->nr_segments > 0);
	push_out(f, 100);
	fd = module_fd(f->table, vdso);
	assert_int_equal(pread(fd, magic, 4, 0), 4);
	assert_memory_equal(magic, ELFMAG, 4);
}

/* Such programs have another one than this, which here stands for it. */
static void vdso_of_32_bits_is_copied(void **state)
{
	struct fixture *f = *state;
	const uintptr_t image = getauxval(AT_SYSINFO_EHDR);
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct module_file file = {
		.path = "[vdso]", .pid = -1, .start = image, .end = image + page};
	struct module *vdso = module_table_vdso32(f->table, &file);

	assert_ptr_not_equal(vdso, module_table_vdso(f->table));
	assert_string_equal(vdso->path, "[vdso32]");
	assert_int_equal(vdso->nr_segments, 0); /* of nobody's memory */
	assert_int_equal(module_fd(f->table, vdso), -1);
	file.pid = getpid();
	assert_ptr_equal(module_table_vdso32(f->table, &file), vdso);
	if (!vdso->nr_segments)
		skip();   /* valgrind hides it */
	push_out(f, 100); /* it could not be had again, so it stays */
	assert_true(module_fd(f->table, vdso) >= 0);
}

static void full_table_counts(void **state)
{
	struct fixture *f = *state;
	uint64_t i;

	for (i = 0; i < 65535; i++)
		assert_non_null(module_table_kernel(f->table, i << 32));
	assert_null(module_table_kernel(f->table, i << 32));
	assert_int_equal(module_table_refused(f->table), 1);
	assert_int_equal(module_table_count(f->table), 65536);
	assert_int_equal(module_table_kernel(f->table, 77ull << 32)->area, 77);
	assert_int_equal(module_table_get(f->table, 65535)->area, 65534);
}

static void enter(struct space *space, uint64_t start, struct module *module)
{
	const struct mapping mapping = {start, start + 0x1000, start, module};

	assert_int_equal(space_map(space, &mapping), 0);
}

/* What is mapped no more and met no sample leaves its number, which is taken when all are. */
static void forgotten_modules_make_room(void **state)
{
	struct fixture *f = *state;
	struct space *old = space_new(1), *space = space_new(2);
	struct module_file file;
	struct module *sampled = module_table_anon(f->table, 1, 0), *mapped;
	unsigned nr_open;
	uint64_t i, number;

	tiny_write(f->path, 1);
	file = by_numbers(f->path);
	number = module_table_file(f->table, &file)->id;
	mapped = module_table_anon(f->table, 2, 0);
	enter(old, 0x1000, sampled);
	enter(old, 0x2000, module_table_get(f->table, (uint16_t)number));
	enter(space, 0x1000, mapped);
	assert_int_equal(space_frame(old, 0x1234) >> 32, sampled->id);
	space_put(old);
	assert_false(module_table_is_crowded(f->table));
	for (i = 4; !module_table_is_crowded(f->table); i++)
		module_table_anon(f->table, (pid_t)i, 0);
	nr_open = open_files();
	for (unsigned times = 0; times < 2; times++) {
		space_mark(space);
		module_table_forget(f->table);
	}
	assert_false(module_table_is_crowded(f->table));
	assert_int_equal(open_files(), nr_open - 1);
	assert_null(module_table_get(f->table, (uint16_t)number));
	assert_ptr_equal(module_table_anon(f->table, 1, 0), sampled);
	assert_ptr_equal(module_table_anon(f->table, 2, 0), mapped);
	assert_int_equal(module_table_file(f->table, &file)->id, i);
	for (; i < 65535; i++)
		assert_int_equal(module_table_kernel(f->table, i << 32)->id, i + 1);
	assert_int_equal(module_table_kernel(f->table, 0)->id, number);
	space_mark(space);
	module_table_forget(f->table);
	assert_null(module_table_get(f->table, (uint16_t)number + 2));
	space_put(space);
}

/* However many processes make code, there is room for files. */
static void many_that_make_code_share(void **state)
{
	struct fixture *f = *state;
	const struct module *shared;
	pid_t pid;

	for (pid = 1; pid <= MODULE_MAX_ANON; pid++)
		assert_int_equal(module_table_anon(f->table, pid, 5ull << 32)->pid, pid);
	shared = module_table_anon(f->table, pid, 5ull << 32);
	assert_int_equal(shared->pid, 0);
	assert_ptr_equal(module_table_anon(f->table, 2 * pid, 6ull << 32), shared);
	assert_int_equal(module_table_anon(f->table, 7, 5ull << 32)->pid, 7);
	assert_int_equal(module_table_count(f->table), MODULE_MAX_ANON + 2);
	assert_non_null(module_table_kernel(f->table, 0));
	assert_int_equal(module_table_refused(f->table), 0);
}

/* Every byte of the headers in turn, and every length: any answer will do that is within bounds. */
static void hostile_headers(void **state)
{
	static const unsigned char bits[] = {0x01, 0x40, 0x80, 0xff};
	struct fixture *f = *state;
	struct tiny tiny = tiny_make(1), copy;
	struct elf_headers headers;
	size_t i, j;
	int fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	for (i = 0; i < offsetof(struct tiny, code); i++) {
		for (j = 0; j < sizeof(bits); j++) {
			copy = tiny;
			((unsigned char *)&copy)[i] ^= bits[j];
			assert_int_equal(pwrite(fd, &copy, sizeof(copy), 0), sizeof(copy));
			(void)elf_headers_read(fd, &headers);
			assert_true(headers.nr_segments <= MODULE_MAX_SEGMENTS);
			assert_true(headers.build_id.size <= BUILD_ID_MAX);
		}
		assert_int_equal(ftruncate(fd, (off_t)i), 0);
		(void)elf_headers_read(fd, &headers);
	}
	close(fd);
}

static void elf_of_32_bits(void **state)
{
	struct fixture *f = *state;
	struct tiny tiny = tiny_make(0);
	struct {
		Elf32_Ehdr ehdr;
		Elf32_Phdr phdr;
	} small = {
		.ehdr = {.e_phoff = sizeof(Elf32_Ehdr),
	                 .e_phentsize = sizeof(Elf32_Phdr),
	                 .e_phnum = 1},
		.phdr = {.p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = 0x8048000, .p_filesz = 80},
	};
	struct elf_headers headers;
	int fd;

	memcpy(small.ehdr.e_ident, tiny.ehdr.e_ident, EI_NIDENT);
	small.ehdr.e_ident[EI_CLASS] = ELFCLASS32;
	file_write(f->path, &small, sizeof(small));
	fd = open(f->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_headers_read(fd, &headers), 0);
	assert_int_equal(headers.nr_segments, 1);
	assert_int_equal(headers.segments[0].vaddr, 0x8048000);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(special_module_is_there),
		TEST(own_program),
		TEST(module_has_one_area),
		TEST(kernel_code_comes_and_goes),
		TEST(same_file_same_module),
		TEST(numbers_and_build_id_are_one),
		TEST(numbers_without_build_id_are_one),
		TEST(other_generation_is_refused),
		TEST(other_files_are_other_modules),
		TEST(rewritten_file_is_another_module),
		TEST(touched_file_is_the_same),
		TEST(build_id_identifies),
		TEST(unidentified_file_is_one_module),
		TEST(other_inode_is_refused),
		TEST(special_files_are_not_opened),
		TEST(deleted_file_is_found_and_kept),
		TEST(unreadable_file_may_come_back),
		TEST(other_files_than_elf_are_told),
		TEST(overwritten_file_is_noticed),
		TEST(few_files_stay_open),
		TEST(more_stay_open_where_that_fits),
		TEST(file_that_samples_met_is_kept),
		TEST(replaced_file_is_not_reopened),
		TEST(vaddr_of_segments),
		TEST(areas),
		TEST(vdso_is_a_file),
		TEST(vdso_of_32_bits_is_copied),
		TEST(full_table_counts),
		TEST(forgotten_modules_make_room),
		TEST(many_that_make_code_share),
		TEST(hostile_headers),
		TEST(elf_of_32_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
