/* Names of addresses: of this program, of libraries, and of files that are not what they seem. */
#include "cases.h"
#include "naming.h"

#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* What was told of one offset, or of how many. */
struct answer {
	unsigned nr, named;
	uint32_t offset, lo, hi;
	char name[256];
	const char *wanted; /* a name; found: it was among them */
	bool found;
	int result;
};

static int tell(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct answer *answer = arg;

	assert_true(!answer->nr || offset > answer->offset);
	assert_true(symbol->lo <= offset && offset < symbol->hi);
	answer->nr++;
	answer->named += symbol->name != NULL;
	answer->offset = offset;
	answer->lo = symbol->lo;
	answer->hi = symbol->hi;
	snprintf(answer->name, sizeof(answer->name), "%s", symbol->name ? symbol->name : "");
	if (answer->wanted && symbol->name && !strcmp(symbol->name, answer->wanted))
		answer->found = true;
	return answer->result;
}

static struct answer ask(struct fixture *f, struct module *module, uint32_t offset)
{
	struct answer answer = {0};

	assert_int_equal(symbolizer_module(f->symbolizer, module, &offset, 1, tell, &answer), 0);
	return answer;
}

/* -- programs and libraries of this machine ---------------------------------------------------- */

__attribute__((noinline)) static int local_function(int x)
{
	__asm__ volatile("");
	return x + 1;
}

/* By its name: under valgrind, /proc/self/exe is valgrind. */
static struct module *own_module(struct fixture *f)
{
	char path[PATH_MAX];
	Dl_info info;

	assert_true(dladdr(local_function, &info));
	assert_non_null(realpath(info.dli_fname, path));
	return module_of(f, path);
}

static uint32_t offset_of(const void *function)
{
	struct link_map *map;
	Dl_info info;

	assert_true(dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP));
	return (uint32_t)((uintptr_t)function - map->l_addr);
}

static void own_program(void **state)
{
	struct fixture *f = *state;
	struct module *module = own_module(f);
	uint32_t offset = offset_of(local_function);
	struct answer answer = ask(f, module, offset + 1);

	assert_string_equal(answer.name, "local_function");
	assert_int_equal(answer.lo, offset);
	assert_string_equal(ask(f, module, offset_of(own_program)).name, "own_program");
	assert_int_equal(ask(f, module, UINT32_MAX).nr, 0);
}

static struct module *libc_module(struct fixture *f)
{
	Dl_info info;

	assert_true(dladdr(stdout, &info));
	return module_of(f, info.dli_fname);
}

/* Of the library itself: a sanitizer puts its own functions before some. */
static uint32_t libc_offset(const char *name)
{
	void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	uint32_t offset = offset_of(dlsym(library, name));

	dlclose(library);
	return offset;
}

static void libc(void **state)
{
	static const char *const names[] = {"qsort", "malloc", "fopen", "getenv", "write"};
	struct fixture *f = *state;
	struct module *module = libc_module(f);
	struct answer answer;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		answer = ask(f, module, libc_offset(names[i]) + 3);
		assert_int_equal(answer.lo, libc_offset(names[i]));
		assert_string_equal(answer.name, names[i]); /* and not qsort@@GLIBC_2.2.5 */
	}
}

static struct answer ask_all(struct fixture *f, struct module *module, const char *wanted)
{
	uint32_t from = (uint32_t)module->segments[0].vaddr, n, i;
	struct answer answer = {.wanted = wanted};
	uint32_t *offsets;

	n = (uint32_t)module->segments[0].size / 4;
	offsets = calloc(n, sizeof(*offsets));
	assert_non_null(offsets);
	for (i = 0; i < n; i++)
		offsets[i] = from + 4 * i;
	assert_int_equal(symbolizer_module(f->symbolizer, module, offsets, n, tell, &answer), 0);
	free(offsets);
	return answer;
}

/* Static functions of libc have names where its debug file is installed. */
static void libc_debug_file(void **state)
{
	struct fixture *f = *state;
	struct module *module = libc_module(f);
	char path[128];
	unsigned i;
	int at;

	at = sprintf(path, "/usr/lib/debug/.build-id/%02x/", module->build_id.bytes[0]);
	for (i = 1; i < module->build_id.size; i++)
		at += sprintf(path + at, "%02x", module->build_id.bytes[i]);
	strcpy(path + at, ".debug");
	if (access(path, R_OK))
		skip();
	assert_true(ask_all(f, module, "_int_malloc").found);
}

static void vdso(void **state)
{
	struct fixture *f = *state;

	if (!module_table_vdso(f->table)->nr_segments)
		skip(); /* valgrind hides it */
	assert_true(ask_all(f, module_table_vdso(f->table), "__vdso_clock_gettime").found ||
	            ask_all(f, module_table_vdso(f->table), "__kernel_clock_gettime").found ||
	            ask_all(f, module_table_vdso(f->table), "clock_gettime").found);
}

static void plt(void **state)
{
	struct fixture *f = *state;

#ifndef __riscv
	if (!run(f, "echo 'int getpid(void); int f(void) { return getpid() + 1; }' >a.c &&"
	            "cc -shared -fPIC -O1 a.c -o a.so"))
		skip();
	assert_true(ask_all(f, module_of(f, in_dir(f, "a.so")), "getpid@plt").found);
#else
	(void)f;
	skip();
#endif
}

static void nothing_else_has_names(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ask(f, module_table_get(f->table, 0), FRAME_TRUNCATED).nr, 0);
	assert_int_equal(ask(f, module_table_anon(f->table, 0x40000000, 1), 1).nr, 0);
}

static void result_of_callback(void **state)
{
	struct fixture *f = *state;
	uint32_t offset = offset_of(own_program);
	const uint32_t offsets[] = {offset, offset + 1};
	struct answer answer = {.result = -EPIPE};

	assert_int_equal(symbolizer_module(f->symbolizer, own_module(f), offsets, 2, tell, &answer),
	                 -EPIPE);
	assert_int_equal(answer.nr, 1);
}

/* The kernel's names, as far as this user may know them. */
static void kernel(void **state)
{
	struct fixture *f = *state;
	struct symbolizer_stats stats;
	FILE *kallsyms = fopen("/proc/kallsyms", "re");
	unsigned long long addr = 0;
	char type = 0, name[128];
	struct answer answer;

	if (!kallsyms)
		skip();
	while (fscanf(kallsyms, "%llx %c %127s%*[^\n]", &addr, &type, name) == 3)
		if (tolower(type) == 't' && !strcmp(name, "schedule"))
			break;
	fclose(kallsyms);
	answer = ask(f, module_table_kernel(f->table, addr), (uint32_t)addr);
	symbolizer_stats(f->symbolizer, &stats);
	if (!addr)
		assert_true(stats.kernel_hidden);
	else if (!strcmp(name, "schedule"))
		assert_string_equal(answer.name, "schedule");
}

/* -- made for the purpose ---------------------------------------------------------------------- */

static void cpp(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	if (!run(f, "echo 'namespace ns { struct S { int m(const char *) const; };"
	            "int S::m(const char *p) const { return *p; } }' >a.cc && g++ -shared -fPIC "
	            "a.cc -o a.so"))
		skip();
	answer = ask_all(f, module_of(f, in_dir(f, "a.so")), "ns::S::m(char const*) const");
	assert_true(answer.found);
}

static const char code[] = "__attribute__((noinline)) static int quiet(int x) { return x * 3; }\n"
			   "int (*volatile keep)(int) = quiet;\n"
			   "int loud(int x) { return keep(x); }\n";

static bool make_library(struct fixture *f)
{
	FILE *file = fopen(in_dir(f, "a.c"), "we");

	fputs(code, file);
	fclose(file);
	return run(f, "cc -shared -fPIC -O1 -Wl,--build-id=sha1 a.c -o a.so");
}

/* The symbol of a name, by asking for every address. */
static struct answer find(struct fixture *f, const char *file, const char *name)
{
	struct module *module = module_of(f, in_dir(f, file));
	uint32_t offset = (uint32_t)module->segments[0].vaddr;
	uint32_t end = offset + (uint32_t)module->segments[0].size;
	struct answer answer = {0};

	for (; offset < end && strcmp(answer.name, name); offset++)
		answer = ask(f, module, offset);
	return answer;
}

static void stripped_file_has_bounds(void **state)
{
	struct fixture *f = *state;
	struct answer quiet, answer;

	if (!make_library(f) || !run(f, "strip a.so -o b.so"))
		skip();
	quiet = find(f, "a.so", "quiet");
	answer = ask(f, module_of(f, in_dir(f, "b.so")), quiet.offset);
	assert_int_equal(answer.nr, 1);
	assert_int_equal(answer.named, 0);
	assert_int_equal(answer.lo, quiet.lo);
	assert_int_equal(answer.hi, quiet.hi);
}

static void debuglink(void **state)
{
	struct fixture *f = *state;
	struct answer quiet;

	if (!make_library(f) ||
	    !run(f, "mkdir .debug && objcopy --only-keep-debug a.so .debug/a.debug &&"
	            "strip a.so -o b.so && objcopy --add-gnu-debuglink=.debug/a.debug b.so"))
		skip();
	quiet = find(f, "a.so", "quiet");
	assert_string_equal(ask(f, module_of(f, in_dir(f, "b.so")), quiet.offset).name, "quiet");
	/* The debug file of another build. */
	assert_true(run(f, "cp b.so c.so && echo 'int more;' >>a.c &&"
	                   "cc -shared -fPIC -O1 -Wl,--build-id=sha1 a.c -o d.so &&"
	                   "objcopy --only-keep-debug d.so .debug/a.debug"));
	assert_int_equal(ask(f, module_of(f, in_dir(f, "c.so")), quiet.offset).named, 0);
}

/* Debug files may have the program's name, and copies without symbols lie beside them. */
static void stripped_copies_are_passed_over(void **state)
{
	struct fixture *f = *state;
	const struct debug_search search = {.folder = f->dir};
	struct module_file gone = {.path = "/gone/g.so"};
	struct answer quiet, loud;
	struct module *module;

	if (!make_library(f) ||
	    !run(f, "cp a.so g.so && mkdir .debug && objcopy --only-keep-debug a.so .debug/b.so &&"
	            "strip a.so -o s.so && cp s.so c.so && cp .debug/b.so c.so.debug &&"
	            "(cd .debug && objcopy --add-gnu-debuglink=b.so ../s.so ../b.so)"))
		skip();
	quiet = find(f, "a.so", "quiet");
	loud = find(f, "a.so", "loud");
	assert_string_equal(ask(f, module_of(f, in_dir(f, "b.so")), quiet.offset).name, "quiet");
	module_table_search(f->table, &search);
	assert_string_equal(ask(f, module_of(f, in_dir(f, "c.so")), quiet.offset).name, "quiet");
	/* Of a program that is gone they are better than nothing. */
	gone.build_id = module_of(f, in_dir(f, "g.so"))->build_id;
	module = module_table_file(f->table, &gone);
	assert_string_equal(ask(f, module, quiet.offset).name, "quiet");
	assert_true(run(f, "cp s.so g.so"));
	assert_int_equal(ask(f, module, quiet.offset).named, 0);
	assert_string_equal(ask(f, module, loud.offset).name, "loud");
}

/* Without a build-id the checksum decides. */
static void debuglink_checksum(void **state)
{
	struct fixture *f = *state;
	struct answer quiet;

	if (!make_library(f) ||
	    !run(f,
	         "cc -shared -fPIC -O1 -Wl,--build-id=none a.c -o a.so &&"
	         "objcopy --only-keep-debug a.so a.debug &&"
	         "strip a.so -o b.so && objcopy --add-gnu-debuglink=a.debug b.so && cp b.so c.so"))
		skip();
	quiet = find(f, "a.so", "quiet");
	assert_string_equal(ask(f, module_of(f, in_dir(f, "b.so")), quiet.offset).name, "quiet");
	assert_true(run(f, "printf x >>a.debug"));
	assert_int_equal(ask(f, module_of(f, in_dir(f, "c.so")), quiet.offset).named, 0);
}

static void mini_debug(void **state)
{
	struct fixture *f = *state;
	struct answer quiet;

	if (!make_library(f) ||
	    !run(f, "objcopy --only-keep-debug a.so d && echo quiet >k && objcopy -S "
	            "--keep-symbols=k d m &&"
	            "xz m && strip a.so -o b.so && objcopy --add-section .gnu_debugdata=m.xz b.so"))
		skip();
	quiet = find(f, "a.so", "quiet");
	assert_string_equal(ask(f, module_of(f, in_dir(f, "b.so")), quiet.offset).name, "quiet");
}

/* Where the table of symbols has none, or one that the compiler made of the name in the source. */
static void debug_information_has_names(void **state)
{
	struct fixture *f = *state;
	struct answer found;

	if (!make_library(f) || !run(f, "cc -shared -fPIC -O1 -g a.c -o g.so &&"
	                                "strip -g g.so -o a.so &&"
	                                "objcopy --strip-symbol=quiet g.so b.so"))
		skip();
	found = find(f, "a.so", "quiet");
	assert_string_equal(ask(f, module_of(f, in_dir(f, "b.so")), found.offset).name, "quiet");
	write_file(f, "a.f90", "subroutine advance\nprint *, 1\nend subroutine\n");
	if (!run(f, "gfortran -shared -fPIC -g a.f90 -o f.so && strip -g f.so -o c.so"))
		skip();
	found = find(f, "c.so", "advance_");
	assert_string_equal(ask(f, module_of(f, in_dir(f, "f.so")), found.offset).name, "advance");
}

/* A label of no size ends where another function begins, though that one has lost its name. */
static void labels_end_at_other_functions(void **state)
{
	struct fixture *f = *state;
	struct answer label, next;

	write_file(f, "l.c",
	           "__asm__(\".text\\n.globl label\\nlabel: .cfi_startproc\\n\"\n"
	           "\".zero 32\\n.cfi_endproc\\n\"\n"
	           "\".type next,%function\\nnext: .cfi_startproc\\n.zero 32\\n\"\n"
	           "\".cfi_endproc\\n.size next,32\\n\");\n");
	if (!run(f, "cc -shared -fPIC l.c -o l.so && objcopy --strip-symbol=next l.so m.so"))
		skip();
	next = find(f, "l.so", "next");
	label = find(f, "m.so", "label");
	assert_int_equal(label.hi, next.lo);
	assert_int_equal(ask(f, module_of(f, in_dir(f, "m.so")), next.lo).named, 0);
}

/* Of assembly without call frame information that was stripped: what is exported is not all. */
static void labels_among_stripped_functions_are_short(void **state)
{
	struct fixture *f = *state;
	struct answer label;

	write_file(f, "s.c",
	           "__asm__(\".text\\n.globl label\\nlabel: .zero 32\\n\"\n"
	           "\"hidden: .zero 9000\\nnext: .zero 32\\n\");\n");
	if (!run(f, "cc -shared -fPIC s.c -o s.so && objcopy --strip-symbol=hidden s.so t.so &&"
	            "strip s.so -o u.so"))
		skip();
	label = find(f, "t.so", "label");
	assert_int_equal(label.hi, find(f, "s.so", "next").lo);
	assert_string_equal(ask(f, module_of(f, in_dir(f, "u.so")), label.lo + 31).name, "label");
	assert_int_equal(ask(f, module_of(f, in_dir(f, "u.so")), label.lo + 8999).named, 0);
}

/* What a program says of its own code, by whole addresses. */
static void map_of_a_process(void **state)
{
	struct fixture *f = *state;
	struct module *module = module_table_anon(f->table, getpid(), 0x7f1100001000);
	struct answer answer;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "we");
	assert_non_null(file);
	fputs("7f1000001000 20 elsewhere\n7f1100001000 20 made\n7f1100001020 10 next\n", file);
	fclose(file);
	answer = ask(f, module, 0x101f);
	assert_string_equal(answer.name, "made");
	assert_int_equal(answer.lo, 0x1000);
	assert_string_equal(ask(f, module, 0x1020).name, "next");
	assert_int_equal(ask(f, module, 0x1030).nr, 0);
	unlink(path);
	assert_int_equal(ask(f, module, 0x1020).nr, 0);
}

static void missing_file_has_no_names(void **state)
{
	struct fixture *f = *state;
	struct module_file gone = {.path = in_dir(f, "gone"), .ino = 1};
	struct module_file other = {.path = "/proc/self/exe", .build_id = {.size = 4}};
	struct module_file script = {.path = "/etc/passwd"};

	assert_int_equal(ask(f, module_table_file(f->table, &gone), 1).nr, 0);
	assert_int_equal(ask(f, module_table_file(f->table, &other), 1).nr, 0);
	assert_int_equal(ask(f, module_table_file(f->table, &script), 1).nr, 0);
}

static void replaced_library_has_no_names(void **state)
{
	struct fixture *f = *state;
	struct module *module;
	struct answer loud;

	if (!make_library(f) || !run(f, "cp a.so b.so"))
		skip();
	loud = find(f, "a.so", "loud");
	module = module_of(f, in_dir(f, "b.so"));
	assert_true(run(f, "echo 'int more(void) { return 1; }' >>a.c &&"
	                   "cc -shared -fPIC -O1 -Wl,--build-id=sha1 a.c -o d.so && cp d.so b.so"));
	assert_int_equal(ask(f, module, loud.offset).nr, 0);
}

/* -- hostile files ----------------------------------------------------------------------------- */

struct bytes {
	unsigned char *data;
	size_t size;
};

static struct bytes file_read(int fd)
{
	struct bytes bytes = {0};
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	bytes.size = (size_t)st.st_size;
	bytes.data = malloc(bytes.size);
	assert_non_null(bytes.data);
	assert_int_equal(pread(fd, bytes.data, bytes.size, 0), bytes.size);
	return bytes;
}

/* Two common parts of a million letters, and entries that belong to one and the other in turn. */
static void long_augmentations(void **state)
{
	static const char frames[] = ".section .eh_frame, \"a\"\n"
				     ".macro common\n"
				     "	.long 2f - 1f\n1:	.long 0\n	.byte 1\n"
				     "	.ascii \"z\"\n	.fill 1000000, 1, 'B'\n	.byte 0, 1, "
				     "0x78, 16, 0\n	.balign 4, 0\n2:\n.endm\n"
				     ".macro entry parent\n"
				     "	.long 2f - 1f\n1:	.long . - \\parent\n"
				     "	.quad 64, 64\n	.byte 0\n	.balign 4, 0\n2:\n.endm\n"
				     "one:	common\ntwo:	common\n"
				     ".rept 30000\nentry one\nentry two\n.endr\n";
	struct fixture *f = *state;
	FILE *file = fopen(in_dir(f, "a.s"), "we");

	fputs(frames, file);
	fclose(file);
	if (!run(f, "echo 'int f(int x) { return x; }' >a.c && cc -c a.s && "
	            "cc -shared -fPIC -nostdlib a.c a.o -o a.so && strip a.so"))
		skip();
	alarm(20);
	ask(f, module_of(f, in_dir(f, "a.so")), 64);
	alarm(0);
}

/* Any answer will do, if there is one. */
static void try_bytes(int fd, const unsigned char *data, size_t size)
{
	struct module_table *table = module_table_new();
	struct symbolizer *symbolizer = symbolizer_new(table);
	char path[32];
	const struct module_file file = {.path = path};
	struct answer answer = {0};
	uint32_t offsets[256], i;

	sprintf(path, "/proc/self/fd/%d", fd);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(pwrite(fd, data, size, 0), size);
	for (i = 0; i < 256; i++)
		offsets[i] = 64 * i;
	assert_int_equal(symbolizer_module(symbolizer, module_table_file(table, &file), offsets,
	                                   256, tell, &answer),
	                 0);
	symbolizer_free(symbolizer);
	module_table_free(table);
}

/* Whether a byte tells how to read others: headers, and sections that are neither code nor data. */
static bool is_structure(const struct bytes *bytes, size_t at)
{
	const Elf64_Ehdr *ehdr = (const void *)bytes->data;
	const Elf64_Shdr *shdr = (const void *)(bytes->data + ehdr->e_shoff);
	unsigned i;

	for (i = 0; i < ehdr->e_shnum; i++)
		if (at >= shdr[i].sh_offset && at < shdr[i].sh_offset + shdr[i].sh_size &&
		    (shdr[i].sh_flags & (SHF_EXECINSTR | SHF_WRITE) ||
		     shdr[i].sh_type == SHT_NOBITS))
			return false;
	return at < ehdr->e_shoff + ehdr->e_shnum * sizeof(*shdr);
}

static void damage(struct bytes *bytes)
{
	static const unsigned char flips[] = {0x01, 0x80, 0xff, 0x10};
	struct bytes original = *bytes;
	size_t i, n = 0;
	int fd = memfd_create("hostile", MFD_CLOEXEC);

	original.data = memcpy(malloc(bytes->size), bytes->data, bytes->size);
	/* Hardly a field is shorter than the shorter step. */
	for (i = bytes->size % 3; i < bytes->size; i += SANITIZED ? 11 : 3) {
		if (!is_structure(&original, i))
			continue;
		bytes->data[i] ^= flips[n++ % sizeof(flips)];
		try_bytes(fd, bytes->data, bytes->size);
		bytes->data[i] = original.data[i];
		if (i % 64 == 0)
			try_bytes(fd, bytes->data, i);
	}
	free(original.data);
	close(fd);
}

static void damaged_vdso(void **state)
{
	struct fixture *f = *state;
	int fd = module_fd(f->table, module_table_vdso(f->table));
	struct bytes bytes;

	if (sizeof(long) != 8 || fd < 0)
		skip();
	bytes = file_read(fd);
	damage(&bytes);
	free(bytes.data);
}

static void damaged_library(void **state)
{
	struct fixture *f = *state;
	struct bytes bytes;
	int fd;

	if (sizeof(long) != 8 || !make_library(f) ||
	    !run(f, "cc -shared -fPIC -O1 -nostdlib -Wl,-z,max-page-size=4096 "
	            "-Wl,-z,noseparate-code a.c -o b.so &&"
	            "objcopy --only-keep-debug a.so d && echo quiet >k && objcopy -S "
	            "--keep-symbols=k d m &&"
	            "xz m && strip b.so -o c.so && objcopy --add-section .gnu_debugdata=m.xz c.so"))
		skip();
	fd = open(in_dir(f, "b.so"), O_RDONLY | O_CLOEXEC);
	bytes = file_read(fd);
	close(fd);
	damage(&bytes);
	free(bytes.data);
	fd = open(in_dir(f, "c.so"), O_RDONLY | O_CLOEXEC);
	bytes = file_read(fd);
	close(fd);
	damage(&bytes);
	free(bytes.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(own_program),
		TEST(libc),
		TEST(libc_debug_file),
		TEST(vdso),
		TEST(plt),
		TEST(nothing_else_has_names),
		TEST(result_of_callback),
		TEST(kernel),
		TEST(cpp),
		TEST(stripped_file_has_bounds),
		TEST(debuglink),
		TEST(stripped_copies_are_passed_over),
		TEST(debuglink_checksum),
		TEST(mini_debug),
		TEST(debug_information_has_names),
		TEST(labels_end_at_other_functions),
		TEST(labels_among_stripped_functions_are_short),
		TEST(map_of_a_process),
		TEST(missing_file_has_no_names),
		TEST(replaced_library_has_no_names),
		TEST(long_augmentations),
		TEST(damaged_vdso),
		TEST(damaged_library),
	};

	if (local_function(0) != 1)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
