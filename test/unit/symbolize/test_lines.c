/* Lines and inlined functions: compared with what addr2line says, and of files that lie. */
#include "addr2line.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static void check_file(struct fixture *f, const char *name, unsigned deepest)
{
	const char *path = *name == '/' ? name : strdupa(in_dir(f, name));

	check_against(f, path, path, deepest);
}

static void own_program(void **state)
{
	char path[PATH_MAX];
	Dl_info info;

	assert_true(dladdr((void *)(uintptr_t)own_program, &info));
	assert_non_null(realpath(info.dli_fname, path));
	check_file(*state, path, 2);
}

/* Calls in calls, over two files: each level of the template is inlined into the one above. */
static const char deep_cc[] = "#include \"deep.h\"\n"
			      "namespace ns {\n"
			      "struct thing {\n"
			      "	int a[64];\n"
			      "	int sum(int k) const\n"
			      "	{\n"
			      "		int s = 0;\n"
			      "		for (int i = 0; i < 64; i++)\n"
			      "			s += level<5>::f(a[i]) + twice(k);\n"
			      "		return s;\n"
			      "	}\n"
			      "	static inline int twice(int k) { return level<3>::f(k) * 2; }\n"
			      "};\n"
			      "}\n"
			      "static ns::thing t;\n"
			      "int main(int argc, char **)\n"
			      "{\n"
			      "	for (int i = 0; i < 64; i++)\n"
			      "		t.a[i] = level<4>::f(argc + i);\n"
			      "	return t.sum(argc) & 127;\n"
			      "}\n";

static bool make_deep(struct fixture *f, const char *options)
{
	char command[512];

	write_levels(f);
	write_file(f, "deep.cc", deep_cc);
	snprintf(command, sizeof(command), "%s deep.cc -o deep", options);
	return run(f, command);
}

static void deep_inlining(void **state)
{
	struct fixture *f = *state;

	if (!make_deep(f, "g++ -O2 -gdwarf-4"))
		skip();
	check_file(f, "deep", 6);
}

static void dwarf_5(void **state)
{
	struct fixture *f = *state;

	if (!make_deep(f, "g++ -O2 -gdwarf-5"))
		skip();
	check_file(f, "deep", 6);
	/* Units of types among the others, which addr2line does not step over. */
	if (!run(f, "g++ -O2 -gdwarf-5 -fdebug-types-section deep.cc -o types"))
		skip();
	check_against(f, in_dir(f, "types"), "deep", 6);
}

/*
 * A list of ranges whose first one is empty and at the unit's beginning is two zeroes, which end a
 * list of version 4: "quiet" has no addresses, and what is inlined in it has.
 */
static void caller_without_addresses(void **state)
{
	struct fixture *f = *state;

	write_levels(f);
	write_file(f, "other.cc",
	           "#include \"deep.h\"\n"
	           "static inline int quiet(int x) { return level<2>::f(x); }\n"
	           "int other(int x) { return quiet(x) + 1; }\n");
	write_file(f, "main.cc", "int other(int); int main(int c, char **) { return other(c); }\n");
	if (!run(f, "g++ -O2 -gdwarf-4 other.cc main.cc -o other"))
		skip();
	check_file(f, "other", 4);
}

static void clang(void **state)
{
	struct fixture *f = *state;

	if (!make_deep(f, "clang++ -O2 -gdwarf-4"))
		skip();
	check_file(f, "deep", 3);
}

static void link_time_optimized(void **state)
{
	struct fixture *f = *state;

	write_file(f, "a.c",
	           "int g(int *p); int f(int x) { int a[9]; for (int i = 0; i < x % 9; "
	           "i++)\n a[i] = x;\n return g(a); }\n");
	write_file(f, "b.c",
	           "static int h(int x)\n{\n return x * 7 % 5; }\n"
	           "int g(int *p)\n{\n return h(p[1]) + h(p[3]); }\n");
	write_file(f, "c.c", "int f(int x);\nint main(int c, char **v)\n{\n return f(c); }\n");
	if (!run(f, "cc -O2 -gdwarf-4 -flto a.c b.c c.c -o lto"))
		skip();
	check_file(f, "lto", 2);
}

/* The linker keeps the first; in the debug information both have its address. */
static void function_that_two_units_have(void **state)
{
	static const char unit[] =
		"template <int N> __attribute__((noinline)) int same(int *p)\n"
		"{\n	int s = 0;\n	for (int i = 0; i < N; i++)\n		s += p[i] * i;\n"
		"	for (int i = 0; i < N; i++)\n		s ^= p[s % N] / (i + 1);\n"
		"	return s;\n}\nint NAME(int *p) { return same<9>(p) + same<7>(p); }\n";
	struct fixture *f = *state;

	write_file(f, "a.cc", unit);
	write_file(f, "b.cc", unit);
	write_file(f, "c.cc",
	           "int a(int *); int b(int *); int n[9];\n"
	           "int main() { return a(n) + b(n); }\n");
	if (!run(f, "g++ -O2 -g -DNAME=a -c a.cc && g++ -O2 -g -DNAME=b -c b.cc && "
	            "g++ -O2 -g a.o b.o c.cc -o two"))
		skip();
	check_file(f, "two", 1);
}

/* -- where debug information can be ------------------------------------------------------------ */

enum { INNER_LINE = __LINE__ + 4 };

static inline __attribute__((always_inline)) int inner(int x)
{
	__asm__ volatile(".globl lines_probe\nlines_probe: nop" : "+r"(x));
	return x;
}

enum { MIDDLE_LINE = __LINE__ + 4 };

static inline __attribute__((always_inline)) int middle(int x)
{
	return inner(x + 1) * x;
}

enum { OUTER_LINE = __LINE__ + 4 };

static __attribute__((noinline, noclone)) int outer(int x)
{
	return middle(x) + x;
}

extern const char lines_probe[];

struct answer {
	unsigned nr;
	struct source chain[8];
	char names[8][64], files[8][PATH_MAX];
	size_t nr_sources;
	char name[64];
};

static int keep(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct answer *answer = arg;
	size_t i;

	(void)offset;
	answer->nr++;
	snprintf(answer->name, sizeof(answer->name), "%s", symbol->name ? symbol->name : "");
	answer->nr_sources = symbol->nr_sources;
	for (i = 0; i < symbol->nr_sources && i < 8; i++) {
		const struct source *source = &symbol->sources[i];

		answer->chain[i] = *source;
		snprintf(answer->names[i], 64, "%s", source->function ? source->function : "");
		snprintf(answer->files[i], PATH_MAX, "%s", source->file ? source->file : "");
	}
	return 0;
}

/* The answer to the last of several. */
static struct answer ask_all(struct fixture *f, struct module *module, const uint32_t *offsets,
                             size_t n)
{
	struct answer answer = {0};

	assert_int_equal(symbolizer_module(f->symbolizer, module, offsets, n, keep, &answer), 0);
	return answer;
}

static struct answer ask(struct fixture *f, struct module *module, uint32_t offset)
{
	return ask_all(f, module, &offset, 1);
}

static bool ends_in(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && !strcmp(text + strlen(text) - strlen(end), end);
}

static void known_places(void **state)
{
	static const uint32_t lines[] = {INNER_LINE, MIDDLE_LINE, OUTER_LINE};
	struct fixture *f = *state;
	struct answer answer;
	char path[PATH_MAX];
	Dl_info info;
	size_t i;

	assert_true(dladdr(lines_probe, &info));
	assert_non_null(realpath(info.dli_fname, path));
	answer = ask(f, module_of(f, path), (uint32_t)(lines_probe - (char *)info.dli_fbase));
	assert_int_equal(answer.nr_sources, 3);
	assert_string_equal(answer.names[0], "inner");
	assert_string_equal(answer.names[1], "middle");
	assert_string_equal(answer.name, "outer");
	for (i = 0; i < 3; i++) {
		assert_int_equal(answer.chain[i].line, lines[i]);
		assert_true(ends_in(answer.files[i], "/test/unit/symbolize/test_lines.c"));
	}
}

/* Inlined into each other in one place whose address the symbol "place" has. */
static const char code[] = "static inline __attribute__((always_inline)) int in(int x)\n"
			   "{\n"
			   "	__asm__(\".globl place\\nplace: nop\" : \"+r\"(x));\n"
			   "	return x;\n"
			   "}\n"
			   "int keep(int x)\n"
			   "{\n"
			   "	return in(x) + 1;\n"
			   "}\n"
			   "__attribute__((cold, section(\".text.far\"))) int far(int x)\n"
			   "{\n"
			   "	return x * 3;\n"
			   "}\n";

static bool make_library(struct fixture *f, const char *options)
{
	char command[512];

	write_file(f, "a.c", code);
	snprintf(command, sizeof(command),
	         "cc -shared -fPIC -O1 -nostdlib -Wl,--build-id=sha1 %s a.c -o a.so", options);
	return run(f, command);
}

static uint32_t symbol_of(struct fixture *f, const char *name)
{
	unsigned value = 0;
	char command[64];
	FILE *file;

	snprintf(command, sizeof(command), "nm a.so | grep ' %s$' >place", name);
	assert_true(run(f, command));
	file = fopen(in_dir(f, "place"), "re");
	assert_int_equal(fscanf(file, "%x", &value), 1);
	fclose(file);
	return value;
}

static uint32_t place_of(struct fixture *f)
{
	return symbol_of(f, "place");
}

static void check_answer(const struct answer *answer)
{
	assert_int_equal(answer->nr_sources, 2);
	assert_string_equal(answer->names[0], "in");
	assert_true(ends_in(answer->files[0], "/a.c"));
	assert_int_equal(answer->chain[0].line, 3);
	assert_int_equal(answer->chain[1].line, 8);
}

static void check_place(struct fixture *f, const char *name, uint32_t place)
{
	const struct answer answer = ask(f, module_of(f, in_dir(f, name)), place);

	check_answer(&answer);
}

/*
 * In C++ a function of C has no linkage name of its own in DWARF. Where it is inlined, addr2line
 * (binutils 2.40) prints the symbol around it in its place: the name is that of the entry.
 */
static void function_of_c_in_cpp(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	write_file(f, "a.c",
	           "extern \"C\" { static inline __attribute__((always_inline)) int plain(int x)\n"
	           "{\n	__asm__(\".globl place\\nplace: nop\" : \"+r\"(x));\n	return x;\n} }\n"
	           "namespace ns { int around(int x) { return plain(x) + 1; } }\n");
	if (!run(f, "g++ -x c++ -shared -fPIC -O1 -g -nostdlib a.c -o a.so"))
		skip();
	answer = ask(f, module_of(f, in_dir(f, "a.so")), place_of(f));
	assert_int_equal(answer.nr_sources, 2);
	assert_string_equal(answer.names[0], "plain");
	assert_string_equal(answer.name, "ns::around(int)");
}

static void compressed(void **state)
{
	struct fixture *f = *state;
	uint32_t place;

	if (!make_library(f, "-g") ||
	    !run(f, "objcopy --compress-debug-sections=zlib a.so b.so &&"
	            "objcopy --compress-debug-sections=zlib-gnu a.so c.so"))
		skip();
	place = place_of(f);
	check_place(f, "a.so", place);
	check_place(f, "b.so", place);
	check_place(f, "c.so", place);
}

/* Not every libelf unpacks this: that is told, and the function has its name. */
static void compressed_in_a_newer_way(void **state)
{
	struct fixture *f = *state;
	struct symbolizer_stats stats;
	struct answer answer;

	if (!make_library(f, "-g") ||
	    !run(f,
	         "objcopy --compress-debug-sections=zstd a.so b.so && readelf -t b.so | grep ZSTD"))
		skip();
	answer = ask(f, module_of(f, in_dir(f, "b.so")), place_of(f));
	symbolizer_stats(f->symbolizer, &stats);
	assert_non_null(answer.name);
	assert_int_equal(stats.lines_packed, answer.nr_sources == 0);
}

static void versions(void **state)
{
	static const char *const options[] = {"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5",
	                                      "-gdwarf-5 -gdwarf64"};
	struct fixture *f = *state;
	char name[16], command[64];
	unsigned i;

	for (i = 0; i < 5; i++) {
		if (!make_library(f, options[i]))
			skip();
		snprintf(name, sizeof(name), "%u.so", i);
		snprintf(command, sizeof(command), "cp a.so %s", name);
		assert_true(run(f, command));
		check_place(f, name, place_of(f));
	}
}

/* The unit says where its first piece is, and has no word for the second. */
static void pieces_in_version_2(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	if (!make_library(f, "-gdwarf-2 -gstrict-dwarf"))
		skip();
	answer = ask(f, module_of(f, in_dir(f, "a.so")), symbol_of(f, "far"));
	assert_int_equal(answer.nr_sources, 1);
	assert_in_range(answer.chain[0].line, 11, 13); /* by its first instruction */
}

/*
 * The linker drops "dead", whose debug information stays: it begins at 0 then, or at the highest
 * addresses, and reaches over all that is kept, in this file and in the next one: the rows of its
 * lines, and the second piece of what was inlined.
 */
static const char left_out_c[] = "static inline __attribute__((always_inline)) int gone(int x)\n"
				 "{\n"
				 "	if (__builtin_expect(x == 7, 0))\n"
				 "		__asm__ volatile(\".skip 60000, 0x90\");\n"
				 "	return x * 5;\n"
				 "}\n"
				 "__attribute__((visibility(\"hidden\"))) int dead(int x)\n"
				 "{\n"
				 "	x = gone(x) + 1;\n"
				 "	__asm__ volatile(\".skip 100, 0x90\");\n"
				 "	return x;\n"
				 "}\n"
				 "int live(int x)\n"
				 "{\n"
				 "	__asm__(\".globl first\\nfirst: nop\" : \"+r\"(x));\n"
				 "	return x;\n"
				 "}\n";

static bool make_without_dead(struct fixture *f, const char *options)
{
	char command[512];

	write_file(f, "dead.c", left_out_c);
	write_file(f, "a.c", code);
	snprintf(command, sizeof(command),
	         "cc -shared -fPIC -O2 -nostdlib -ffunction-sections -Wl,--gc-sections %s dead.c "
	         "a.c -o a.so",
	         options);
	return run(f, command);
}

static void check_live(struct fixture *f, const char *name)
{
	const uint32_t places[] = {symbol_of(f, "first"), place_of(f)};
	struct module *module = module_of(f, in_dir(f, name));
	struct answer answer = ask(f, module, places[0]);

	assert_int_equal(answer.nr_sources, 1);
	assert_int_equal(answer.chain[0].line, 15);
	answer = ask_all(f, module, places, 2); /* both files are read */
	check_answer(&answer);
}

static void function_that_the_linker_dropped(void **state)
{
	static const char *const options[] = {
		"-gdwarf-4",
		"-gdwarf-5",
		"-gdwarf-4 -fuse-ld=gold",
		"-gdwarf-5 -fuse-ld=gold",
		"-gdwarf-5 -fuse-ld=lld",
		"-gdwarf-5 -fuse-ld=lld "
		"-Wl,-z,dead-reloc-in-nonalloc='.debug_*=0xffffffffffffffff'",
	};
	struct fixture *f = *state;
	char name[16], command[64];

	for (unsigned i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (!make_without_dead(f, options[i]))
			continue; /* not every machine has these linkers */
		assert_false(run(f, "nm a.so | grep dead"));
		snprintf(name, sizeof(name), "%u.so", i);
		snprintf(command, sizeof(command), "cp a.so %s", name);
		assert_true(run(f, command));
		check_live(f, name);
	}
}

/* Symbols in the program, lines in the debug file. */
static void separate_file(void **state)
{
	struct fixture *f = *state;

	if (!make_library(f, "-g") ||
	    !run(f, "objcopy --only-keep-debug a.so a.debug && objcopy -g "
	            "--add-gnu-debuglink=a.debug a.so b.so"))
		skip();
	check_place(f, "b.so", place_of(f));
}

/* What is worth sharing: a whole function that was inlined, and the name of one that differs. */
static const char shared[] =
	"struct all_that_a_sample_has { int number_of_callers, number_of_bytes;\n"
	"	struct all_that_a_sample_has *the_one_before; };\n"
	"#define INLINED static inline __attribute__((always_inline))\n"
	"INLINED int inlined_here(struct all_that_a_sample_has *sample, int number)\n"
	"{\n	__asm__(\".globl place\\nplace: nop\" : \"+r\"(number));\n"
	"	return number + sample->number_of_callers;\n}\n"
	"INLINED RESULT inlined_around(struct all_that_a_sample_has *sample, int number)\n"
	"{\n	return inlined_here(sample->the_one_before, number) + 2;\n}\n"
	"int keep(struct all_that_a_sample_has *sample)\n"
	"{\n	return inlined_around(sample, 3) + 1;\n}\n";

/* a.so and b.so, which have nearly all in common. */
static bool make_two_libraries(struct fixture *f, const char *options)
{
	char command[512];

	write_file(f, "a.c", shared);
	snprintf(command, sizeof(command),
	         "for l in a b; do cc -shared -fPIC -O1 -nostdlib -g -Wl,--build-id=sha1 %s "
	         "-Da=int -Db=long -DRESULT=$l a.c -o $l.so || exit; done",
	         options);
	return run(f, command);
}

static void check_shared(struct fixture *f, const char *name, uint32_t place, bool named)
{
	struct answer answer = ask(f, module_of(f, in_dir(f, name)), place);

	assert_string_equal(answer.name, "keep"); /* by the symbol table */
	assert_int_equal(answer.nr_sources, 3);
	assert_string_equal(answer.names[0], named ? "inlined_here" : "");
	assert_string_equal(answer.names[1], named ? "inlined_around" : "");
	assert_int_equal(answer.chain[0].line, 6);
	assert_int_equal(answer.chain[1].line, 11);
	assert_int_equal(answer.chain[2].line, 15);
}

/* Common parts in a third file. Where that is not at hand names are missing, and lines are not. */
static void shared_by_dwz(void **state)
{
	struct fixture *f = *state;
	uint32_t place;

	if (!make_two_libraries(f, "") ||
	    !run(f, "cp a.so 1.so && cp b.so 2.so && dwz -m common 1.so 2.so &&"
	            "cp 1.so other.so && cp 1.so alone.so"))
		skip();
	place = place_of(f);
	check_shared(f, "1.so", place, true);
	assert_true(make_two_libraries(f, "-fno-builtin") &&
	            run(f, "dwz -m other a.so b.so && mv other common"));
	check_shared(f, "other.so", place, false);
	assert_true(run(f, "rm common"));
	check_shared(f, "alone.so", place, false);
}

/* Debug files as distributions have them: what they share is beside them, not beside the program.
 */
static void debug_files_shared_by_dwz(void **state)
{
	struct fixture *f = *state;
	uint32_t place;

	if (!make_two_libraries(f, "") ||
	    !run(f, "mkdir .debug && for l in a b; do "
	            "objcopy --only-keep-debug $l.so .debug/$l.debug || exit; done &&"
	            "cd .debug && dwz -m common a.debug b.debug && objcopy -g "
	            "--add-gnu-debuglink=a.debug ../a.so ../1.so && cp ../1.so ../alone.so"))
		skip();
	place = place_of(f);
	check_shared(f, "1.so", place, true);
	assert_true(run(f, "mv .debug/common common"));
	check_shared(f, "alone.so", place, false);
}

static void no_lines_no_harm(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	if (!make_library(f, "-g0"))
		skip();
	answer = ask(f, module_of(f, in_dir(f, "a.so")), place_of(f));
	assert_int_equal(answer.nr, 1);
	assert_int_equal(answer.nr_sources, 0);
}

/* -- hostile files ----------------------------------------------------------------------------- */

struct bytes {
	unsigned char *data;
	size_t size;
};

static struct bytes file_read(const char *path)
{
	struct bytes bytes = {0};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_int_equal(fstat(fd, &st), 0);
	bytes.size = (size_t)st.st_size;
	bytes.data = malloc(bytes.size);
	assert_non_null(bytes.data);
	assert_int_equal(pread(fd, bytes.data, bytes.size, 0), bytes.size);
	close(fd);
	return bytes;
}

/*
 * Inlined calls at one address, each of an entry of its own: these are in each other, for all of
 * them, strings or long numbers, lie in the same megabytes.
 */
static const char in_each_other[] =
	"	.text\n	.globl place\n	.skip 256\nplace:	.skip 16\n"
	"	.section .debug_abbrev\n"
	"	.byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0\n"
	"	.byte 2, 0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 11, 0, 0\n"
	"	.byte 4, 0x34, 0, 3, 8, 0, 0\n"     /* a string */
	"	.byte 5, 0x34, 0, 0x13, 15, 0, 0\n" /* a number */
	"	.uleb128 133\n	.byte 0x34, 0, 3, 15, 0, 0, 0\n"
	"	.section .debug_info\n"
	"0:	.long 9f - 1f\n1:	.short 4\n	.long 0\n	.byte 8\n"
	"	.byte 1\n	.quad place\n	.quad 16\n"
	".set at, 0\n"
	".rept 100000\n"
	"	.byte 2\n	.long 2f - 0b + at\n	.quad place\n	.byte 16\n"
	".set at, at + 1\n"
	".endr\n"
	"2:	.fill 16000000, 1, KIND\n	.byte 0, 0\n9:\n";

static void entries_in_each_other(void **state)
{
	static const char *const kinds[] = {"4", "133"};
	struct fixture *f = *state;
	char command[256];

	write_file(f, "a.s", in_each_other);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(command, sizeof(command),
		         "as --defsym KIND=%s a.s -o a.o && cc -shared -nostdlib a.o -o a.so",
		         kinds[i]);
		if (!run(f, command))
			skip();
		alarm(20);
		ask(f, module_of(f, in_dir(f, "a.so")), place_of(f));
		alarm(0);
	}
}

/* Any answer will do, if there is one. */
static void try_bytes(int fd, const struct bytes *bytes, uint32_t place)
{
	struct module_table *table = module_table_new();
	struct symbolizer *symbolizer = symbolizer_new(table);
	char path[32];
	const struct module_file file = {.path = path};
	struct answer answer = {0};
	uint32_t offsets[128], i;

	sprintf(path, "/proc/self/fd/%d", fd);
	assert_int_equal(pwrite(fd, bytes->data, bytes->size, 0), bytes->size);
	for (i = 0; i < 128; i++)
		offsets[i] = place - 64 + i;
	assert_int_equal(symbolizer_module(symbolizer, module_table_file(table, &file), offsets,
	                                   128, keep, &answer),
	                 0);
	symbolizer_free(symbolizer);
	module_table_free(table);
}

static bool is_debug(const struct bytes *bytes, const Elf64_Shdr *section)
{
	const Elf64_Ehdr *ehdr = (const void *)bytes->data;
	const Elf64_Shdr *shdr = (const void *)(bytes->data + ehdr->e_shoff);
	const char *names = (const char *)bytes->data + shdr[ehdr->e_shstrndx].sh_offset;

	return !strncmp(names + section->sh_name, ".debug_", 7) ||
	       !strncmp(names + section->sh_name, ".zdebug", 7);
}

static void damage_section(int fd, struct bytes *bytes, const Elf64_Shdr *section, uint32_t place)
{
	static const unsigned char flips[] = {0x01, 0x80, 0xff, 0x7f, 0x08};
	size_t i, n = 0;
	unsigned char byte;

	for (i = section->sh_offset; i < section->sh_offset + section->sh_size; i++) {
		byte = bytes->data[i];
		bytes->data[i] ^= flips[n++ % sizeof(flips)];
		try_bytes(fd, bytes, place);
		bytes->data[i] = n % 2 ? 0 : 0xff;
		try_bytes(fd, bytes, place);
		bytes->data[i] = byte;
	}
}

/* Every byte of debug information, one after the other. */
static void damage(struct fixture *f, const char *name)
{
	struct bytes bytes = file_read(in_dir(f, name));
	const Elf64_Ehdr *ehdr = (const void *)bytes.data;
	Elf64_Shdr *shdr = malloc(ehdr->e_shnum * sizeof(*shdr));
	int fd = memfd_create("hostile", MFD_CLOEXEC);
	uint32_t place = place_of(f);
	unsigned i, nr = 0;

	memcpy(shdr, bytes.data + ehdr->e_shoff, ehdr->e_shnum * sizeof(*shdr));
	for (i = 0; i < ehdr->e_shnum; i++) {
		if (!is_debug(&bytes, &shdr[i]))
			continue;
		damage_section(fd, &bytes, &shdr[i], place);
		nr++;
	}
	assert_true(nr >= 4);
	close(fd);
	free(shdr);
	free(bytes.data);
}

/* Of a lambda that is left inlined alone its name says nothing: what it is in does, and which it is
 * there.
 */
static void lambdas(void **state)
{
	struct fixture *f = *state;
	struct answer answer;

	write_file(f, "a.c",
	           "#define INLINE __attribute__((always_inline))\n"
	           "namespace ns { namespace {\n"
	           "template <class F> INLINE inline int go(F f, int x) { return f(x); }\n}\n"
	           "struct h { int m(int); };\n"
	           "int h::m(int x)\n{\n"
	           "	auto more = [](int y) INLINE { return y * 3; };\n"
	           "	return go([](int y) INLINE {\n"
	           "		__asm__(\".globl place\\nplace: nop\" : \"+r\"(y)); return y; }, "
	           "x) + "
	           "more(x);\n} }\n");
	if (!run(f, "g++ -x c++ -std=c++17 -shared -fPIC -O1 -g -nostdlib a.c -o a.so"))
		skip();
	answer = ask(f, module_of(f, in_dir(f, "a.so")), place_of(f));
	assert_int_equal(answer.nr_sources, 3);
	assert_string_equal(answer.names[0], "ns::h::m(int)::{lambda#2}::operator()");
	assert_string_equal(answer.names[1],
	                    "ns::(anonymous namespace)::go<ns::h::m(int)::<lambda(int)> >");
	assert_string_equal(answer.name, "ns::h::m(int)");
	if (sizeof(long) == 8)
		damage(f, "a.so");
}

/*
 * A function that is local to its file, in one place inlined and called in another: both are named
 * by the symbol that its own code has.
 */
static void inlined_and_called(void **state)
{
	static const char *const options[] = {"-g", "-gdwarf-4", "-gsplit-dwarf"};
	struct fixture *f = *state;
	char command[128];
	struct answer answer;

	write_file(f, "a.c",
	           "namespace {\n"
	           "template <class T> int local(T x, int how)\n{\n"
	           "	if (__builtin_constant_p(how))\n"
	           "		__asm__(\".globl place\\nplace: nop\" : \"+r\"(x));\n"
	           "	else\n"
	           "		__asm__(\"nop\" : \"+r\"(x));\n"
	           "	return x;\n}\n"
	           "template <class T> __attribute__((noinline)) int around(T x)\n"
	           "{ return local(x, 4) + 1; }\n}\n"
	           "int (*volatile way)(int, int) = local<int>;\n"
	           "int all(int x) { return around(x) + way(x, 3); }\n");
	for (unsigned i = 0; i < 3; i++) {
		snprintf(command, sizeof(command),
		         "g++ -x c++ -shared -fPIC -O2 %s -nostdlib -fno-ipa-cp a.c -o a.so",
		         options[i]);
		if (!run(f, command))
			skip();
		answer = ask(f, module_of(f, in_dir(f, "a.so")), place_of(f));
		assert_int_equal(answer.nr_sources, 2);
		assert_string_equal(answer.names[0],
		                    "int (anonymous namespace)::local<int>(int, int)");
	}
}

static void damaged(void **state)
{
	static const char *const options[] = {"-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gz"};
	struct fixture *f = *state;
	unsigned i;

	for (i = 0; i < 3; i++) {
		if (sizeof(long) != 8 || !make_library(f, options[i]))
			skip();
		damage(f, "a.so");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(known_places),
		TEST(own_program),
		TEST(deep_inlining),
		TEST(dwarf_5),
		TEST(caller_without_addresses),
		TEST(clang),
		TEST(link_time_optimized),
		TEST(function_that_two_units_have),
		TEST(function_of_c_in_cpp),
		TEST(lambdas),
		TEST(inlined_and_called),
		TEST(compressed),
		TEST(compressed_in_a_newer_way),
		TEST(versions),
		TEST(pieces_in_version_2),
		TEST(function_that_the_linker_dropped),
		TEST(separate_file),
		TEST(shared_by_dwz),
		TEST(debug_files_shared_by_dwz),
		TEST(no_lines_no_harm),
		TEST(entries_in_each_other),
		TEST(damaged),
	};

	if (outer(0) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
