/* Debug information beside the program (-gsplit-dwarf), and files that only have its name. */
#include "addr2line.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Two units with chains of inlined calls; the first has functions in pieces, and so ranges. */
static const char main_cc[] = "#include \"deep.h\"\n"
			      "int other(int);\n"
			      "static int a[64];\n"
			      "static inline int twice(int k) { return level<3>::f(k) * 2; }\n"
			      "int main(int argc, char **)\n"
			      "{\n"
			      "	int s = 0;\n"
			      "	for (int i = 0; i < 64; i++)\n"
			      "		s += level<5>::f(a[i]) + twice(other(argc));\n"
			      "	return s & 127;\n"
			      "}\n";
static const char other_cc[] = "#include \"deep.h\"\n"
			       "static inline int quiet(int x) { return level<2>::f(x); }\n"
			       "int other(int x) { return quiet(x) + 1; }\n";

/*
 * The same code twice: "split", and "whole" for addr2line, which reads no split units, and in
 * version 5 hardly anything that clang writes.
 */
static bool make_program(struct fixture *f, const char *compiler)
{
	const char *whole = *compiler == 'c' ? "clang++ -gdwarf-4" : compiler;
	char command[1024];

	write_levels(f);
	write_file(f, "main.cc", main_cc);
	write_file(f, "other.cc", other_cc);
	snprintf(command, sizeof(command),
	         "mkdir -p objects/a && cd objects && for f in main other; do "
	         "%s -O2 -gsplit-dwarf -c $OLDPWD/$f.cc -o a/$f.o &&"
	         "%s -O2 -c $OLDPWD/$f.cc -o $f-whole.o; done && cd .. &&"
	         "%s objects/a/main.o objects/a/other.o -o split &&"
	         "%s objects/main-whole.o objects/other-whole.o -o whole",
	         compiler, whole, compiler, whole);
	return run(f, command);
}

static const char *const compilers[] = {"g++ -gdwarf-4", "g++ -gdwarf-5", "clang++ -gdwarf-4",
                                        "clang++ -gdwarf-5"};

/*
 * With units of types of their own, in as many sections where g++ wrote them. Neither addr2line nor
 * LLVM reads all of this; the program without them has the same code.
 */
static const char *const with_types[] = {"g++ -gdwarf-5", "clang++ -gdwarf-5"};

static void check(struct fixture *f, const char *program)
{
	char path[128], asked[128];

	strcpy(path, in_dir(f, program));
	strcpy(asked, in_dir(f, "whole"));
	check_against(f, path, asked, 4);
}

static void beside_the_objects(void **state)
{
	struct fixture *f = *state;
	unsigned i, nr = 0;
	char move[64], name[16];

	for (i = 0; i < sizeof(compilers) / sizeof(*compilers); i++) {
		if (!make_program(f, compilers[i]))
			continue;
		/* Under another name, as modules are kept. */
		snprintf(name, sizeof(name), "split-%u", i);
		snprintf(move, sizeof(move), "mv split %s", name);
		assert_true(run(f, move));
		check(f, name);
		nr++;
	}
	if (!nr)
		skip();
}

static void with_units_of_types(void **state)
{
	struct fixture *f = *state;
	char command[512], name[16];
	unsigned i, nr = 0;

	for (i = 0; i < sizeof(with_types) / sizeof(*with_types); i++) {
		snprintf(command, sizeof(command),
		         "cd objects && for f in main other; do %s -fdebug-types-section -O2 "
		         "-gsplit-dwarf -c $OLDPWD/$f.cc -o a/$f.o; done && cd .. &&"
		         "g++ objects/a/main.o objects/a/other.o -o types-%u",
		         with_types[i], i);
		snprintf(name, sizeof(name), "types-%u", i);
		if (!make_program(f, with_types[i]) || !run(f, command))
			continue;
		check(f, name);
		nr++;
	}
	if (!nr)
		skip();
}

/*
 * One file for each compiler whose packages there is a tool for. For version 5 of g++ there is
 * none: dwp of binutils 2.40 falls over its files, and llvm-dwp 14, 16 and 19 do not come to an
 * end.
 */
static void in_a_package(void **state)
{
	static const char *const made_by[][2] = {
		{"g++ -gdwarf-4", "dwp -e split -o p/split.dwp"},
		{"g++ -gdwarf-4", "llvm-dwp -e split -o p/split.dwp"},
		{"clang++ -gdwarf-5", "llvm-dwp -e split -o p/split.dwp"},
	};
	struct fixture *f = *state;
	char command[256], name[16];
	unsigned i, nr = 0;

	for (i = 0; i < sizeof(made_by) / sizeof(*made_by); i++) {
		snprintf(command, sizeof(command),
		         "rm -rf p p%u && mkdir p && timeout 20 %s && cp split p/ && mv p p%u &&"
		         "rm -r objects/a",
		         i, made_by[i][1], i);
		snprintf(name, sizeof(name), "p%u/split", i);
		if (!make_program(f, made_by[i][0]) || !run(f, command))
			continue;
		check(f, name);
		nr++;
	}
	if (!nr)
		skip();
}

/* As it is when program and .dwo files were copied to another machine. */
static void in_the_folder_of_the_program(void **state)
{
	struct fixture *f = *state;

	if (!make_program(f, "g++ -gdwarf-5") ||
	    !run(f, "mkdir b && cp split objects/a/*.dwo b/ && mkdir c && mv objects/a c/ &&"
	            "cp split c/ && rm -r objects"))
		skip();
	check(f, "b/split");
	check(f, "c/split");
}

/* -- files that are not it --------------------------------------------------------------------- */

static const char code[] = "static inline __attribute__((always_inline)) int in(int x)\n"
			   "{\n"
			   "	__asm__(\".globl place\\nplace: nop\" : \"+r\"(x));\n"
			   "	return x;\n"
			   "}\n"
			   "int NAME(int x)\n"
			   "{\n"
			   "	return in(x) + 1;\n"
			   "}\n";

static bool make_library(struct fixture *f, const char *options, const char *name)
{
	char command[512];

	write_file(f, "a.c", code);
	snprintf(command, sizeof(command),
	         "cc -fPIC -O1 -gsplit-dwarf %s -c a.c &&"
	         "cc -shared -nostdlib -Wl,--build-id=sha1 a.o -o %s",
	         options, name);
	return run(f, command);
}

struct answer {
	size_t nr_sources;
	uint32_t line;
	char inner[64];
};

static int tell(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct answer *answer = arg;

	(void)offset;
	answer->nr_sources = symbol->nr_sources;
	if (!symbol->nr_sources)
		return 0;
	answer->line = symbol->sources[0].line;
	snprintf(answer->inner, sizeof(answer->inner), "%s",
	         symbol->sources[0].function ? symbol->sources[0].function : "");
	return 0;
}

static uint32_t place_of(struct fixture *f, const char *name)
{
	char command[128];
	unsigned value = 0;
	FILE *file;

	snprintf(command, sizeof(command), "nm %s | grep ' place$' >place", name);
	assert_true(run(f, command));
	file = fopen(in_dir(f, "place"), "re");
	assert_int_equal(fscanf(file, "%x", &value), 1);
	fclose(file);
	return value;
}

/* Nothing is kept between two questions, of what was read for the first. */
static struct answer ask(struct fixture *f, const char *name, uint32_t place)
{
	struct answer answer = {0};
	struct module *module = module_of(f, in_dir(f, name));

	assert_int_equal(symbolizer_module(f->symbolizer, module, &place, 1, tell, &answer), 0);
	return answer;
}

static void check_refused(struct fixture *f, const char *command, uint32_t place)
{
	struct symbolizer_stats before, after;
	struct answer answer;

	symbolizer_stats(f->symbolizer, &before);
	assert_true(run(f, command));
	answer = ask(f, "a.so", place);
	assert_int_equal(answer.line, 3);
	assert_int_equal(answer.nr_sources, 1);
	symbolizer_stats(f->symbolizer, &after);
	assert_int_equal(after.split_missing, before.split_missing + 1);
}

static void what_only_has_the_name(void **state)
{
	static const char *const others[] = {
		"rm a.dwo", "mkfifo a.dwo",       "rm a.dwo && ln -s /dev/zero a.dwo",
		"rm a.dwo", "mkdir a.dwo",        "rmdir a.dwo && cp other a.dwo",
		": >a.dwo", "cp /bin/true a.dwo", "cp a.so a.dwo",
		"rm a.dwo", "cp other a.so.dwp",  "rm a.so.dwp && mkfifo a.so.dwp",
	};
	struct fixture *f = *state;
	struct answer answer;
	uint32_t place;
	size_t i;

	if (!make_library(f, "-gdwarf-5 -DNAME=a", "a.so") || !run(f, "cp a.dwo good") ||
	    !make_library(f, "-gdwarf-5 -DNAME=b", "b.so") ||
	    !run(f, "mv a.dwo other && cp good a.dwo"))
		skip();
	place = place_of(f, "a.so");
	answer = ask(f, "a.so", place);
	assert_int_equal(answer.nr_sources, 2);
	assert_string_equal(answer.inner, "in");
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		check_refused(f, others[i], place);
	assert_true(run(f, "rm a.so.dwp && cp good a.dwo"));
	assert_int_equal(ask(f, "a.so", place).nr_sources, 2);
}

/* -- damage ------------------------------------------------------------------------------------ */

/* Every byte of a file, one after the other: any answer will do, if there is one. */
static void damage(struct fixture *f, const char *file, const char *program)
{
	static const unsigned char flips[] = {0x01, 0x80, 0xff, 0x7f, 0x08};
	const uint32_t place = place_of(f, program);
	int fd = open(in_dir(f, file), O_RDWR | O_CLOEXEC);
	unsigned char byte, wrong;
	struct stat st;
	off_t i;

	assert_int_equal(fstat(fd, &st), 0);
	for (i = 0; i < st.st_size; i++) {
		assert_int_equal(pread(fd, &byte, 1, i), 1);
		wrong = byte ^ flips[i % (off_t)sizeof(flips)];
		assert_int_equal(pwrite(fd, &wrong, 1, i), 1);
		ask(f, program, place);
		wrong = i % 2 ? 0 : 0xff;
		assert_int_equal(pwrite(fd, &wrong, 1, i), 1);
		ask(f, program, place);
		assert_int_equal(pwrite(fd, &byte, 1, i), 1);
	}
	close(fd);
	assert_int_equal(ask(f, program, place).nr_sources, 2);
}

static void damaged(void **state)
{
	static const char *const options[] = {"-gdwarf-4 -DNAME=a", "-gdwarf-5 -DNAME=a"};
	struct fixture *f = *state;
	unsigned i;

	for (i = 0; i < 2; i++) {
		if (!make_library(f, options[i], i ? "b.so" : "a.so"))
			skip();
		damage(f, "a.dwo", i ? "b.so" : "a.so");
	}
}

static void damaged_package(void **state)
{
	struct fixture *f = *state;

	if (!make_library(f, "-gdwarf-4 -DNAME=a", "a.so") ||
	    !run(f, "timeout 20 dwp -e a.so -o a.so.dwp && rm a.dwo"))
		skip();
	damage(f, "a.so.dwp", "a.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(beside_the_objects),     TEST(with_units_of_types),
		TEST(in_a_package),           TEST(in_the_folder_of_the_program),
		TEST(what_only_has_the_name), TEST(damaged),
		TEST(damaged_package),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
