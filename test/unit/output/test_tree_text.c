/* The text of trees: what stands below what, and that chains do not run away to the right. */
#include "page.h"
#include "trace_world.h"

#include "output/report/report.h"

enum { DEEPEST = 100 };

/* Functions are letters, 16 bytes each. */
static uint64_t frame_of(char function)
{
	return (uint64_t)2 << 32 | (unsigned)(function - 'a') * 16;
}

/* A buffer for deeper stacks than those of other tests. */
static void open_deep(struct world *w)
{
	world_open_deep(w, 256 << 10, DEEPEST);
}

/* A stack from its root on. */
static void put_stack(struct world *w, const char *stack, unsigned nr)
{
	uint64_t path[DEEPEST];
	unsigned depth = (unsigned)strlen(stack);
	struct hmb_sample sample = {
		.leaf = frame_of(stack[depth - 1]), .path = path, .step = 97081};

	assert_true(depth <= DEEPEST);
	sample.path_size = depth - 1;
	for (unsigned i = 0; i + 1 < depth; i++)
		path[i] = frame_of(stack[depth - 2 - i]);
	while (nr--)
		put_next(w, sample);
}

static struct trace *write_named(struct world *w)
{
	struct named_range ranges[26];
	char names[26][2];

	for (unsigned i = 0; i < 26; i++) {
		names[i][0] = (char)('a' + i);
		names[i][1] = 0;
		ranges[i] = (struct named_range){2, 16 * i, 16 * i + 16, names[i]};
	}
	tables_run(w->tables)->flags = TRACE_RUN_CGROUP;
	return world_named(w, ranges, 26);
}

static void expect(const struct trace *trace, const struct report_options *more,
                   const char *expected)
{
	struct report_options options = *more;
	struct page page;

	options.query.keys[options.query.nr_keys++] = PROFILE_BY_SYMBOL;
	options.style.no_header = true;
	assert_int_equal(report_text(page_open(&page), trace, "x.atr", &options), 0);
	page_expect(&page, expected);
}

static void only_children_stay_below_their_parents(void **state)
{
	struct trace *trace;
	struct world w;

	(void)state;
	open_deep(&w);
	put_stack(&w, "abcd", 500);
	put_stack(&w, "abcefg", 300);
	put_stack(&w, "abce", 20);
	put_stack(&w, "abceh", 4);
	put_stack(&w, "abcex", 4);
	put_stack(&w, "ijk", 171);
	put_stack(&w, "ijl", 1);
	trace = write_named(&w);
	expect(trace, &(struct report_options){.query.tree = true},
	       "   total      self  call path\n"
	       "  82.80%     0.00%  ├ a\n"
	       "  82.80%     0.00%  │ b\n"
	       "  82.80%     0.00%  │ c\n"
	       "  50.00%    50.00%  │ ├ d\n"
	       "  32.80%     2.00%  │ └ e\n"
	       "  30.00%     0.00%  │   ├ f\n"
	       "  30.00%    30.00%  │   │ g\n"
	       "   0.80%            │   └ (2 more, small)\n"
	       "  17.20%     0.00%  └ i\n"
	       "  17.20%     0.00%    j\n"
	       "  17.10%    17.10%    k\n");
	/* The one sample of l is too little to tell. What is not told forks nothing. */
	expect(trace,
	       &(struct report_options){
		       .query.tree = true, .style.quiet = true, .query.max_depth = 5},
	       "  82.80%     0.00%  ├ a\n"
	       "  82.80%     0.00%  │ b\n"
	       "  82.80%     0.00%  │ c\n"
	       "  50.00%    50.00%  │ ├ d\n"
	       "  32.80%     2.00%  │ └ e\n"
	       "  30.00%     0.00%  │   f\n"
	       "  17.20%     0.00%  └ i\n"
	       "  17.20%     0.00%    j\n"
	       "  17.10%    17.10%    k\n");
	/* What is less than is asked for goes: in trees by total, in tables by what orders them. */
	expect(trace, &(struct report_options){.query.tree = true, .query.least = 0.3},
	       "   total      self  call path\n"
	       "  82.80%     0.00%  a\n"
	       "  82.80%     0.00%  b\n"
	       "  82.80%     0.00%  c\n"
	       "  50.00%    50.00%  ├ d\n"
	       "  32.80%     2.00%  └ e\n"
	       "  30.00%     0.00%    f\n"
	       "  30.00%    30.00%    g\n");
	expect(trace,
	       &(struct report_options){
		       .query.limit = UINT32_MAX, .query.least = 0.3, .style.quiet = true},
	       " 50.00% ±  0.28%  48.54 ms   50.00%      500  d\n"
	       " 30.00% ±  0.28%  29.12 ms   30.00%      300  g\n");
	expect(trace,
	       &(struct report_options){
		       .query.limit = UINT32_MAX, .query.least = 0.5, .query.by_total = true},
	       "   self  ± error      time    total  samples  symbol\n"
	       "  0.00% ±  0.20%      0 ns   82.80%        0  a\n"
	       "  0.00% ±  0.20%      0 ns   82.80%        0  b\n"
	       "  0.00% ±  0.20%      0 ns   82.80%        0  c\n"
	       " 50.00% ±  0.28%  48.54 ms   50.00%      500  d\n"
	       " 50.00%  in 9 more rows; --all shows them\n");
	expect(trace,
	       &(struct report_options){.query.direction = PROFILE_CALLERS,
	                                .query.function = "g",
	                                .style.quiet = true},
	       "  30.00%   100.00%  g\n"
	       "  30.00%   100.00%  f\n"
	       "  30.00%   100.00%  e\n"
	       "  30.00%   100.00%  c\n"
	       "  30.00%   100.00%  b\n"
	       "  30.00%   100.00%  a\n");
	trace_close(trace);
	world_close(&w);
}

/* Views of callers report that none were recorded; a table needs none. */
static void missing_callers_are_told(void **state)
{
	const struct report_options views[] = {
		{.query.tree = true},
		{.query.function = "a", .query.direction = PROFILE_CALLERS},
		{.query.function = "a", .query.direction = PROFILE_CALLEES},
		{.query.limit = UINT32_MAX},
	};
	struct trace *trace;
	struct world w;

	(void)state;
	open_deep(&w);
	put_stack(&w, "a", 100);
	tables_run(w.tables)->stacks = TRACE_STACKS_NONE;
	trace = write_named(&w);
	for (unsigned i = 0; i < sizeof(views) / sizeof(*views); i++) {
		struct report_options options = views[i];
		struct page page;
		char *text;

		options.query.keys[options.query.nr_keys++] = PROFILE_BY_SYMBOL;
		assert_int_equal(report_text(page_open(&page), trace, "x.atr", &options), 0);
		text = page_close(&page);
		assert_int_equal(strstr(text, "callers are missing, as record -g none finds none; "
		                              "record without -g none finds them\n") != NULL,
		                 i < 3);
		free(text);
	}
	trace_close(trace);
	world_close(&w);
}

/* A name has its room on a terminal, however deep it is in a chain. */
static void deep_names_are_not_cut(void **state)
{
	struct trace *trace;
	struct world w;

	(void)state;
	open_deep(&w);
	put_stack(&w, "abcdefghijklmnopqrstuvwxyz", 10);
	trace = write_named(&w);
	expect(trace,
	       &(struct report_options){.query.tree = true, .style.quiet = true, .style.width = 80},
	       " 100.00%     0.00%  a\n 100.00%     0.00%  b\n 100.00%     0.00%  c\n"
	       " 100.00%     0.00%  d\n 100.00%     0.00%  e\n 100.00%     0.00%  f\n"
	       " 100.00%     0.00%  g\n 100.00%     0.00%  h\n 100.00%     0.00%  i\n"
	       " 100.00%     0.00%  j\n 100.00%     0.00%  k\n 100.00%     0.00%  l\n"
	       " 100.00%     0.00%  m\n 100.00%     0.00%  n\n 100.00%     0.00%  o\n"
	       " 100.00%     0.00%  p\n 100.00%     0.00%  q\n 100.00%     0.00%  r\n"
	       " 100.00%     0.00%  s\n 100.00%     0.00%  t\n 100.00%     0.00%  u\n"
	       " 100.00%     0.00%  v\n 100.00%     0.00%  w\n 100.00%     0.00%  x\n"
	       " 100.00%     0.00%  y\n 100.00%   100.00%  z\n");
	trace_close(trace);
	world_close(&w);
}

/* Of a thread with little there is a word, too. */
static void small_trees_are_told(void **state)
{
	struct hmb_sample sample = {.leaf = frame_of('z'), .thread = 1, .step = 97081};
	struct trace *trace;
	struct world w;

	(void)state;
	open_deep(&w);
	put_stack(&w, "ab", 999);
	put_next(&w, sample);
	trace = write_named(&w);
	expect(trace, &(struct report_options){.query.tree = true, .query.per_thread = true},
	       "   total      self  call path\n"
	       "\nsh 100: 99.90%\n"
	       "  99.90%     0.00%  a\n"
	       "  99.90%    99.90%  b\n"
	       "\napp 100/101: 0.10%\n"
	       "   0.10%            (1 more, small)\n");
	trace_close(trace);
	world_close(&w);
}

static void put_pair(struct world *w, uint64_t leaf, uint64_t caller, unsigned nr)
{
	struct hmb_sample sample = {.leaf = leaf, .path = &caller, .path_size = 1, .step = 97081};

	while (nr--)
		put_next(w, sample);
}

/* Every program has a start: which one it is must be seen where there are several. */
static void namesakes_are_told_apart(void **state)
{
	static const struct named_range ranges[] = {
		{1, 0, 16, "start"}, {2, 0, 16, "start"}, {2, 16, 32, "work"}};
	const uint64_t library = (uint64_t)1 << 32, program = (uint64_t)2 << 32;
	struct report_options options = {.query.tree = true,
	                                 .query.keys = {PROFILE_BY_MODULE},
	                                 .query.nr_keys = 1,
	                                 .style.quiet = true};
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	put_pair(&w, program + 16, program, 60);
	put_pair(&w, program + 16, library, 40);
	tables_run(w.tables)->flags = TRACE_RUN_CGROUP;
	trace = world_named(&w, ranges, 3);
	expect(trace, &options,
	       "  60.00%     0.00%  ├ start (app)\n"
	       "  60.00%    60.00%  │ work\n"
	       "  40.00%     0.00%  └ start (libx.so)\n"
	       "  40.00%    40.00%    work\n");
	options.query.nr_keys = 0;
	expect(trace, &options, " 100.00%     0.00%  start\n 100.00%   100.00%  work\n");
	trace_close(trace);
	world_close(&w);
}

/* Of commands there are only totals: they stand among the trees, or behind those of subsets. */
static void what_was_not_sampled_is_a_branch(void **state)
{
	struct trace *trace;
	struct world w;

	(void)state;
	open_deep(&w);
	put_stack(&w, "ab", 100); /* of sh */
	set_exact(&w, "sh", 250 * base_periods[0]);
	set_exact(&w, "seq", 3 * base_periods[0]);
	set_exact(&w, "fork", 644 * base_periods[0]);
	set_exact(&w, "true", 3 * base_periods[0]);
	trace = write_named(&w);
	expect(trace, &(struct report_options){.query.tree = true},
	       "   total      self  call path\n"
	       "  71.56%            ├ [unsampled] fork\n"
	       "  16.67%            ├ [unsampled] sh\n"
	       "  11.11%     0.00%  ├ a\n"
	       "  11.11%    11.11%  │ b\n"
	       "   0.67%            └ (2 more, small)\n");
	expect(trace,
	       &(struct report_options){.query.tree = true,
	                                .query.keys = {PROFILE_BY_COMM},
	                                .query.nr_keys = 1,
	                                .style.quiet = true},
	       "\nsh: 11.11%\n"
	       "  11.11%     0.00%  a\n"
	       "  11.11%    11.11%  b\n"
	       "\nfork: 71.56% [unsampled]\n"
	       "\nsh: 16.67% [unsampled]\n"
	       "\nseq: 0.33% [unsampled]\n"
	       "\ntrue: 0.33% [unsampled]\n");
	trace_close(trace);
	world_close(&w);
}

/* Where forks are deeper than marks are, they go on at the last level. */
static void deep_forks_stay_at_a_level(void **state)
{
	enum { FORKS = 80 };
	struct report_options options = {
		.query.tree = true,
		.query.all = true,
		.query.keys = {PROFILE_BY_SYMBOL},
		.query.nr_keys = 1,
		.style.quiet = true,
	};
	char stack[FORKS + 2] = "", *text = NULL;
	struct trace *trace;
	struct world w;
	size_t size, longest = 0;
	FILE *file;

	(void)state;
	open_deep(&w);
	for (unsigned i = 0; i < FORKS; i++) {
		stack[i] = 'z';
		put_stack(&w, stack, 1);
		stack[i] = (char)('a' + i % 20);
	}
	put_stack(&w, stack, 1);
	trace = write_named(&w);
	file = open_memstream(&text, &size);
	assert_int_equal(report_text(file, trace, "x.atr", &options), 0);
	fclose(file);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		longest = strlen(line) > longest ? strlen(line) : longest;
	/* Each level is a bar of three bytes and a blank, at most. */
	assert_int_equal(longest, 20 + 60 * 4 + 1);
	free(text);
	trace_close(trace);
	world_close(&w);
}

/* Each sample's stack goes on from the one before, and so does the file's pretence. */
static void stacks_without_end_are_cut(void **state)
{
	enum { MORE = 8000, SAMPLES = 20 };
	static uint64_t path[MORE * SAMPLES];
	struct report_options options = {
		.query.tree = true,
		.query.all = true,
		.query.keys = {PROFILE_BY_SYMBOL},
		.query.nr_keys = 1,
	};
	struct hmb_sample sample = {.leaf = frame_of('a'), .path = path, .step = 97081};
	struct trace *trace;
	struct page page;
	struct world w;

	(void)state;
	world_open_deep(&w, 16 << 20, MORE * SAMPLES);
	for (unsigned i = 0; i < SAMPLES; i++) {
		sample.path_size += MORE;
		for (unsigned k = 0; k < sample.path_size; k++)
			path[k] = frame_of('a') + 16 * (sample.path_size - k);
		put_next(&w, sample);
	}
	trace = world_written(&w);
	assert_int_equal(report_text(page_open(&page), trace, "x.atr", &options), 0);
	free(page_close(&page));
	assert_int_equal(report_json(page_open(&page), trace, &options.query), 0);
	free(page_close(&page));
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_children_stay_below_their_parents),
		cmocka_unit_test(deep_names_are_not_cut),
		cmocka_unit_test(deep_forks_stay_at_a_level),
		cmocka_unit_test(stacks_without_end_are_cut),
		cmocka_unit_test(small_trees_are_told),
		cmocka_unit_test(missing_callers_are_told),
		cmocka_unit_test(what_was_not_sampled_is_a_branch),
		cmocka_unit_test(namesakes_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
