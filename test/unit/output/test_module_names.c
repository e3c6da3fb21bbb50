/* What modules are called: as much of their paths as tells them apart. */
#include "page.h"
#include "trace_world.h"

#include "output/profile/frame_names.h"
#include "output/report/report.h"
#include "output/report/report_diff.h"
#include "symbolize/modules/module.h"

/* A trace with these modules from number 1 on, up to NULL, and a sample in each. */
struct run {
	struct world world;
	struct trace *trace;
};

static void record(struct run *run, const char *const *paths)
{
	struct world *w = &run->world;
	struct named_range ranges[16];
	uint16_t n = 0;

	world_open(w, 64 << 10);
	for (; paths[n]; n++) {
		tables_module(w->tables, n + 1)->path = tables_string(w->tables, paths[n]);
		put_next(w, (struct hmb_sample){.leaf = (uint64_t)(n + 1) << 32 | 0x20,
		                                .step = 97081});
		ranges[n] = (struct named_range){n + 1U, 0x20, 0x40, "f"};
	}
	run->trace = world_named(w, ranges, n - 1U); /* of the last one nothing is known */
}

static void end(struct run *run)
{
	trace_close(run->trace);
	world_close(&run->world);
}

static void expect_names(const struct run *run, const char *const *names)
{
	for (uint16_t i = 0; names[i]; i++)
		assert_string_equal(trace_module_name(run->trace, i + 1U), names[i]);
}

static void only_clashes_get_folders(void **state)
{
	static const char *const paths[] = {
		"/usr/lib/libx.so", "/opt/app",  "/usr/lib/libx.so", "/new/libx.so", "[vdso]",
		"/tmp/[vdso]",      "/b/bin/cc", "/a/bin/cc",        "/cc",          "/x/",
		"/usr/bin/gcc",     NULL};
	static const char *const names[] = {
		"lib/libx.so", "app",      "lib/libx.so", "new/libx.so", "[vdso]", "tmp/[vdso]",
		"b/bin/cc",    "a/bin/cc", "/cc",         "/x/",         "gcc",    NULL};
	struct run run;

	(void)state;
	record(&run, paths);
	expect_names(&run, names);
	assert_string_equal(trace_module_name(run.trace, 99), "");
	end(&run);
}

static void ends_of_others_are_told_apart(void **state)
{
	static const char *const paths[] = {"/b/x", "/a/b/x", "x", "b/x", NULL};
	static const char *const names[] = {"/b/x", "a/b/x", "x", "b/x", NULL};
	struct run run;

	(void)state;
	record(&run, paths);
	expect_names(&run, names);
	end(&run);
}

static const struct report_options by_function = {
	.query.event = 0,
	.query.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
	.query.nr_keys = 2,
	.query.limit = UINT32_MAX,
	.style.quiet = true,
};

static void reports_tell_them_apart(void **state)
{
	static const char *const paths[] = {"/a/libx.so", "/b/libx.so", "/c/libx.so", NULL};
	struct report_options options = by_function;
	struct run run;
	struct page page;

	(void)state;
	record(&run, paths);
	page_open(&page);
	assert_int_equal(report_text(page.file, run.trace, "x.atr", &options), 0);
	options.query.tree = true;
	assert_int_equal(report_text(page.file, run.trace, "x.atr", &options), 0);
	page_expect(&page,
	            " 33.33% ± 92.40%  97.08 µs   33.33%        1  f               a/libx.so\n"
	            " 33.33% ± 92.40%  97.08 µs   33.33%        1  f               b/libx.so\n"
	            " 33.33% ± 92.40%  97.08 µs   33.33%        1  c/libx.so+0x20  c/libx.so\n"
	            "  33.33%    33.33%  ├ f (a/libx.so)\n"
	            "  33.33%    33.33%  ├ f (b/libx.so)\n"
	            "  33.33%    33.33%  └ c/libx.so+0x20\n");
	end(&run);
}

/* Two builds of a program are one to whoever compares them. */
static void differences_are_of_like_names(void **state)
{
	static const char *const old[] = {"/1/bin/app", "/1/x", NULL};
	static const char *const new[] = {"/2/bin/app", "/1/x", "/2/x", NULL};
	struct report_options options = by_function;
	struct run before, after;
	struct diff_report report = {
		.sides = {{.traces = &before.trace, .nr = 1}, {.traces = &after.trace, .nr = 1}},
		.options = &options,
	};
	struct page page;

	(void)state;
	record(&before, old);
	record(&after, new);
	options.query.all = true;
	assert_int_equal(trace_tell_modules_apart((struct trace *[]){before.trace, after.trace}, 2),
	                 0);
	assert_int_equal(report_diff_text(page_open(&page), &report), 0);
	page_expect(&page,
	            "  -97.081 µs ±  329.572 µs     97.081 µs      0.000 µs  1/x+0x20  1/x\n"
	            "  +97.081 µs ±  329.572 µs      0.000 µs     97.081 µs  2/x+0x20  2/x\n"
	            "  +97.081 µs ±  329.572 µs      0.000 µs     97.081 µs  f         1/x\n"
	            "   +0.000 µs ±  380.558 µs     97.081 µs     97.081 µs  f         app\n");
	end(&before);
	end(&after);
}

static uint32_t name_of(struct frame_names *names, uint64_t frame)
{
	const uint32_t *numbers;

	assert_int_equal(frame_names_chain(names, frame, &numbers), 1);
	return *numbers;
}

/* A file that a process had open before, and another one later, may have two numbers. */
static void a_file_with_two_numbers_is_one(void **state)
{
	static const struct named_range ranges[] = {{1, 0, 16, ""}, {2, 0, 16, ""}, {3, 0, 16, ""}};
	struct frame_names names;
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	for (uint16_t i = 1; i <= 3; i++) {
		struct trace_module *module = tables_module(w.tables, i);

		module->path = tables_string(w.tables, "/lib/libx.so");
		module->type = MODULE_FILE;
		module->build_id_size = 20;
		module->build_id[19] = i == 2; /* an older build */
	}
	trace = world_named(&w, ranges, 3);
	frame_names_init(&names, trace, FRAME_BY_SYMBOL | FRAME_BY_MODULE);
	assert_int_equal(name_of(&names, 1ULL << 32 | 1), name_of(&names, 3ULL << 32 | 2));
	assert_int_not_equal(name_of(&names, 1ULL << 32 | 1), name_of(&names, 2ULL << 32 | 1));
	frame_names_fini(&names);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_clashes_get_folders),
		cmocka_unit_test(ends_of_others_are_told_apart),
		cmocka_unit_test(reports_tell_them_apart),
		cmocka_unit_test(differences_are_of_like_names),
		cmocka_unit_test(a_file_with_two_numbers_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
