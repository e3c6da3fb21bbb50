/* What binutils' addr2line answers for a file, to compare lines and inlined functions with. */
#ifndef TEST_ADDR2LINE_H
#define TEST_ADDR2LINE_H

#include "naming.h"

#define MAX_ADDRS 4000

/* What addr2line prints for an address: function and place in turns. */
struct oracle {
	FILE *text;
	char line[65536];
	unsigned nr, equal, deepest;
};

static inline bool oracle_line(struct oracle *oracle)
{
	if (!fgets(oracle->line, sizeof(oracle->line), oracle->text))
		return false;
	oracle->line[strcspn(oracle->line, "\n")] = '\0';
	return true;
}

static inline bool oracle_seek(struct oracle *oracle, uint32_t offset)
{
	char head[32];

	snprintf(head, sizeof(head), "0x%016x", offset);
	while (strcmp(oracle->line, head) != 0)
		if (!oracle_line(oracle))
			return false;
	return true;
}

/* "/a/b.c:12 (discriminator 3)", "??:?" */
static inline bool place_equal(char *place, const struct source *source)
{
	char *colon = strrchr(place, ':'), real[2][PATH_MAX];

	if (strstr(place, " (discriminator"))
		*strstr(place, " (discriminator") = '\0';
	colon = strrchr(place, ':');
	assert_non_null(colon);
	*colon = '\0';
	/*
	 * Of functions without debug information, as AddressSanitizer makes them, it knows the
	 * symbol's file; a line table that goes on there may name the same.
	 */
	if (!strchr(place, '/'))
		return !source->file || !strcmp(basename(source->file), place);
	if ((uint32_t)strtoul(colon + 1, NULL, 10) != source->line || !source->file)
		return false;
	return !strcmp(place, source->file) ||
	       (realpath(place, real[0]) && realpath(source->file, real[1]) &&
	        !strcmp(real[0], real[1]));
}

/* With the line "0x..." read. Names of inlined functions count, the outermost is the symbol. */
static inline bool chain_equal(struct oracle *oracle, const struct symbol *symbol)
{
	struct source none = {0};
	bool equal = true;
	size_t i = 0;
	char name[65536];
	const struct source *source;

	while (oracle_line(oracle) && strncmp(oracle->line, "0x", 2) != 0) {
		strcpy(name, oracle->line);
		assert_true(oracle_line(oracle));
		source = i < symbol->nr_sources ? &symbol->sources[i] : &none;
		equal &= place_equal(oracle->line, source);
		if (i + 1 < symbol->nr_sources)
			equal &= source->function && !strcmp(source->function, name);
		i++;
	}
	if (i > oracle->deepest)
		oracle->deepest = (unsigned)i;
	return equal && (i == symbol->nr_sources || !symbol->nr_sources);
}

static inline int compare(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct oracle *oracle = arg;
	bool equal;

	assert_true(oracle_seek(oracle, offset));
	equal = chain_equal(oracle, symbol);
	if (!equal && oracle->nr - oracle->equal < 3)
		print_message("%x in %s differs\n", offset, symbol->name);
	oracle->nr++;
	oracle->equal += equal;
	return 0;
}

/* Addresses spread over the code: every step-th byte. */
static inline size_t offsets_make(const struct module *module, uint32_t *offsets)
{
	uint32_t lo = (uint32_t)module->segments[0].vaddr,
		 size = (uint32_t)module->segments[0].size;
	uint32_t step = size / MAX_ADDRS + 1, i;
	size_t n = 0;

	for (i = 64; i < size && n < MAX_ADDRS; i += step)
		offsets[n++] = lo + i;
	return n;
}

static inline bool oracle_start(struct fixture *f, struct oracle *oracle, const char *path,
                                const uint32_t *offsets, size_t n)
{
	FILE *file = fopen(in_dir(f, "addrs"), "we");
	char command[PATH_MAX + 64];
	size_t i;

	for (i = 0; i < n; i++)
		fprintf(file, "%x\n", offsets[i]);
	fclose(file);
	snprintf(command, sizeof(command), "addr2line -afiC -e %s <addrs >lines", path);
	*oracle = (struct oracle){0};
	if (!run(f, command))
		return false;
	oracle->text = fopen(in_dir(f, "lines"), "re");
	return oracle->text != NULL;
}

/*
 * A program's answers must be those of addr2line for asked, another build of the same code or the
 * same file; some chains must be as long as deepest.
 */
static inline void check_against(struct fixture *f, const char *path, const char *asked,
                                 unsigned deepest)
{
	struct module *module = module_of(f, path);
	static uint32_t offsets[MAX_ADDRS];
	static struct oracle oracle;
	size_t n = offsets_make(module, offsets);

	if (!oracle_start(f, &oracle, asked, offsets, n))
		skip();
	assert_int_equal(symbolizer_module(f->symbolizer, module, offsets, n, compare, &oracle), 0);
	fclose(oracle.text);
	print_message("%u of %u equal, chains of %u\n", oracle.equal, oracle.nr, oracle.deepest);
	assert_true(oracle.nr > 300); /* the segment may have data, too */
	assert_true(oracle.deepest >= deepest);
	assert_true(oracle.nr - oracle.equal <= oracle.nr / 1000);
}

/* deep.h: level<N>::f() calls those below, and all of that is inlined. */
static inline void write_levels(struct fixture *f)
{
	static const char text[] =
		"template <int N> struct level {\n"
		"	template <class T> static inline T f(T x)\n"
		"	{\n"
		"		if (x > N * 7)\n"
		"			return level<N - 1>::f(x * 3) ^ N;\n"
		"		return level<N - 1>::f(x + N) + x % (N + 1);\n"
		"	}\n"
		"};\n"
		"template <> struct level<0> {\n"
		"	template <class T> static inline T f(T x) { return x * x; }\n"
		"};\n";

	write_file(f, "deep.h", text);
}

#endif
