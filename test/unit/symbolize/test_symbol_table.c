/* Symbol tables, and the two texts that fill them: kallsyms and perf maps. */
#include "cases.h"
#include "symbolize/unwind/arch.h"
#include "symbolize/elf/symbol_table.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/jit/perf_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add(struct symbol_table *table, uint32_t lo, uint32_t hi, unsigned rank,
                const char *name)
{
	const struct table_symbol symbol = {
		.lo = lo, .hi = hi, .rank = (uint8_t)rank, .name = name};

	assert_int_equal(symbol_table_add(table, &symbol), 0);
}

static void is_at(struct symbol_sweep *sweep, uint32_t offset, const char *name)
{
	const struct table_symbol *symbol = symbol_sweep_to(sweep, offset);

	if (!name) {
		assert_null(symbol);
		return;
	}
	assert_non_null(symbol);
	assert_string_equal(symbol->name, name);
}

#define SIZED (SYMBOL_SIZED | SYMBOL_FUNCTION | SYMBOL_LOCAL)

static void nested_and_overlapping(void **state)
{
	struct symbol_table table = {0};
	struct symbol_sweep sweep = {.table = &table};

	(void)state;
	add(&table, 100, 200, SIZED, "outer");
	add(&table, 150, 160, SIZED, "inner");
	add(&table, 190, 220, SIZED, "across");
	add(&table, 300, 300, SIZED, "empty");
	symbol_table_seal(&table);
	is_at(&sweep, 99, NULL);
	is_at(&sweep, 100, "outer");
	is_at(&sweep, 150, "inner");
	is_at(&sweep, 159, "inner");
	is_at(&sweep, 160, "outer");
	is_at(&sweep, 190, "across");
	is_at(&sweep, 219, "across");
	is_at(&sweep, 220, NULL);
	is_at(&sweep, 300, NULL);
	symbol_table_fini(&table);
}

static void best_name(void **state)
{
	struct symbol_table table = {0};
	struct symbol_sweep sweep = {.table = &table};

	(void)state;
	add(&table, 0, 9, SYMBOL_SIZED | SYMBOL_FUNCTION | SYMBOL_WEAK, "weak");
	add(&table, 0, 9, SYMBOL_SIZED | SYMBOL_FUNCTION | SYMBOL_GLOBAL, "global");
	add(&table, 0, 9, SYMBOL_SIZED | SYMBOL_FUNCTION | SYMBOL_LOCAL, "local");
	add(&table, 0, 9, SYMBOL_GLOBAL, "label");
	add(&table, 10, 19, SIZED, "__libc_malloc");
	add(&table, 10, 19, SIZED, "malloc");
	add(&table, 10, 19, SIZED, "__malloc");
	add(&table, 20, 29, SIZED, "short_one");
	add(&table, 20, 39, SYMBOL_SIZED | SYMBOL_LOCAL, "long_one");
	symbol_table_seal(&table);
	is_at(&sweep, 5, "global");
	is_at(&sweep, 15, "malloc");
	is_at(&sweep, 25, "short_one");
	is_at(&sweep, 35, "long_one");
	symbol_table_fini(&table);
}

static void unsized_symbols(void **state)
{
	struct symbol_table table = {0};
	struct symbol_sweep sweep = {.table = &table};

	(void)state;
	add(&table, 0, 1000, SYMBOL_GLOBAL, "first");
	add(&table, 50, 1000, SYMBOL_LOCAL, "second");
	add(&table, 100, 200, SIZED, "function");
	add(&table, 150, 1000, SYMBOL_GLOBAL, "label_in_function");
	add(&table, 500, 1000, SYMBOL_GLOBAL, "last");
	symbol_table_seal(&table);
	is_at(&sweep, 49, "first");
	is_at(&sweep, 99, "second");
	is_at(&sweep, 170, "function");
	is_at(&sweep, 300, NULL);
	is_at(&sweep, 999, "last");
	is_at(&sweep, 1000, NULL);
	symbol_table_fini(&table);
}

/* Sized symbols with distinct starts, against the plain definition. */
static void random_ranges(void **state)
{
	struct symbol_table table = {0};
	struct symbol_sweep sweep = {.table = &table};
	const struct table_symbol *found;
	uint32_t lo[200], hi[200], offset, best;
	unsigned i;

	(void)state;
	srandom(1);
	for (i = 0; i < 200; i++) {
		lo[i] = i * 10 + (uint32_t)random() % 10;
		hi[i] = lo[i] + 1 + (uint32_t)random() % 100;
		add(&table, lo[i], hi[i], SIZED, "x");
	}
	symbol_table_seal(&table);
	for (offset = 0; offset < 2200; offset++) {
		best = UINT32_MAX;
		for (i = 0; i < 200; i++)
			if (lo[i] <= offset && offset < hi[i])
				best = lo[i];
		found = symbol_sweep_to(&sweep, offset);
		assert_int_equal(found ? found->lo : UINT32_MAX, best);
	}
	symbol_table_fini(&table);
}

#define LONG (1 << 20)

/* Each a letter shorter than the one before, in one string: as many compares as letters. */
static void names_in_one_string(void **state)
{
	struct symbol_table table = {0};
	char *names = malloc(LONG + 1);

	(void)state;
	memset(names, '_', LONG);
	names[LONG] = '\0';
	for (uint32_t i = 0; i < 10000; i++)
		add(&table, 0, 9, SIZED, names + i * 7919 % 10000);
	alarm(20);
	symbol_table_seal(&table);
	alarm(0);
	symbol_table_fini(&table);
	free(names);
}

static void read_kallsyms(struct kernel_symbols *kernel, const char *text)
{
	FILE *file = tmpfile();

	fputs(text, file);
	rewind(file);
	assert_int_equal(kernel_symbols_read(kernel, fileno(file)), 0);
	fclose(file);
	symbol_table_seal(&kernel->table);
}

static void kallsyms(void **state)
{
	static const char text[] = "0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000000 T _text\n"
				   "ffffffff81000040 t local_one\n"
				   "ffffffff81000040 W weak_one\n"
				   "ffffffff81000080 D data\n"
				   "ffffffff81000090 D more_data\n"
				   "ffffffff81800000 T far_from_all\n"
				   "ffffffff82000000 T before_end\n"
				   "ffffffff82000010 T _einittext\n"
				   "not a line\n\n"
				   "ffffffffc0321000 t nft_do_chain\t[nf_tables]\n"
				   "ffff888000000000 t elsewhere\n"
				   "1ffffffff81000040 t too_long\n"
				   "ffffffffc0321100 T last";
	static const uint32_t offsets[] = {0x80fffffe, 0x8100003f, 0x81000041, 0x81000081,
	                                   0x8200000f, 0x82000011, 0xc0000000, 0xc03210ff,
	                                   0xc0321100, 0xff5fffff, 0xff600400};
	struct kernel_symbols kernel = {0xffffffff, offsets, sizeof(offsets) / sizeof(*offsets)};
	struct symbol_sweep sweep = {.table = &kernel.table};

	(void)state;
	read_kallsyms(&kernel, text);
	assert_false(kernel.hidden);
	assert_int_equal(kernel.table.nr, 8 + !!ARCH_VSYSCALL);
	is_at(&sweep, 0x80fffffe, NULL);
	is_at(&sweep, 0x8100003f, "_text");
	is_at(&sweep, 0x81000041, "weak_one");
	is_at(&sweep, 0x81000081, NULL);
	is_at(&sweep, 0x8200000f, "before_end");
	is_at(&sweep, 0x82000011, NULL);
	is_at(&sweep, 0xc0000000, NULL);
	is_at(&sweep, 0xc03210ff, "nft_do_chain [nf_tables]");
	is_at(&sweep, 0xc0321100, "last");
	if (ARCH_VSYSCALL) {
		is_at(&sweep, 0xff5fffff, NULL);
		is_at(&sweep, 0xff600400, "[vsyscall]");
	}
	kernel_symbols_fini(&kernel);
}

/* Lines that lie across the end of what was read at once, and lines that are too long. */
static void long_kallsyms(void **state)
{
	static const uint32_t offsets[] = {0x81000010, 0x81004e20};
	struct kernel_symbols kernel = {0xffffffff, offsets, 2};
	struct symbol_sweep sweep = {.table = &kernel.table};
	char *text = malloc(1 << 20), *at = text;

	(void)state;
	at += sprintf(at, "ffffffff81000000 T first_of_all\n");
	for (unsigned i = 1; i <= 5000; i++)
		at += sprintf(at, "ffffffff%08x T %0*u\n", 0x81000000 + 4 * i, (int)(i % 97) + 1,
		              i);
	memset(at, 'x', 200000);
	strcpy(at + 200000, "\nffffffff81004e24 T end\n");
	read_kallsyms(&kernel, text);
	is_at(&sweep, 0x81000010, "00004");
	is_at(&sweep, 0x81004e20, "000000000000000000000000000000000000000000000000005000");
	kernel_symbols_fini(&kernel);
	free(text);
}

static void hidden_kallsyms(void **state)
{
	static const uint32_t offset = 0x81000000;
	struct kernel_symbols kernel = {0xffffffff, &offset, 1}, none = kernel;

	(void)state;
	read_kallsyms(&kernel, "0000000000000000 T _text\n0000000000000000 t local_one\n");
	assert_true(kernel.hidden);
	assert_int_equal(kernel.table.nr, 0);
	kernel_symbols_fini(&kernel);
	read_kallsyms(&none, "");
	assert_false(none.hidden);
	kernel_symbols_fini(&none);
}

/* -- perf maps --------------------------------------------------------------------------------- */

/* What was told, as one line. */
struct told {
	char text[512];
	int answer;
};

static int tell(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct told *told = arg;
	size_t size = strlen(told->text);

	snprintf(told->text + size, sizeof(told->text) - size, "%x=%s[%x,%x) ", offset,
	         symbol->name, symbol->lo, symbol->hi);
	return told->answer;
}

static int look_up(char *text, uint32_t area, const uint32_t *offsets, size_t n, struct told *told)
{
	const struct jit_query query = {area, offsets, n, tell, told};

	return perf_map_lookup(text, &query);
}

static void later_lines_win(void **state)
{
	char text[] = "1000 100 old one\n"
		      "1050 10 inner\n"
		      "10f0 20 new one\n"
		      "1000 0 empty\n"
		      "garbage\n\n"
		      "1040 8 ~JS:*f /a b.js:1:2\n"
		      "1048 8"; /* a line that is still being written */
	const uint32_t offsets[] = {0xfff, 0x1000, 0x1047, 0x1048, 0x1050, 0x1060, 0x10f0, 0x1110};
	struct told told = {0};

	(void)state;
	assert_int_equal(look_up(text, 0, offsets, 8, &told), 0);
	assert_string_equal(told.text, "1000=old one[1000,1100) "
	                               "1047=~JS:*f /a b.js:1:2[1040,1048) "
	                               "1048=old one[1000,1100) "
	                               "1050=inner[1050,1060) "
	                               "1060=old one[1000,1100) "
	                               "10f0=new one[10f0,1110) ");
}

static void map_areas(void **state)
{
	char text[] = "fffffff0 20 across\n7f0012340000 10 high\nffffffffffffff00 ffff past\n";
	char again[sizeof(text)];
	const uint32_t offsets[] = {0x0, 0x12340008, 0xfffffff8};
	struct told told = {0};

	(void)state;
	strcpy(again, text);
	assert_int_equal(look_up(again, 0, offsets, 3, &told), 0);
	strcpy(again, text);
	assert_int_equal(look_up(again, 1, offsets, 3, &told), 0);
	strcpy(again, text);
	assert_int_equal(look_up(again, 0x7f00, offsets, 3, &told), 0);
	strcpy(again, text);
	assert_int_equal(look_up(again, 0xffffffff, offsets, 3, &told), 0);
	assert_string_equal(told.text, "fffffff8=across[fffffff0,ffffffff) 0=across[0,10) "
	                               "12340008=high[12340000,12340010) "
	                               "fffffff8=past[ffffff00,ffffffff) ");
}

/* A number with very many zeroes before it would be read again for each address. */
static void long_numbers_are_none(void **state)
{
	static const char line[] = "0 ffff name\n";
	const size_t zeroes = 8 * LONG;
	char *text = malloc(zeroes + sizeof(line));
	uint32_t offsets[5000];
	struct told told = {0};

	(void)state;
	memset(text, '0', zeroes);
	memcpy(text + zeroes, line, sizeof(line));
	for (uint32_t i = 0; i < 5000; i++)
		offsets[i] = i;
	alarm(20);
	assert_int_equal(look_up(text, 0, offsets, 5000, &told), 0);
	alarm(0);
	assert_string_equal(told.text, "");
	free(text);
}

static void told_once_where_stopped(void **state)
{
	char text[] = "10 20 f\n";
	const uint32_t offsets[] = {0x10, 0x11};
	struct told told = {.answer = 7};

	(void)state;
	assert_int_equal(look_up(text, 0, offsets, 2, &told), 7);
	assert_string_equal(told.text, "10=f[10,30) ");
}

/* A number that no process has, for its files in the folder that all may write to. */
static struct module anon_module(char path[64])
{
	struct module module = {.type = MODULE_ANON, .uid = geteuid()};

	module.pid = module.ns_pid = 0x40000000 + getpid();
	sprintf(path, "/tmp/perf-%d.map", module.pid);
	unlink(path);
	return module;
}

static void map_file_write(const char *path)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs("10 20 f\n", file);
	fclose(file);
}

static void map_of_its_owner(void **state)
{
	char path[64], *text;
	struct module module = anon_module(path);
	uint64_t left = 8;

	(void)state;
	assert_null(perf_map_read(&module, &left));
	map_file_write(path);
	text = perf_map_read(&module, &left);
	assert_string_equal(text, "10 20 f\n");
	free(text);
	assert_null(perf_map_read(&module, &left)); /* what may be read of all maps is used up */
	assert_int_equal(errno, EFBIG);
	module.ns_pid = 1; /* in a container that is gone: not the file of our own number 1 */
	assert_null(perf_map_read(&module, &left));
	unlink(path);
}

static void map_of_another(void **state)
{
	char path[64];
	struct module module = anon_module(path);
	uint64_t left = 8;

	(void)state;
	map_file_write(path);
	if (!geteuid())
		assert_int_equal(chown(path, 65534, 65534), 0);
	module.uid = 12345;
	assert_null(perf_map_read(&module, &left));
	module.uid = (uid_t)-1;
	assert_null(perf_map_read(&module, &left));
	unlink(path);
}

static void map_of_another_kind(void **state)
{
	char path[64];
	struct module module = anon_module(path);
	uint64_t left = 8;

	(void)state;
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_null(perf_map_read(&module, &left));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(perf_map_read(&module, &left));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_and_overlapping), cmocka_unit_test(best_name),
		cmocka_unit_test(unsized_symbols),        cmocka_unit_test(random_ranges),
		cmocka_unit_test(names_in_one_string),    cmocka_unit_test(kallsyms),
		cmocka_unit_test(long_kallsyms),          cmocka_unit_test(hidden_kallsyms),
		cmocka_unit_test(later_lines_win),        cmocka_unit_test(map_areas),
		cmocka_unit_test(long_numbers_are_none),  cmocka_unit_test(told_once_where_stopped),
		cmocka_unit_test(map_of_its_owner),       cmocka_unit_test(map_of_another),
		cmocka_unit_test(map_of_another_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
