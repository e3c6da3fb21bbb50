/* Callers, callees and code of a function, against what every single sample says. */
#include "page.h"
#include "trace_world.h"
#include "lies.h"

#include "output/views/annotation.h"
#include "output/views/function_choice.h"
#include "output/profile/profile_view.h"
#include "output/report/report.h"
#include "output/views/report_rows.h"
#include "symbolize/modules/module.h"
#include "trace_symbols.h"

enum { TEXT = 1200, MAX_FRAMES = MAX_DEPTH + 2, MAX_SUMS = 200000 };

/* "a" and "b" are there several times, so that stacks have them twice; "c" in two modules. */
static const struct named_range ranges[] = {
	{1, 0, 20, "ns::leaf(int)"},
	{1, 20, 40, ""},
	{2, 0, 16, "start"},
	{2, 16, 32, "a"},
	{2, 32, 48, "b"},
	{2, 48, 64, "a"},
	{2, 64, 80, "c"},
	{2, 80, 96, "b"},
	{2, 96, 112, ""},
	{2, 112, 200, "deep"},
	{3, 0, 25, "c"},
	{3, 25, 50, "ns::leaf(int)"},
};

static struct trace *record(struct world *w, size_t nr)
{
	world_open(w, 256 << 10);
	put_many(w, nr);
	tables_run(w->tables)->flags = TRACE_RUN_CGROUP;
	for (uint16_t i = 1; i < 4; i++)
		tables_module(w->tables, i)->type = MODULE_FILE;
	return world_named(w, ranges, sizeof(ranges) / sizeof(*ranges));
}

/* --- the oracle ------------------------------------------------------------------------------- */

struct sum {
	char *path;
	uint64_t total, self;
};

struct sums {
	struct sum *all;
	size_t nr;
};

static int compare_sums(const void *a, const void *b)
{
	return strcmp(((const struct sum *)a)->path, ((const struct sum *)b)->path);
}

static void sums_add(struct sums *sums, const char *path, uint64_t total, uint64_t self)
{
	if (!sums->all)
		sums->all = calloc(MAX_SUMS, sizeof(*sums->all));
	assert_true(sums->nr < MAX_SUMS);
	sums->all[sums->nr++] = (struct sum){strdup(path), total, self};
}

static void sums_unite(struct sums *sums)
{
	size_t nr = 0;

	if (sums->nr)
		qsort(sums->all, sums->nr, sizeof(*sums->all), compare_sums);
	for (size_t i = 0; i < sums->nr; i++) {
		if (nr && !strcmp(sums->all[nr - 1].path, sums->all[i].path)) {
			sums->all[nr - 1].total += sums->all[i].total;
			sums->all[nr - 1].self += sums->all[i].self;
			free(sums->all[i].path);
		} else {
			sums->all[nr++] = sums->all[i];
		}
	}
	sums->nr = nr;
}

static void sums_free(struct sums *sums)
{
	for (size_t i = 0; i < sums->nr; i++)
		free(sums->all[i].path);
	free(sums->all);
}

static const char *symbol_of(uint64_t frame)
{
	static char text[64];

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		const struct named_range *range = &ranges[i];
		const char *path = module_paths[range->module];

		if (frame >> 32 != range->module || (uint32_t)frame < range->lo ||
		    (uint32_t)frame >= range->hi)
			continue;
		if (*range->name)
			return range->name;
		sprintf(text, "%s+0x%x", strrchr(path, '/') + 1, range->lo);
		return text;
	}
	sprintf(text, "%llx", (unsigned long long)frame);
	return text;
}

static char *frame_path(char *at, uint64_t frame)
{
	return at + sprintf(at, "/%s@%s", symbol_of(frame),
	                    frame >> 32 ? module_paths[frame >> 32] : "");
}

/* One sample's paths from the function on, in one direction. */
static void add_paths(struct sums *sums, struct profile_view *view, const uint64_t *frames,
                      size_t depth, uint64_t weight)
{
	size_t outermost = depth, last, step;
	char path[TEXT], *at = path;

	for (size_t i = 0; i < depth; i++)
		if (!strcmp(symbol_of(frames[i]), view->function))
			outermost = i;
	if (outermost == depth)
		return;
	view->total += weight;
	last = view->direction == PROFILE_CALLERS ? depth - 1 - outermost : outermost;
	for (step = 0; step <= last && step < view->max_depth; step++) {
		at = frame_path(at, frames[view->direction == PROFILE_CALLERS ? outermost + step
		                                                              : outermost - step]);
		sums_add(sums, path, weight, step == last ? weight : 0);
	}
}

static void oracle(struct sums *sums, struct profile_view *view, const struct trace *trace)
{
	struct trace_walk *walk = trace_walk_new(trace, 0);
	uint64_t frames[MAX_FRAMES];
	struct trace_sample sample;

	while (trace_walk_next(walk, &sample) == 1) {
		size_t depth = trace_stack(trace, &sample, frames, MAX_FRAMES);

		add_paths(sums, view, frames, depth, sample.weight);
		if (strcmp(symbol_of(frames[0]), view->function) != 0)
			continue;
		view->self += sample.weight;
		view->samples++;
	}
	trace_walk_free(walk);
	sums_unite(sums);
}

/* --- what is compared ------------------------------------------------------------------------- */

static char *node_path(char *at, const struct profile *profile, uint32_t node)
{
	if (profile->nodes[profile->nodes[node].parent].parent != PROFILE_NONE)
		at = node_path(at, profile, profile->nodes[node].parent);
	return frame_path(at, profile->names.names[profile->nodes[node].name].frame);
}

static void compare(const struct trace *trace, const char *function,
                    enum profile_direction direction, uint32_t max_depth)
{
	const struct profile_config config = {.keys = PROFILE_BY_SYMBOL | PROFILE_BY_MODULE};
	struct profile_view view = {function, direction, max_depth, 0, 0, 0, 0}, expected = view;
	struct profile *profile = profile_new(trace, &config);
	struct sums wanted = {0}, found = {0};
	char path[TEXT];

	if (direction == PROFILE_CALLEES)
		expected.max_depth = UINT32_MAX; /* is for those that print it */
	oracle(&wanted, &expected, trace);
	assert_int_equal(profile_view_make(profile, &view), 0);
	for (uint32_t i = 0; i < profile->nr_nodes; i++) {
		const struct path_node *node = &profile->nodes[i];

		if (node->parent == PROFILE_NONE)
			continue;
		node_path(path, profile, i);
		sums_add(&found, path, node->total, max_depth == UINT32_MAX ? profile->self[i] : 0);
	}
	assert_int_equal(view.total, expected.total);
	assert_int_equal(view.self, expected.self);
	assert_int_equal(view.samples, expected.samples);
	sums_unite(&found);
	assert_int_equal(found.nr, wanted.nr);
	for (size_t i = 0; i < found.nr; i++) {
		assert_string_equal(found.all[i].path, wanted.all[i].path);
		assert_int_equal(found.all[i].total, wanted.all[i].total);
		if (max_depth == UINT32_MAX)
			assert_int_equal(found.all[i].self, wanted.all[i].self);
	}
	sums_free(&wanted);
	sums_free(&found);
	profile_free(profile);
}

static void views_are_what_they_mean(void **state)
{
	static const char *const functions[] = {"start",         "a",    "b",    "c",
	                                        "ns::leaf(int)", "deep", "none", "app+0x60",
	                                        "libx.so+0x14"};
	struct trace *trace;
	struct world w;

	(void)state;
	trace = record(&w, 1500);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		compare(trace, functions[i], PROFILE_CALLERS, UINT32_MAX);
		compare(trace, functions[i], PROFILE_CALLEES, UINT32_MAX);
		compare(trace, functions[i], PROFILE_CALLERS, 3);
	}
	trace_close(trace);
	world_close(&w);
}

/* The function's own total is that of its row, where it is one row. */
static void recursion_counts_once(void **state)
{
	const struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	struct trace *trace;
	struct world w;

	(void)state;
	trace = record(&w, 1500);
	for (unsigned way = PROFILE_CALLERS; way <= PROFILE_CALLEES; way++) {
		struct profile_view view = {"a", way, UINT32_MAX, 0, 0, 0, 0};
		struct profile *profile = profile_new(trace, &config);
		const struct report_options options = {.query.limit = UINT32_MAX};
		struct report_rows all;
		unsigned rows = 0;

		assert_int_equal(report_rows_init(&all, profile, &options.query), 0);
		assert_int_equal(report_rows_of_all(&all), 0);
		assert_int_equal(profile_view_make(profile, &view), 0);
		for (uint32_t i = 0; i < all.nr; i++) {
			const struct profile_row row = report_row(profile, &all.rows[i]);
			uint32_t symbol = profile->names.names[row.name].symbol;

			if (strcmp(trace_string(trace, symbol), "a") != 0)
				continue;
			assert_int_equal(view.total, all.rows[i].total);
			assert_int_equal(view.self, row.self);
			rows++;
		}
		report_rows_fini(&all);
		assert_int_equal(rows, 1);
		profile_free(profile);
	}
	trace_close(trace);
	world_close(&w);
}

/* There are two commands. */
static void rows_of_one_function_add_up(void **state)
{
	const struct profile_config config = {.keys = PROFILE_BY_SYMBOL | PROFILE_BY_COMM};
	struct profile_view view = {"ns::leaf(int)", PROFILE_CALLEES, UINT32_MAX, 0, 0, 0, 0};
	uint64_t self = 0, samples = 0, below = 0;
	double variance = 0;
	struct profile *profile;
	struct trace *trace;
	struct world w;
	unsigned rows = 0;

	(void)state;
	trace = record(&w, 1500);
	profile = profile_new(trace, &config);
	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		const struct profile_row *row = &profile->rows[i];
		uint32_t symbol = profile->names.names[row->name].symbol;

		if (strcmp(trace_string(trace, symbol), view.function) != 0)
			continue;
		self += row->self;
		samples += row->samples;
		variance += row->variance;
		rows++;
	}
	assert_int_equal(rows, 2);
	assert_int_equal(profile_view_make(profile, &view), 0);
	assert_int_equal(view.self, self);
	assert_int_equal(view.samples, samples);
	assert_true(view.variance == variance);
	assert_true(view.total > 0);
	for (uint32_t i = 0; i < profile->nr_sums; i++)
		below += profile->sums[i].self;
	assert_int_equal(below, view.total);
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

/* --- names ------------------------------------------------------------------------------------ */

static void check_choice(const struct trace *trace, const char *wanted, size_t nr,
                         const char *first)
{
	struct function_choice choice;

	assert_int_equal(function_choice_init(&choice, trace, wanted, true), 0);
	assert_int_equal(choice.nr, nr);
	if (nr)
		assert_string_equal(choice.names[0], first);
	function_choice_fini(&choice);
}

static void functions_are_found_by_name(void **state)
{
	struct trace *trace;
	struct world w;

	(void)state;
	trace = record(&w, 100);
	check_choice(trace, "a", 1, "a"); /* in full, though it is a part of others */
	check_choice(trace, "leaf", 1, "ns::leaf(int)");
	check_choice(trace, "ns::leaf", 1, "ns::leaf(int)");
	check_choice(trace, "eaf(", 1, "ns::leaf(int)");
	check_choice(trace, "libx", 1, "libx.so+0x14");
	check_choice(trace, "ea", 1, "ns::leaf(int)");
	check_choice(trace, "e", 2, "deep");
	check_choice(trace, "+0x", 2, "app+0x60");
	check_choice(trace, "nothing", 0, NULL);
	/* What a terminal had no room for. */
	check_choice(trace, "ns::leaf(…)", 1, "ns::leaf(int)");
	check_choice(trace, "…leaf(int)", 1, "ns::leaf(int)");
	check_choice(trace, "n…::l…(…t)", 1, "ns::leaf(int)");
	check_choice(trace, "d…", 1, "deep");
	check_choice(trace, "ns::leaf(…)x", 0, NULL);
	check_choice(trace, "leaf…ns", 0, NULL);
	trace_close(trace);
	world_close(&w);
}

/* Rather those that end with a name than closures in them; but not because they take it. */
static void closures_are_found_by_their_own_names(void **state)
{
	static const struct named_range named[] = {
		{2, 0, 16, "job::run"},
		{2, 16, 32, "job::run::{{closure}}"},
		{2, 32, 48, "Pair::compute(int)"},
		{2, 48, 64, "Pair::compute(int)::{lambda()#1}::operator()() const"},
		{2, 64, 80, "take(Pair const&)"},
	};
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	put_many(&w, 10);
	trace = world_named(&w, named, sizeof(named) / sizeof(*named));
	check_choice(trace, "run", 1, "job::run");
	check_choice(trace, "compute", 1, "Pair::compute(int)");
	check_choice(trace, "{{closure}}", 1, "job::run::{{closure}}");
	check_choice(trace, "lambda", 1, named[3].name);
	check_choice(trace, "Pair", 3, "Pair::compute(int)");
	trace_close(trace);
	world_close(&w);
}

/* A function is shown with the parts that a compiler made of it, by the names of other tools. */
static void parts_are_found_by_the_whole(void **state)
{
	static const struct named_range named[] = {
		{2, 0, 16, "matmul (omp region 0)"},
		{2, 16, 32, "matmul (omp region 1)"},
		{2, 32, 48, "matmul"},
		{2, 48, 64, "Pair::compute(int) (omp region)"},
		{2, 64, 80,
	         "double ns::sum<double>(std::vector<double, std::allocator<double> >&)"},
		{2, 80, 96, "force"},
		{2, 96, 112, "main::{lambda(int)#1}::operator()(int) const"},
		{2, 112, 128, "main::{lambda(char)#2}::operator()(char) const"},
		{2, 128, 144, "g(int)"},
		{2, 144, 160, "g(long)"},
		{2, 160, 176, "name[abi:cxx11](int)"},
		{2, 176, 192, "memcpy"},
	};
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	put_many(&w, 10);
	trace = world_named(&w, named, sizeof(named) / sizeof(*named));
	check_choice(trace, "matmul", 1, "matmul");
	check_choice(trace, "matmu", 1, "matmul");
	check_choice(trace, "matmul._omp_fn.0", 1, named[0].name);
	check_choice(trace, "matmul (omp region 1)", 1, named[1].name);
	check_choice(trace, "matmul._omp_fn.2", 0, NULL);
	check_choice(trace, "omp region 1", 1, named[1].name);
	check_choice(trace, "compute", 1, "Pair::compute(int)");
	check_choice(trace, "_ZN4Pair7computeEi", 1, "Pair::compute(int)");
	check_choice(trace, "_ZN4Pair7computeEi.omp_outlined", 1, named[3].name);
	check_choice(trace, "Pair::compute(int) [clone .omp_outlined]", 1, named[3].name);
	check_choice(trace, "double ns::sum<double>(std::vector<double>&)", 0, NULL);
	check_choice(trace, "ns::sum<double>(std::vector<double, std::allocator<double>>&)", 1,
	             named[4].name);
	check_choice(trace, "_ZN2ns3sumIdEEdRSt6vectorIT_SaIS2_EE", 1, named[4].name);
	check_choice(trace, "_ZL5forceRSt6vectorIdSaIdEE", 1, "force");
	check_choice(trace, "force(std::vector<double, std::allocator<double> >&)+0x1c", 1,
	             "force");
	check_choice(trace, "main::'lambda0'(char)::operator()(char) const", 1, named[7].name);
	check_choice(trace, "main()::<lambda(int)>::operator()(int) const", 1, named[6].name);
	check_choice(trace, "main::{lambda#2}::operator()", 1, named[7].name);
	check_choice(trace, "main::{lambda#3}::operator()", 0, NULL);
	check_choice(trace, "_Z1gi", 1, "g(int)");
	check_choice(trace, "g", 2, "g(int)");
	check_choice(trace, "_Z1gd", 0, NULL);
	check_choice(trace, "name(int)", 1, named[10].name);
	check_choice(trace, "name", 1, named[10].name);
	check_choice(trace, "memcpy@@GLIBC_2.14", 1, "memcpy");
	trace_close(trace);
	world_close(&w);
}

/* The code, the callers and the callees of a function are those of its parts, too. */
static void views_have_all_parts(void **state)
{
	static const struct named_range named[] = {
		{2, 0, 16, "f"},
		{2, 16, 32, "f (omp region 0)"},
		{2, 32, 48, "f2 (omp region 0)"},
		{2, 48, 64, "f [clone .avx2]"},
	};
	struct report_options options = {.query.limit = UINT32_MAX, .query.function = "f"};
	struct profile_view view = {"f", PROFILE_CALLEES, UINT32_MAX, 0, 0, 0, 0};
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	struct annotation annotation;
	struct profile *profile;
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	for (uint64_t i = 0; i < 4; i++)
		put_next(&w, (struct hmb_sample){.step = 97081, .leaf = 2ULL << 32 | 16 * i});
	trace = world_named(&w, named, sizeof(named) / sizeof(*named));
	profile = profile_new(trace, &config);
	assert_non_null(profile);
	assert_int_equal(annotation_init(&annotation, profile, &options.query), 0);
	assert_int_equal(annotation.samples, 3);
	assert_int_equal(annotation.nr_codes, 3);
	annotation_fini(&annotation);
	assert_int_equal(profile_view_make(profile, &view), 0);
	assert_int_equal(view.samples, 3);
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

/* So many rows have this in the column of modules. */
static void expect_module(const struct trace *trace, unsigned keys, const char *module, unsigned nr)
{
	struct profile_config config = {.keys = keys};
	struct profile *profile = profile_new(trace, &config);
	char text[CELL_SIZE];
	unsigned found = 0;

	assert_non_null(profile);
	for (uint32_t i = 0; i < profile->nr_rows; i++)
		found += !strcmp(report_cell(profile, &profile->rows[i], PROFILE_BY_MODULE, text),
		                 module);
	assert_int_equal(found, nr);
	profile_free(profile);
}

/* Whatever a table has a row of. */
static void what_has_no_symbol_is_found(void **state)
{
	static const uint64_t leaves[] = {0, 1, (uint64_t)2 << 32 | 0x1388};
	static const char *const names[] = {"[unknown]", "[truncated]", "app+0x1388"};
	struct report_options options = {.query.limit = UINT32_MAX};
	struct profile_config config = {0};
	struct hmb_sample sample = {.step = 97081};
	struct annotation annotation;
	struct profile *profile;
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	put_many(&w, 10);
	for (size_t i = 0; i < 3; i++) {
		sample.leaf = leaves[i];
		sample.time = (uint64_t)(1000 + i) << TIME_SHIFT;
		hmb_put(w.hmb, &sample);
	}
	trace = world_named(&w, ranges, sizeof(ranges) / sizeof(*ranges));
	profile = profile_new(trace, &config);
	assert_non_null(profile);
	for (size_t i = 0; i < 3; i++) {
		check_choice(trace, names[i], 1, names[i]);
		options.query.function = names[i];
		assert_int_equal(annotation_init(&annotation, profile, &options.query), 0);
		assert_int_equal(annotation.samples, 1);
		annotation_fini(&annotation);
	}
	check_choice(trace, "trunc", 1, "[truncated]");
	check_choice(trace, "app+0x1389", 0, NULL);
	profile_free(profile);
	expect_module(trace, PROFILE_BY_MODULE, "[unknown]", 1);
	expect_module(trace, PROFILE_BY_MODULE, "[truncated]", 1);
	expect_module(trace, PROFILE_BY_MODULE, "", 0);
	expect_module(trace, PROFILE_BY_MODULE | PROFILE_BY_SYMBOL, "", 2);
	trace_close(trace);
	world_close(&w);
}

/* --- code ------------------------------------------------------------------------------------- */

static void code_adds_up(void **state)
{
	struct report_options options = {.query.function = "c", .query.limit = UINT32_MAX};
	struct profile_config config = {0};
	struct annotation annotation;
	struct profile *profile;
	struct trace_sample sample;
	struct trace_walk *walk;
	uint64_t self = 0, of_places = 0, of_codes = 0, of_rows = 0;
	struct trace *trace;
	struct world w;

	(void)state;
	trace = record(&w, 1500);
	walk = trace_walk_new(trace, 0);
	while (trace_walk_next(walk, &sample) == 1)
		self += strcmp(symbol_of(sample.leaf), "c") ? 0 : sample.weight;
	trace_walk_free(walk);
	profile = profile_new(trace, &config);
	assert_non_null(profile);
	assert_int_equal(annotation_init(&annotation, profile, &options.query), 0);
	assert_true(self && annotation.self == self);
	assert_true(annotation.nr_addresses > 10);
	for (uint32_t i = 0; i < annotation.nr_addresses; i++) {
		assert_string_equal(symbol_of(annotation.addresses[i].frame), "c");
		of_places += annotation.addresses[i].self;
	}
	for (uint32_t i = 0; i < annotation.nr_codes; i++) {
		struct disassembler *disassembler;
		uint32_t nr;
		struct hot_address *rows =
			annotation_rows(&annotation, &annotation.codes[i], &nr, &disassembler);

		of_codes += annotation.codes[i].self;
		for (uint32_t k = 0; k < nr; k++)
			of_rows += rows[k].self;
		assert_true(annotation.codes[i].err != 0); /* there are no such files */
		free(rows);
		disassembler_free(disassembler);
	}
	assert_true(of_places == self && of_codes == self && of_rows == self);
	assert_int_equal(annotation.nr_lines, 1);
	assert_int_equal(annotation.lines[0].self, self);
	annotation_fini(&annotation);
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

/* Of 40 lines, each of which says which it is. */
static void write_source(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	for (unsigned i = 1; i <= 40; i++)
		fprintf(file, "\tsource %u\n", i);
	assert_int_equal(fclose(file), 0);
}

/* Samples of one function in 5 lines, whose file is there. */
static struct trace *record_lines(struct world *w, char source[80])
{
	static const struct named_range hot = {2, 0, 0x100, "hot"};
	static const struct {
		unsigned line, samples;
	} places[] = {{7, 3}, {30, 4}, {10, 2}, {12, 1}, {20, 1}, {7, 1}};
	enum { NR = sizeof(places) / sizeof(*places) };
	struct trace_source sources[NR];
	struct trace_line lines[NR];

	world_open(w, 64 << 10);
	snprintf(source, 80, "%s/x.c", w->folder);
	write_source(source);
	tables_run(w->tables)->real_start = 4000000000000000000; /* it is older */
	for (uint32_t i = 0; i < NR; i++) {
		sources[i] = (struct trace_source){.file = tables_string(w->tables, source),
		                                   .line = places[i].line};
		lines[i] = (struct trace_line){2, 16 * i, i + 1};
		for (unsigned n = 0; n < places[i].samples; n++)
			put_next(w,
			         (struct hmb_sample){.step = 97081, .leaf = 2ULL << 32 | 16 * i});
	}
	trace_close(world_named(w, &hot, 1));
	assert_true(add_sections(w->path, sources, NR, lines, NR));
	return open_good(w->path);
}

/* A line that is shown around one of the hottest keeps its share, and is not one more. */
static void hot_lines_stand_in_their_source(void **state)
{
	char source[80], expected[2000];
	struct report_options options = {.query.function = "hot",
	                                 .query.annotate = true,
	                                 .query.limit = 3,
	                                 .style.no_header = true};
	struct trace *trace;
	struct page page;
	struct world w;

	(void)state;
	trace = record_lines(&w, source);
	assert_int_equal(report_text(page_open(&page), trace, "x.atr", &options), 0);
	snprintf(expected, sizeof(expected),
	         "code of hot: 100.00%% of all (12 samples), with what was inlined into it\n"
	         "\n"
	         "   share   samples    line  source\n"
	         "%s\n"
	         "                         5          source 5\n"
	         "                         6          source 6\n"
	         "  33.33%%         4       7          source 7\n"
	         "                         8          source 8\n"
	         "                         9          source 9\n"
	         "  16.67%%         2      10          source 10\n"
	         "                        11          source 11\n"
	         "   8.33%%         1      12          source 12\n"
	         "                    ...\n"
	         "                        28          source 28\n"
	         "                        29          source 29\n"
	         "  33.33%%         4      30          source 30\n"
	         "                        31          source 31\n"
	         "                        32          source 32\n"
	         "   8.33%%            in 1 more line; --all shows them\n"
	         "\n"
	         "app [0, 100): its code is in no file\n"
	         "   share   samples   address\n"
	         "  25.00%%         3         0  # x.c:7\n"
	         "  33.33%%         4        10  # x.c:30\n"
	         "  16.67%%         2        20  # x.c:10\n"
	         "  25.00%%            in 3 more addresses; --all shows them\n",
	         source);
	page_expect(&page, expected);
	unlink(source);
	trace_close(trace);
	world_close(&w);
}

static void disassembles(void **state)
{
#ifdef HAVE_CAPSTONE
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x06, 0xc3};
	static const char *const texts[] = {"pushq %rbp", "movq %rsp, %rbp", "(bad)", "retq"};
	struct disassembler *disassembler = disassembler_new(62 /* EM_X86_64 */);
	char text[INSTRUCTION_SIZE];
	size_t at = 0;

	(void)state;
	assert_non_null(disassembler);
	for (size_t i = 0; i < 4; i++) {
		at += disassembler_next(disassembler, code + at, sizeof(code) - at, at, text);
		assert_string_equal(text, texts[i]);
	}
	assert_int_equal(at, sizeof(code));
	disassembler_free(disassembler);
	assert_null(disassembler_new(9999));
#else
	(void)state;
	skip();
#endif
}

/* --- lies ------------------------------------------------------------------------------------- */

static void report_all(const struct trace *trace, FILE *to)
{
	struct report_options options = {
		.query.event = 0,
		.query.function = "a",
		.query.keys = {PROFILE_BY_PROCESS, PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
		.query.nr_keys = 3,
		.query.limit = 10,
	};

	for (unsigned way = PROFILE_CALLERS; way <= PROFILE_CALLEES; way++) {
		options.query.direction = way;
		report_text(to, trace, "x.atr", &options);
		report_json(to, trace, &options.query);
	}
	options.query.direction = PROFILE_ALL;
	options.query.annotate = true;
	report_text(to, trace, "x.atr", &options);
	report_json(to, trace, &options.query);
}

static void lies_do_no_harm(void **state)
{
	char why[TRACE_WHY_SIZE];
	FILE *to = fopen("/dev/null", "w");
	struct trace *trace;
	struct lies lies;
	struct world w;

	(void)state;
	trace_close(record(&w, 60));
	lies_open(&lies, w.path);
	for (unsigned i = 0; i < 200; i++) {
		trace = trace_open(lies_next(&lies, 6), why);
		if (trace)
			report_all(trace, to);
		trace_close(trace);
	}
	fclose(to);
	lies_close(&lies);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_are_what_they_mean),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(rows_of_one_function_add_up),
		cmocka_unit_test(functions_are_found_by_name),
		cmocka_unit_test(closures_are_found_by_their_own_names),
		cmocka_unit_test(parts_are_found_by_the_whole),
		cmocka_unit_test(views_have_all_parts),
		cmocka_unit_test(what_has_no_symbol_is_found),
		cmocka_unit_test(code_adds_up),
		cmocka_unit_test(hot_lines_stand_in_their_source),
		cmocka_unit_test(disassembles),
		cmocka_unit_test(lies_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
