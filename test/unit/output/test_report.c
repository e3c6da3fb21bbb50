#include "page.h"
#include "trace_world.h"
#include "lies.h"

#include <errno.h>
#include <json-c/json.h>

#include "output/report/dump.h"
#include "output/report/info.h"
#include "output/report/report.h"

static const struct report_options by_function = {
	.query.event = TRACE_ALL_EVENTS,
	.query.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
	.query.nr_keys = 2,
	.query.limit = UINT32_MAX,
};

static struct json_object *page_parse(struct page *page)
{
	struct json_tokener *tokener = json_tokener_new_ex(1000); /* trees are deep */
	struct json_object *object;

	fclose(page->file);
	object = json_tokener_parse_ex(tokener, page->text, (int)strlen(page->text) + 1);
	json_tokener_free(tokener);
	if (!object)
		fail_msg("no JSON: %.200s", page->text);
	free(page->text);
	return object;
}

static struct trace *record(struct world *w, size_t budget, size_t nr)
{
	world_open(w, budget);
	put_many(w, nr);
	tables_run(w->tables)->flags = TRACE_RUN_CGROUP;
	tables_run(w->tables)->end = 1000 + (nr * 300 << TIME_SHIFT);
	return world_written(w);
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value))
		fail_msg("no member %s", key);
	return value;
}

static uint64_t number(struct json_object *object, const char *key)
{
	return json_object_get_uint64(member(object, key));
}

/* --- reports ---------------------------------------------------------------------------------- */

static uint64_t sum_of(struct json_object *array, const char *key)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(array); i++)
		sum += number(json_object_array_get_idx(array, i), key);
	return sum;
}

static struct json_object *report(const struct trace *trace, const struct report_options *options)
{
	struct page page;

	page_open(&page);
	assert_int_equal(report_json(page.file, trace, &options->query), 0);
	return page_parse(&page);
}

static void functions_add_up(void **state)
{
	struct trace *trace;
	struct json_object *object, *events, *functions;
	struct world w;

	(void)state;
	trace = record(&w, 64 << 10, 5000);
	object = report(trace, &by_function);
	events = member(object, "events");
	assert_int_equal(json_object_array_length(events), NR_EVENTS);
	for (size_t i = 0; i < NR_EVENTS; i++) {
		struct json_object *event = json_object_array_get_idx(events, i);

		functions = member(event, "functions");
		assert_int_equal(sum_of(functions, "self"), number(event, "total_weight"));
		assert_int_equal(sum_of(functions, "samples"), trace_event(trace, i)->stored);
		for (size_t f = 1; f < json_object_array_length(functions); f++)
			assert_true(number(json_object_array_get_idx(functions, f), "self") <=
			            number(json_object_array_get_idx(functions, f - 1), "self"));
	}
	assert_string_equal(json_object_get_string(member(object, "event")), "cpu-clock");
	json_object_put(object);
	trace_close(trace);
	world_close(&w);
}

static void threads_add_up(void **state)
{
	struct report_options options = by_function;
	struct json_object *object, *threads;
	uint64_t tids = 0;
	struct trace *trace;
	struct world w;

	(void)state;
	trace = record(&w, 64 << 10, 3000);
	options.query.per_thread = true;
	options.query.event = 1;
	object = report(trace, &options);
	threads = member(object, "threads");
	assert_int_equal(json_object_array_length(threads), 6);
	assert_int_equal(sum_of(threads, "total_weight"), number(object, "total_weight"));
	for (size_t i = 0; i < 6; i++) {
		struct json_object *thread = json_object_array_get_idx(threads, i);

		tids += number(thread, "tid");
		assert_int_equal(number(thread, "pid"), 100);
		assert_string_equal(json_object_get_string(member(thread, "comm")),
		                    number(thread, "tid") % 2 ? "app" : "sh");
		assert_int_equal(sum_of(member(thread, "functions"), "self"),
		                 number(thread, "total_weight"));
	}
	assert_int_equal(tids, 100 + 101 + 102 + 103 + 104 + 105);
	json_object_put(object);
	options.query.limit = 2; /* threads, and rows of each */
	object = report(trace, &options);
	threads = member(object, "threads");
	assert_int_equal(json_object_array_length(threads), 2);
	threads = member(json_object_array_get_idx(threads, 1), "functions");
	assert_int_equal(json_object_array_length(threads), 2);
	json_object_put(object);
	trace_close(trace);
	world_close(&w);
}

/* Every branch's total is its self and its children's totals; nothing is dropped silently. */
static uint64_t check_branch(struct json_object *branch)
{
	struct json_object *children = member(branch, "children");
	uint64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(children); i++) {
		struct json_object *child = json_object_array_get_idx(children, i), *others;

		sum += number(child, "total");
		if (!json_object_object_get_ex(child, "others", &others))
			assert_int_equal(number(child, "self") + check_branch(child),
			                 number(child, "total"));
	}
	return sum;
}

static void trees_add_up(void **state)
{
	struct report_options options = by_function;
	struct json_object *object;
	uint64_t tids = 0;
	struct trace *trace;
	struct world w;

	(void)state;
	trace = record(&w, 64 << 10, 3000);
	options.query.tree = true;
	options.query.event = 0;
	for (unsigned all = 0; all < 2; all++) {
		options.query.all = all;
		object = report(trace, &options);
		assert_int_equal(
			check_branch(json_object_array_get_idx(member(object, "trees"), 0)),
			number(object, "total_weight"));
		json_object_put(object);
	}
	options.query.per_thread = true;
	object = report(trace, &options);
	for (size_t i = 0; i < 6; i++)
		tids += number(
			member(json_object_array_get_idx(member(object, "trees"), i), "thread"),
			"tid");
	assert_int_equal(tids, 100 + 101 + 102 + 103 + 104 + 105);
	json_object_put(object);
	trace_close(trace);
	world_close(&w);
}

/* What was not sampled is a part of the total, and so of the trees. */
static void trees_hold_what_was_not_sampled(void **state)
{
	static const enum profile_keys keys[] = {0, PROFILE_BY_COMM, PROFILE_BY_THREAD};
	struct json_object *object, *trees, *children;
	struct trace *trace;
	uint64_t sum;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	put_many(&w, 1000);
	tables_run(w.tables)->flags = 0;
	set_exact(&w, "fork", 3000 * base_periods[0])->tasks = 1;
	set_exact(&w, "true", 1)->tasks = 1;
	trace = world_written(&w);
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		struct report_options options = by_function;

		options.query.event = 0;
		options.query.tree = true;
		if (keys[k])
			options.query.keys[options.query.nr_keys++] = keys[k];
		object = report(trace, &options);
		trees = member(object, "trees");
		sum = 0;
		for (size_t i = 0; i < json_object_array_length(trees); i++)
			sum += check_branch(json_object_array_get_idx(trees, i));
		assert_int_equal(sum, number(object, "total_weight"));
		assert_int_not_equal(sum, number(object, "sampled_weight"));
		children = member(json_object_array_get_idx(trees, 0), "children");
		if (!keys[k]) {
			struct json_object *first = json_object_array_get_idx(children, 0);

			assert_string_equal(json_object_get_string(member(first, "symbol")),
			                    "[unsampled]");
			assert_string_equal(json_object_get_string(member(first, "comm")), "fork");
			assert_true(json_object_get_boolean(member(first, "unsampled")));
		}
		json_object_put(object);
	}
	trace_close(trace);
	world_close(&w);
}

static void page_report(struct page *page, const struct trace *trace,
                        const struct report_options *options)
{
	page_open(page);
	assert_int_equal(report_text(page->file, trace, "x.atr", options), 0);
	fclose(page->file);
}

/* The sum of the percentages of self, the line for the rest included. */
static void text_shows_all(void **state)
{
	struct report_options options = by_function;
	struct trace *trace;
	struct page page;
	struct world w;

	(void)state;
	trace = record(&w, 64 << 10, 3000);
	options.query.event = 0;
	options.style.no_header = true;
	for (options.query.limit = 3; options.query.limit < 100; options.query.limit += 40) {
		double sum = 0;
		unsigned rows = 0;

		page_report(&page, trace, &options);
		for (char *line = strchr(page.text, '\n'); line[1]; line = strchr(line + 1, '\n')) {
			sum += strtod(line + 1, NULL);
			rows++;
		}
		assert_int_equal(rows, options.query.limit + 1);
		assert_true(sum > 99.7 && sum < 100.3);
		assert_null(strchr(page.text, '\033'));
		free(page.text);
	}
	trace_close(trace);
	world_close(&w);
}

/* Reports are not begun by pages of arguments, which are told by info. */
static void long_commands_stay_in_info(void **state)
{
	char command[5000];
	struct trace *trace;
	struct page page;
	struct world w;

	(void)state;
	memset(command, 'x', sizeof(command));
	command[sizeof(command) - 1] = 0;
	world_open(&w, 64 << 10);
	put_many(&w, 10);
	tables_run(w.tables)->command = tables_string(w.tables, command);
	trace = world_written(&w);
	page_report(&page, trace, &by_function);
	assert_in_range(strcspn(page.text, "\n"), 200, 300);
	free(page.text);
	page_open(&page);
	assert_int_equal(info_text(page.file, trace, "x.atr"), 0);
	fclose(page.file);
	assert_in_range(strcspn(strstr(page.text, "command"), "\n"), 2000, 2100);
	free(page.text);
	trace_close(trace);
	world_close(&w);
}

/* Its share is all, and nobody knows of what. */
static void one_sample_says_little(void **state)
{
	struct report_options options = by_function;
	struct json_object *object, *row;
	struct trace *trace;
	struct page page;
	struct world w;

	(void)state;
	trace = record(&w, 64 << 10, 1);
	options.query.event = 0;
	page_report(&page, trace, &options);
	assert_non_null(strstr(page.text, ": 1 sample = "));
	assert_non_null(strstr(page.text, "\n100.00% ±100.00%  "));
	free(page.text);
	object = report(trace, &options);
	row = json_object_array_get_idx(member(object, "functions"), 0);
	assert_int_equal(number(row, "error"), number(row, "self"));
	json_object_put(object);
	trace_close(trace);
	world_close(&w);
}

static void names_act_on_nothing(void **state)
{
	struct report_options options = by_function;
	struct trace *trace;
	struct page page;
	struct world w;

	(void)state;
	trace = record(&w, 64 << 10, 100);
	page_open(&page);
	assert_int_equal(report_text(page.file, trace, "\033c.atr", &options), 0);
	assert_int_equal(info_text(page.file, trace, "\033c.atr"), 0);
	assert_int_equal(dump_text(page.file, trace), 0);
	fclose(page.file);
	assert_non_null(strstr(page.text, "'\\x1b[31m'"));
	assert_null(strchr(page.text, '\033'));
	free(page.text);
	trace_close(trace);
	world_close(&w);
}

/* --- info and dump ---------------------------------------------------------------------------- */

static void info_accounts_for_all(void **state)
{
	struct json_object *object, *samples, *reductions;
	struct trace *trace;
	struct page page;
	struct world w;
	uint64_t taken = 0;

	(void)state;
	trace = record(&w, 64 << 10, 20000);
	page_open(&page);
	assert_int_equal(info_json(page.file, trace), 0);
	object = page_parse(&page);
	samples = member(object, "samples");
	for (unsigned k = 0; k < NR_EVENTS; k++)
		taken += w.hmb->ledger->taken[k];
	assert_int_equal(number(samples, "taken"), taken);
	assert_int_equal(number(samples, "taken"),
	                 number(samples, "stored") + number(samples, "reduced"));
	reductions = member(object, "reductions");
	assert_int_equal(json_object_array_length(reductions), w.hmb->ledger->nr_reductions);
	assert_int_equal(sum_of(member(object, "threads"), "stored"), number(samples, "stored"));
	assert_int_equal(json_object_array_length(member(object, "command")), 3);
	json_object_put(object);
	trace_close(trace);
	world_close(&w);
}

static void dump_has_every_sample(void **state)
{
	struct trace *trace;
	struct page page;
	struct world w;
	uint64_t nr = 0, last = 0;

	(void)state;
	trace = record(&w, 64 << 10, 3000);
	page_open(&page);
	assert_int_equal(dump_json(page.file, trace), 0);
	fclose(page.file);
	for (char *line = page.text, *end; *line; line = end + 1) {
		struct json_object *object;

		end = strchr(line, '\n');
		*end = 0;
		object = json_tokener_parse(line);
		assert_non_null(object);
		assert_true(number(object, "time_ns") >= last);
		last = number(object, "time_ns");
		assert_true(json_object_array_length(member(object, "stack")) >= 1);
		json_object_put(object);
		nr++;
	}
	assert_int_equal(nr, trace_event(trace, 0)->stored + trace_event(trace, 1)->stored);
	free(page.text);
	trace_close(trace);
	world_close(&w);
}

/* Code without a file is numbered by the low half of its address; what is told is the whole. */
static void addresses_are_whole(void **state)
{
	struct trace *trace;
	struct page page;
	struct world w;
	unsigned nr = 0;

	(void)state;
	world_open(&w, 64 << 10);
	put_many(&w, 100);
	tables_module(w.tables, 2)->type = MODULE_KERNEL;
	tables_module(w.tables, 2)->area = 0xffffffff;
	trace = world_written(&w);
	page_open(&page);
	assert_int_equal(dump_json(page.file, trace), 0);
	fclose(page.file);
	for (char *line = strtok(page.text, "\n"); line; line = strtok(NULL, "\n")) {
		struct json_object *object = json_tokener_parse(line), *stack;

		stack = member(object, "stack");
		for (size_t i = 0; i < json_object_array_length(stack); i++) {
			struct json_object *frame = json_object_array_get_idx(stack, i);
			const char *module = json_object_get_string(member(frame, "module"));

			assert_int_equal(number(frame, "offset") >> 32,
			                 strcmp(module, "app") ? 0 : 0xffffffff);
			nr += !strcmp(module, "app");
		}
		json_object_put(object);
	}
	assert_true(nr > 100);
	free(page.text);
	trace_close(trace);
	world_close(&w);
}

static bool warns_of(uint8_t kind, const char *words)
{
	struct json_object *object, *warnings;
	struct trace *trace;
	bool found = false;
	struct world w;

	world_open(&w, 64 << 10);
	put_many(&w, 300);
	tables_run(w.tables)->flags = TRACE_RUN_CGROUP;
	tables_module(w.tables, 2)->type = kind;
	tables_module(w.tables, 2)->build_id_size = 20;
	trace = world_written(&w);
	object = report(trace, &by_function);
	warnings = member(object, "warnings");
	for (size_t i = 0; i < json_object_array_length(warnings); i++)
		found |= strstr(json_object_get_string(json_object_array_get_idx(warnings, i)),
		                words) != NULL;
	json_object_put(object);
	trace_close(trace);
	world_close(&w);
	return found;
}

static void nameless_code_is_told(void **state)
{
	(void)state;
	assert_true(warns_of(MODULE_ANON, "without names that was generated at run time"));
	assert_false(warns_of(MODULE_FILE, "without names that was generated at run time"));
	assert_true(warns_of(MODULE_FILE, "without names; report --debuginfod"));
	assert_false(warns_of(MODULE_ANON, "without names; report"));
	assert_false(warns_of(MODULE_KERNEL, "without names; report"));
	assert_false(warns_of(MODULE_KERNEL, "without names that was generated at run time"));
}

/* Of which a part would be taken for the whole. */
static void half_a_trace_is_refused(void **state)
{
	struct report_options options = by_function;
	struct trace *trace;
	struct page page;
	struct world w;

	(void)state;
	trace_close(record(&w, 64 << 10, 300));
	announce_more(w.path);
	trace = open_good(w.path);
	page_open(&page);
	assert_int_equal(info_text(page.file, trace, "x.atr"), -EBADMSG);
	assert_int_equal(info_json(page.file, trace), -EBADMSG);
	assert_int_equal(dump_text(page.file, trace), -EBADMSG);
	assert_int_equal(dump_json(page.file, trace), -EBADMSG);
	for (unsigned tree = 0; tree < 2; tree++) {
		options.query.tree = tree;
		assert_int_equal(report_text(page.file, trace, "x.atr", &options), -EBADMSG);
		assert_int_equal(report_json(page.file, trace, &options.query), -EBADMSG);
	}
	free(page_close(&page));
	trace_close(trace);
	world_close(&w);
}

/* --- files that lie --------------------------------------------------------------------------- */

static void report_all(const struct trace *trace)
{
	struct report_options options = by_function;
	struct page page;

	options.query.limit = 5;
	page_open(&page);
	info_text(page.file, trace, "x.atr");
	info_json(page.file, trace);
	dump_text(page.file, trace);
	dump_json(page.file, trace);
	report_text(page.file, trace, "x.atr", &options);
	options.query.tree = true;
	report_text(page.file, trace, "x.atr", &options);
	options.query.per_thread = true;
	report_json(page.file, trace, &options.query);
	fclose(page.file);
	free(page.text);
}

static void lies_do_no_harm(void **state)
{
	char why[TRACE_WHY_SIZE];
	struct trace *trace;
	struct lies lies;
	struct world w;

	(void)state;
	trace_close(record(&w, 64 << 10, 60));
	lies_open(&lies, w.path);
	for (unsigned i = 0; i < 250; i++) {
		trace = trace_open(lies_next(&lies, 6), why);
		if (trace)
			report_all(trace);
		trace_close(trace);
	}
	lies_close(&lies);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_add_up),
		cmocka_unit_test(threads_add_up),
		cmocka_unit_test(trees_add_up),
		cmocka_unit_test(trees_hold_what_was_not_sampled),
		cmocka_unit_test(text_shows_all),
		cmocka_unit_test(long_commands_stay_in_info),
		cmocka_unit_test(one_sample_says_little),
		cmocka_unit_test(names_act_on_nothing),
		cmocka_unit_test(info_accounts_for_all),
		cmocka_unit_test(dump_has_every_sample),
		cmocka_unit_test(nameless_code_is_told),
		cmocka_unit_test(addresses_are_whole),
		cmocka_unit_test(half_a_trace_is_refused),
		cmocka_unit_test(lies_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
