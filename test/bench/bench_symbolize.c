/*
 * What naming costs: lines and inlined functions of 100,000 addresses, beside addr2line.
 *
 * The program is made here: C++ with deep inlining, one unit with many entries and many units with
 * few. Another one can be named: bench_symbolize PROGRAM.
 *
 * bench_symbolize --print PROGRAM <ADDRESSES: answers as addr2line -afiC would, for ascending hex
 * addresses. --time in place of --print: how long that takes, without the printing.
 */
#include "bench.h"

#include "symbolize/symbols.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NR_ADDRS 100000

struct question {
	const char *path, *dir;
	uint32_t offsets[NR_ADDRS];
	size_t n;
	size_t sources, lines; /* in the answers */
};

static int count(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct question *question = arg;

	(void)offset;
	question->sources += symbol->nr_sources;
	question->lines += symbol->nr_sources > 0;
	return 0;
}

static double ask(void *arg)
{
	struct question *question = arg;
	const struct module_file file = {.path = question->path, .pid = getpid()};
	struct module_table *table = module_table_new();
	struct symbolizer *symbolizer = symbolizer_new(table);
	uint64_t start = bench_now();

	question->sources = question->lines = 0;
	symbolizer_module(symbolizer, module_table_file(table, &file), question->offsets,
	                  question->n, count, question);
	start = bench_now() - start;
	symbolizer_free(symbolizer);
	module_table_free(table);
	return (double)start / 1e6;
}

static double ask_addr2line(void *arg)
{
	const struct question *question = arg;
	uint64_t start = bench_now();
	char command[8192];

	snprintf(command, sizeof(command), "addr2line -fi -e %s <%s/addrs >/dev/null",
	         question->path, question->dir);
	if (system(command) != 0)
		return 0;
	return (double)(bench_now() - start) / 1e6;
}

static int print(void *arg, uint32_t offset, const struct symbol *symbol)
{
	(void)arg;
	printf("0x%016x\n", offset);
	for (size_t i = 0; i < symbol->nr_sources; i++) {
		const struct source *source = &symbol->sources[i];
		const char *name = source->function;

		if (i + 1 == symbol->nr_sources)
			name = symbol->name;
		printf("%s\n%s:%u\n", name ? name : "??", source->file ? source->file : "??",
		       source->line);
	}
	return 0;
}

static void offsets_read(struct question *question)
{
	while (question->n < NR_ADDRS && scanf("%x", &question->offsets[question->n]) == 1)
		question->n++;
}

static int time_all(struct question *question)
{
	double least = 1e9;

	offsets_read(question);
	for (int i = 0; i < 5; i++)
		least = bench_least(ask, question, least);
	printf("%.0f ms for %zu addresses, %zu with lines, %.2f functions each\n", least,
	       question->n, question->lines,
	       question->lines ? (double)question->sources / (double)question->lines : 0);
	return 0;
}

static int print_all(struct question *question)
{
	const struct module_file file = {.path = question->path, .pid = getpid()};
	struct module_table *table = module_table_new();
	struct symbolizer *symbolizer = symbolizer_new(table);

	offsets_read(question);
	symbolizer_module(symbolizer, module_table_file(table, &file), question->offsets,
	                  question->n, print, NULL);
	symbolizer_free(symbolizer);
	module_table_free(table);
	return 0;
}

static void offsets_make(struct question *question)
{
	const struct module_file file = {.path = question->path, .pid = getpid()};
	struct module_table *table = module_table_new();
	const struct module *module = module_table_file(table, &file);
	uint64_t size = module->segments[0].size, step = size > NR_ADDRS ? size / NR_ADDRS : 1;
	char path[256];
	FILE *addrs;

	snprintf(path, sizeof(path), "%s/addrs", question->dir);
	addrs = fopen(path, "we");
	for (uint64_t at = 0; at < size && question->n < NR_ADDRS; at += step) {
		question->offsets[question->n] = (uint32_t)(module->segments[0].vaddr + at);
		if (addrs)
			fprintf(addrs, "%x\n", question->offsets[question->n]);
		question->n++;
	}
	if (addrs)
		fclose(addrs);
	module_table_free(table);
}

/* Templates that are inlined into each other, and what the standard library does in between. */
static const char unit_text[] =
	"#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n"
	"template <int N> struct level {\n"
	"	template <class T> static inline int f(T x) {\n"
	"		if (x > N) return level<N - 1>::f(x + 1) ^ (int)(x * N);\n"
	"		return level<N - 1>::f(x - 1) + (int)(x %% (N + 1)); } };\n"
	"template <> struct level<0> {\n"
	"	template <class T> static inline int f(T x) { return (int)x; } };\n"
	"template <int I> struct thing {\n"
	"	std::vector<long> v; std::map<std::string, int> m;\n"
	"	int run(int a) {\n"
	"		v.push_back(a * I);\n"
	"		std::sort(v.begin(), v.end(), [](long x, long y) {\n"
	"			return (x ^ I) < (y ^ I); });\n"
	"		m[std::to_string(a + I)] += level<I %% 9 + 2>::f((long)a);\n"
	"		int s = 0;\n"
	"		for (auto &p : m) s += p.second + (int)p.first.size();\n"
	"		return s + level<I %% 7 + 2>::f((short)s); } };\n"
	"template <int I> struct all {\n"
	"	static int run(int a) {\n"
	"		static thing<I> t; return t.run(a) + all<I - 1>::run(a + 1); } };\n"
	"template <> struct all<%d> { static int run(int a) { return a; } };\n"
	"int unit%d(int a) { return all<%d>::run(a); }\n";

#define NR_UNITS 2
#define PER_UNIT 30

static void unit_write(const char *dir, int unit)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/unit%d.cc", dir, unit);
	file = fopen(path, "we");
	if (!file)
		return;
	fprintf(file, unit_text, unit * PER_UNIT, unit, (unit + 1) * PER_UNIT);
	fclose(file);
}

static bool program_make(const char *dir)
{
	char command[1024];
	FILE *file;

	for (int unit = 0; unit < NR_UNITS; unit++)
		unit_write(dir, unit);
	snprintf(command, sizeof(command), "%s/main.cc", dir);
	file = fopen(command, "we");
	if (!file)
		return false;
	for (int unit = 0; unit < NR_UNITS; unit++)
		fprintf(file, "int unit%d(int);\n", unit);
	fputs("int main(int c, char **) { return 0", file);
	for (int unit = 0; unit < NR_UNITS; unit++)
		fprintf(file, " + unit%d(c)", unit);
	fputs("; }\n", file);
	fclose(file);
	snprintf(command, sizeof(command),
	         "cd %s && ls *.cc | xargs -P 2 -I{} g++ -O2 -g -c {} 2>/dev/null && "
	         "g++ *.o -o program",
	         dir);
	return system(command) == 0;
}

static long peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static void measure(struct question *question)
{
	double least = 1e9, addr2line;

	offsets_make(question);
	for (int i = 0; i < 5; i++)
		least = bench_least(ask, question, least);
	addr2line = ask_addr2line(question);
	bench_head("symbolize", "ms");
	bench_figure("names and lines of 100,000 addresses", least, "addr2line -fi", addr2line,
	             "<= 1000");
	printf("  %zu addresses, %zu with lines, %.2f functions each; peak memory %ld MiB\n",
	       question->n, question->lines,
	       question->lines ? (double)question->sources / (double)question->lines : 0,
	       peak_mib());
}

int main(int argc, char **argv)
{
	static struct question question;
	char dir[] = "/tmp/bench_symbolize.XXXXXX", path[128], command[160];

	if (argc == 3 && !strcmp(argv[1], "--print")) {
		question.path = argv[2];
		return print_all(&question);
	}
	if (argc == 3 && !strcmp(argv[1], "--time")) {
		question.path = argv[2];
		return time_all(&question);
	}
	if (!mkdtemp(dir))
		return 1;
	question.dir = dir;
	question.path = argc > 1 ? argv[1] : path;
	snprintf(path, sizeof(path), "%s/program", dir);
	if (argc > 1 || program_make(dir))
		measure(&question);
	else
		puts("symbolize: no g++ to make a program with; name one");
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) != 0;
}
