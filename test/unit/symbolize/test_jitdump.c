/* Jitdumps: code that comes and goes, its lines, and files that lie. */
#include "cases.h"
#include "symbolize/jit/jitdump.h"
#include "symbolize/modules/jitdump_files.h"
#include "symbolize/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define AREA 0x7f3bu
#define BASE ((uint64_t)AREA << 32)

/* A file as a process writes it. */
struct dump {
	unsigned char bytes[4096];
	size_t size;
};

static void put(struct dump *dump, const void *bytes, size_t size)
{
	assert_true(dump->size + size <= sizeof(dump->bytes));
	memcpy(dump->bytes + dump->size, bytes, size);
	dump->size += size;
}

static void put_u32(struct dump *dump, uint32_t value)
{
	put(dump, &value, sizeof(value));
}

static void put_u64(struct dump *dump, uint64_t value)
{
	put(dump, &value, sizeof(value));
}

static void head(struct dump *dump)
{
	*dump = (struct dump){0};
	put_u32(dump, 0x4a695444);
	put_u32(dump, 1);
	put_u32(dump, 40);
	put_u32(dump, 62);
	put_u32(dump, 0);
	put_u32(dump, 1234);
	put_u64(dump, 1);
	put_u64(dump, 0);
}

static void load(struct dump *dump, uint32_t addr, uint32_t size, uint64_t index, const char *name)
{
	put_u32(dump, 0);
	put_u32(dump, (uint32_t)(56 + strlen(name) + 1 + 8));
	put_u64(dump, 2);
	put_u32(dump, 1234);
	put_u32(dump, 1234);
	put_u64(dump, BASE | addr);
	put_u64(dump, BASE | addr);
	put_u64(dump, size);
	put_u64(dump, index);
	put(dump, name, strlen(name) + 1);
	put_u64(dump, 0xcccccccccccccccc); /* the code */
}

static void move(struct dump *dump, uint32_t from, uint32_t to, uint32_t size, uint64_t index)
{
	put_u32(dump, 1);
	put_u32(dump, 64);
	put_u64(dump, 3);
	put_u32(dump, 1234);
	put_u32(dump, 1234);
	put_u64(dump, BASE | to);
	put_u64(dump, BASE | from);
	put_u64(dump, BASE | to);
	put_u64(dump, size);
	put_u64(dump, index);
}

/* Three lines, the second in the same file as the first. */
static void debug(struct dump *dump, uint32_t addr, uint32_t shift, const char *file)
{
	const char *const files[] = {file, "\xff", "b.js"};
	uint32_t i, size = 32;

	for (i = 0; i < 3; i++)
		size += 16 + (uint32_t)strlen(files[i]) + 1;
	put_u32(dump, 2);
	put_u32(dump, size);
	put_u64(dump, 2);
	put_u64(dump, BASE | addr);
	put_u64(dump, 3);
	for (i = 0; i < 3; i++) {
		put_u64(dump, (BASE | addr) + shift + 4 * i);
		put_u32(dump, 10 + i);
		put_u32(dump, 0);
		put(dump, files[i], strlen(files[i]) + 1);
	}
}

struct answer {
	uint32_t offset, lo, hi, line;
	char name[64], file[64];
};

struct answers {
	struct answer answers[64];
	unsigned nr;
};

static int tell(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct answers *answers = arg;
	struct answer *answer = &answers->answers[answers->nr % 64];

	assert_true(!answers->nr || answers->answers[(answers->nr - 1) % 64].offset < offset);
	assert_true(symbol->lo <= offset && offset < symbol->hi);
	answers->nr++;
	*answer = (struct answer){.offset = offset, .lo = symbol->lo, .hi = symbol->hi};
	snprintf(answer->name, sizeof(answer->name), "%s", symbol->name);
	if (symbol->nr_sources) {
		snprintf(answer->file, sizeof(answer->file), "%s", symbol->sources->file);
		answer->line = symbol->sources->line;
	}
	return 0;
}

/* left: how many bytes may be read. */
static int lookup_within(const struct dump *dump, const uint32_t *offsets, size_t n, uint64_t *left,
                         struct answers *answers)
{
	const struct jit_query query = {AREA, offsets, n, tell, answers};
	int fd = memfd_create("jitdump", MFD_CLOEXEC), err;

	assert_int_equal(write(fd, dump->bytes, dump->size), dump->size);
	*answers = (struct answers){0};
	err = jitdump_lookup(fd, &query, left);
	close(fd);
	return err;
}

static int lookup(const struct dump *dump, const uint32_t *offsets, size_t n,
                  struct answers *answers)
{
	uint64_t left = UINT64_MAX;

	return lookup_within(dump, offsets, n, &left, answers);
}

static void the_last_load_wins(void **state)
{
	static const uint32_t offsets[] = {0xfff, 0x1000, 0x103f, 0x1040, 0x2000, 0x20ff};
	struct answers answers;
	struct dump dump;

	(void)state;
	head(&dump);
	load(&dump, 0x1000, 0x100, 1, "old");
	load(&dump, 0x2000, 0x100, 2, "other");
	load(&dump, 0x1000, 0x40, 3, "new");
	assert_int_equal(lookup(&dump, offsets, 6, &answers), 0);
	assert_int_equal(answers.nr, 5);
	assert_string_equal(answers.answers[0].name, "new");
	assert_string_equal(answers.answers[1].name, "new");
	assert_int_equal(answers.answers[1].hi, 0x1040);
	assert_string_equal(answers.answers[2].name, "old");
	assert_string_equal(answers.answers[3].name, "other");
	assert_string_equal(answers.answers[4].name, "other");
	assert_int_equal(answers.answers[4].line, 0);
}

/* For each 4 GiB with code of its process a file is read again, but not for ever. */
static void no_more_than_allowed(void **state)
{
	static const uint32_t offset = 0x1000;
	uint64_t left = 1 << 24, before;
	struct answers answers;
	struct dump dump;

	(void)state;
	head(&dump);
	load(&dump, 0x1000, 0x100, 1, "f");
	assert_int_equal(lookup_within(&dump, &offset, 1, &left, &answers), 0);
	assert_int_equal(answers.nr, 1);
	assert_in_range(left, 1, (1 << 24) - dump.size);
	before = left = dump.size - 1;
	assert_int_equal(lookup_within(&dump, &offset, 1, &left, &answers), -EFBIG);
	assert_int_equal(answers.nr, 0);
	assert_int_equal(left, before);
}

/* f at 0x1000 and g at 0x2000. */
static void load_two(struct dump *dump)
{
	load(dump, 0x1000, 0x100, 1, "f");
	load(dump, 0x2000, 0x100, 2, "g");
}

static void moved_code(void **state)
{
	static const uint32_t offsets[] = {0x1000, 0x3010, 0x4010};
	struct answers answers;
	struct dump dump;

	(void)state;
	head(&dump);
	load_two(&dump);
	move(&dump, 0x2000, 0x3000, 0x100, 2);
	move(&dump, 0x2000, 0x4000, 0x100, 7); /* what was never loaded */
	assert_int_equal(lookup(&dump, offsets, 3, &answers), 0);
	assert_int_equal(answers.nr, 2);
	assert_string_equal(answers.answers[0].name, "f");
	assert_string_equal(answers.answers[1].name, "g");
}

/* Code that was loaded after other code had moved, and code that moves again. */
static void later_moves(void **state)
{
	static const uint32_t offsets[] = {0x3010, 0x5010, 0x6010, 0x7010};
	struct answers answers;
	struct dump dump;

	(void)state;
	head(&dump);
	load_two(&dump);
	move(&dump, 0x1000, 0x3000, 0x100, 1);
	load(&dump, 0x4000, 0x100, 3, "h");
	move(&dump, 0x4000, 0x5000, 0x100, 3);
	move(&dump, 0x3000, 0x6000, 0x100, 1);
	move(&dump, 0x2000, 0x7000, 0x100, 2);
	assert_int_equal(lookup(&dump, offsets, 4, &answers), 0);
	assert_int_equal(answers.nr, 4);
	assert_string_equal(answers.answers[0].name, "f");
	assert_string_equal(answers.answers[1].name, "h");
	assert_string_equal(answers.answers[2].name, "f");
	assert_string_equal(answers.answers[3].name, "g");
}

static void check_lines(uint32_t shift)
{
	static const uint32_t offsets[] = {0x1000, 0x1003, 0x1004, 0x1009, 0x2000};
	struct answers answers;
	struct dump dump;

	head(&dump);
	debug(&dump, 0x1000, shift, "a.js");
	load_two(&dump);
	assert_int_equal(lookup(&dump, offsets, 5, &answers), 0);
	assert_int_equal(answers.nr, 5);
	assert_int_equal(answers.answers[0].line, 10);
	assert_int_equal(answers.answers[1].line, 10);
	assert_int_equal(answers.answers[2].line, 11);
	assert_string_equal(answers.answers[2].file, "a.js");
	assert_int_equal(answers.answers[3].line, 12);
	assert_string_equal(answers.answers[3].file, "b.js");
	assert_int_equal(answers.answers[4].line, 0);
}

static void lines(void **state)
{
	(void)state;
	check_lines(0);
	check_lines(0x40); /* as V8 writes them */
}

static void nonsense_for_lines(void **state)
{
	static const uint32_t offset = 0x1001;
	struct answers answers;
	struct dump dump;

	(void)state;
	head(&dump);
	debug(&dump, 0x1000, 0, "\xf3\xfb\x02");
	load(&dump, 0x1000, 0x100, 1, "f");
	assert_int_equal(lookup(&dump, &offset, 1, &answers), 0);
	assert_string_equal(answers.answers[0].name, "f");
	assert_int_equal(answers.answers[0].line, 0);
}

static void other_areas(void **state)
{
	static const uint32_t offsets[] = {0, 15, 16};
	struct answers answers;
	struct dump dump;

	(void)state;
	head(&dump);
	load(&dump, 0, 16, 1, "here");
	assert_int_equal(lookup(&dump, offsets, 3, &answers), 0);
	assert_int_equal(answers.nr, 2);
	head(&dump);
	assert_int_equal(lookup(&dump, offsets, 3, &answers), -ENOENT);
	dump.bytes[0] ^= 1;
	assert_int_equal(lookup(&dump, offsets, 3, &answers), -ENOENT);
	dump.size = 0;
	assert_int_equal(lookup(&dump, offsets, 3, &answers), -ENOENT);
}

/* Any answer will do, if there is one. */
static void damaged(void **state)
{
	static const unsigned char flips[] = {0x01, 0x80, 0xff, 0x7f};
	struct dump good, bad;
	struct answers answers;
	uint32_t offsets[64];
	size_t i;
	int err;

	(void)state;
	head(&good);
	debug(&good, 0x1000, 0, "a.js");
	load(&good, 0x1000, 0x100, 1, "f");
	load(&good, 0x1080, 0x100, 2, "g");
	move(&good, 0x1080, 0x1040, 0x10, 2);
	for (i = 0; i < 64; i++)
		offsets[i] = 0x0f80 + 8 * (uint32_t)i;
	for (i = 0; i < 4 * good.size; i++) {
		bad = good;
		bad.bytes[i / 4] ^= flips[i % 4];
		err = lookup(&bad, offsets, 64, &answers);
		assert_true(!err || err == -ENOENT);
		bad.size = i / 4;
		lookup(&bad, offsets, 64, &answers);
	}
}

/* -- whose file it is -------------------------------------------------------------------------- */

static void add(struct jitdump_files *files, const char *path)
{
	const struct module_file file = {.path = path, .pid = getpid()};

	jitdump_files_add(files, &file, NULL);
}

static void whose_file(void **state)
{
	struct jitdump_files files = {0};
	char dir[] = "/tmp/test_jitdump.XXXXXX", path[64], other[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/jit-12.dump", dir);
	snprintf(other, sizeof(other), "%s/jit-13.dump", dir);
	add(&files, path);
	add(&files, "/etc/passwd");
	add(&files, "jit-12.dump");
	assert_int_equal(files.nr, 0);
	assert_int_equal(mkfifo(other, 0600), 0);
	add(&files, other);
	assert_int_equal(unlink(other), 0);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(symlink(path, other), 0);
	add(&files, other);
	assert_int_equal(files.nr, 0);
	add(&files, path);
	add(&files, path);
	assert_int_equal(files.nr, 1);
	assert_non_null(jitdump_files_find(&files, getpid()));
	assert_null(jitdump_files_find(&files, 1));
	jitdump_files_close(&files);
	/* Another user's. */
	if (!geteuid() && !chown(path, 1234, 1234)) {
		add(&files, path);
		assert_int_equal(files.nr, 0);
	}
	unlink(other);
	unlink(path);
	rmdir(dir);
}

/* -- what the symbolizer makes of it ----------------------------------------------------------- */

static void write_bytes(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static struct answers ask(struct symbolizer *symbolizer, struct module *module)
{
	static const uint32_t offsets[] = {0x1005, 0x1100};
	struct answers answers = {0};

	assert_int_equal(symbolizer_module(symbolizer, module, offsets, 2, tell, &answers), 0);
	return answers;
}

/* It goes before a perf map, which has no lines; one that names no code leaves that to the map. */
static void code_has_its_names(void **state)
{
	struct module_table *table = module_table_new();
	struct symbolizer *symbolizer = symbolizer_new(table);
	struct module *module = module_table_anon(table, getpid(), BASE | 0x1000);
	char dir[] = "/tmp/test_jitdump.XXXXXX", path[64], map[64];
	static const char names[] = "7f3b00001000 20 mapped\n7f3b00001100 20 other\n";
	struct answers answers;
	struct dump dump;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/jit-12.dump", dir);
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	write_bytes(map, names, strlen(names));
	head(&dump);
	write_bytes(path, dump.bytes, dump.size);
	add(module_table_jitdumps(table), path);
	answers = ask(symbolizer, module);
	assert_int_equal(answers.nr, 2);
	assert_string_equal(answers.answers[0].name, "mapped");
	debug(&dump, 0x1000, 0, "a.js");
	load(&dump, 0x1000, 0x20, 1, "_ZN1a1bEi");
	write_bytes(path, dump.bytes, dump.size);
	answers = ask(symbolizer, module);
	assert_int_equal(answers.nr, 1);
	assert_string_equal(answers.answers[0].name, "a::b(int)");
	assert_string_equal(answers.answers[0].file, "a.js");
	assert_int_equal(answers.answers[0].line, 11);
	/* That of another process, or of the other half of memory. */
	assert_int_equal(ask(symbolizer, module_table_anon(table, getpid(), 0x1000)).nr, 0);
	assert_int_equal(ask(symbolizer, module_table_anon(table, 1, BASE | 0x1000)).nr, 0);
	unlink(map);
	unlink(path);
	rmdir(dir);
	symbolizer_free(symbolizer);
	module_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_load_wins),
		cmocka_unit_test(no_more_than_allowed),
		cmocka_unit_test(moved_code),
		cmocka_unit_test(later_moves),
		cmocka_unit_test(lines),
		cmocka_unit_test(nonsense_for_lines),
		cmocka_unit_test(other_areas),
		cmocka_unit_test(damaged),
		cmocka_unit_test(whose_file),
		cmocka_unit_test(code_has_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
