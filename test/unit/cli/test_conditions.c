/* Conditions: what their texts mean, where they are wrong, and when they come true. */
#include "cases.h"
#include "cli/watch/condition.h"
#include "cli/watch/median.h"
#include "cli/watch/trigger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND     ((uint64_t)1000000000)
#define LEN(array) (sizeof(array) / sizeof(*(array)))

static void parse(struct condition *condition, const char *text)
{
	size_t at;
	const char *wrong = condition_parse(condition, text, &at);

	if (wrong)
		fail_msg("'%s': %s at '%s'", text, wrong, text + at);
	assert_string_equal(condition->text, text);
}

static void metrics_operators_and_values(void **state)
{
	static const struct {
		const char *text;
		struct condition_term term;
	} cases[] = {
		{"rate(page-faults) > 10k/s: mark",
	         {.metric = METRIC_RATE, .name = "page-faults", .bound = 10000}},
		{"rate( cycles:u )>2.5M:mark",
	         {.metric = METRIC_RATE, .name = "cycles:u", .bound = 2.5e6}},
		{"share(spin_lock*) > 20% for 2s: mark",
	         {.metric = METRIC_SHARE,
	          .name = "spin_lock*",
	          .bound = 0.2,
	          .for_ns = 2 * SECOND}},
		{"share(PairLJCut::compute(int, int)) < 0.5 for 500ms: mark",
	         {.metric = METRIC_SHARE,
	          .name = "PairLJCut::compute(int, int)",
	          .below = true,
	          .bound = 0.5,
	          .for_ns = SECOND / 2}},
		{"ratio(cache-misses, cycles) > 5%: mark",
	         {.metric = METRIC_RATIO,
	          .name = "cache-misses",
	          .other = "cycles",
	          .bound = 0.05}},
		{"ratio(cpu/event=1,umask=2/,cycles) > 1: mark",
	         {.metric = METRIC_RATIO,
	          .name = "cpu/event=1,umask=2/",
	          .other = "cycles",
	          .bound = 1}},
		{"mpi > 40 %: mark", {.metric = METRIC_MPI, .bound = 0.4}},
		{"time(step) > 1.5*median: mark",
	         {.metric = METRIC_TIME, .name = "step", .bound_type = BOUND_MEDIAN, .bound = 1.5}},
		{"time(a b) > 20ms: mark", {.metric = METRIC_TIME, .name = "a b", .bound = 0.02}},
		{"value(residual) > 3e2 for 1m: mark",
	         {.metric = METRIC_VALUE, .name = "residual", .bound = 300, .for_ns = 60 * SECOND}},
		{"rss > 90% of limit: mark",
	         {.metric = METRIC_RSS, .bound_type = BOUND_LIMIT, .bound = 0.9}},
		{"rss > 2G: mark", {.metric = METRIC_RSS, .bound = 2147483648.0}},
		{"cpu < 0.5 for 10: mark",
	         {.metric = METRIC_CPU, .below = true, .bound = 0.5, .for_ns = 10 * SECOND}},
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		const struct condition_term *wanted = &cases[i].term;
		struct condition condition;

		parse(&condition, cases[i].text);
		assert_int_equal(condition.nr_terms, 1);
		assert_int_equal(condition.terms[0].metric, wanted->metric);
		assert_int_equal(condition.terms[0].below, wanted->below);
		assert_int_equal(condition.terms[0].bound_type, wanted->bound_type);
		assert_int_equal(condition.terms[0].for_ns, wanted->for_ns);
		assert_float_equal(condition.terms[0].bound, wanted->bound, wanted->bound * 1e-9);
		if (wanted->name)
			assert_string_equal(condition.terms[0].name, wanted->name);
		else
			assert_null(condition.terms[0].name);
		if (wanted->other)
			assert_string_equal(condition.terms[0].other, wanted->other);
		condition_fini(&condition);
	}
}

static void terms_and_actions(void **state)
{
	struct condition condition;

	(void)state;
	parse(&condition, "rss > 1 for 1s and cpu < 2 and mpi > 3%: snapshot, detail=5@2000, "
	                  "pause=10m, stop, mark=slow step , run=mail me, now");
	assert_int_equal(condition.nr_terms, 3);
	assert_int_equal(condition.terms[1].metric, METRIC_CPU);
	assert_int_equal(condition.nr_actions, 6);
	assert_int_equal(condition.actions[0].type, ACTION_SNAPSHOT);
	assert_float_equal(condition.actions[1].seconds, 5, 0);
	assert_float_equal(condition.actions[1].hz, 2000, 0);
	assert_float_equal(condition.actions[2].seconds, 600, 0);
	assert_int_equal(condition.actions[3].type, ACTION_STOP);
	assert_string_equal(condition.actions[4].text, "slow step");
	assert_string_equal(condition.actions[5].text, "mail me, now");
	assert_true(condition_has_action(&condition, ACTION_RUN));
	condition_fini(&condition);
	parse(&condition, "cpu > 1: detail, mark");
	assert_float_equal(condition.actions[0].seconds, 1, 0);
	assert_null(condition.actions[1].text);
	assert_false(condition_has_action(&condition, ACTION_SNAPSHOT));
	condition_fini(&condition);
}

static void errors_point_at_their_place(void **state)
{
	/* The place is where the part after '|' begins. */
	static const char *const texts[][2] = {
		{"|", "a metric is missing"},
		{"|load > 2: mark", "a metric is missing"},
		{"rate| > 2: mark", "a name in parentheses"},
		{"rate(|x > 2: mark", "')' is missing"},
		{"rate(|) > 2: mark", "a name is missing"},
		{"ratio(|a) > 2: mark", "takes two events"},
		{"ratio(|a,) > 2: mark", "a name is missing"},
		{"cpu |= 2: mark", "'<' or '>'"},
		{"cpu >|= 2: mark", "a number"},
		{"cpu > |x: mark", "a number"},
		{"cpu > |-1: mark", "a number"},
		{"cpu > |inf: mark", "a number"},
		{"cpu > |0x10: mark", "a number"},
		{"cpu > 2|Q: mark", "an unknown unit"},
		{"time(a) > 2|k: mark", "an unknown unit"},
		{"rate(a) > 2|%: mark", "no percentage"},
		{"share(f) >| 20: mark", "at most 100 %"},
		{"mpi >| 101%: mark", "at most 100 %"},
		{"rss > 90%|: mark", "'of limit'"},
		{"rss > 90% of |all: mark", "'limit'"},
		{"cpu > 2*|mean: mark", "'median'"},
		{"cpu > 2 for |: mark", "a time"},
		{"cpu > 2 for |2x: mark", "a time"},
		{"cpu > 2 and |: mark", "a metric"},
		{"cpu > 2", "':' and an action"},
		{"cpu > 2 |or cpu < 1: mark", "':' and an action"},
		{"cpu > 2: |", "an action"},
		{"cpu > 2: |jump", "an action"},
		{"cpu > 2: mark, |", "an action"},
		{"cpu > 2: stop |now", "','"},
		{"cpu > 2: run|", "'=' and a command"},
		{"cpu > 2: run=|", "a command"},
		{"cpu > 2: detail=|x", "a time"},
		{"cpu > 2: detail=2@|x", "a rate"},
		{"cpu > 2: pause=|never", "a time"},
		{"cpu > 2: mark=a|\nb", "a control character"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(texts); i++) {
		const char *place = strchr(texts[i][0], '|');
		size_t before = place ? (size_t)(place - texts[i][0]) : strlen(texts[i][0]), at;
		struct condition condition;
		const char *wrong;
		char text[128];

		snprintf(text, sizeof(text), "%.*s%s", (int)before, texts[i][0],
		         place ? place + 1 : "");
		wrong = condition_parse(&condition, text, &at);
		before += strspn(text + before, " ");
		if (!wrong || !strstr(wrong, texts[i][1]) || at != before)
			fail_msg("'%s': %s at %zu, not %zu", text, wrong ? wrong : "right", at,
			         before);
		condition_fini(&condition);
	}
}

static void long_texts_are_refused(void **state)
{
	struct condition condition;
	char text[400] = "cpu > 2: run=";
	size_t at;

	(void)state;
	memset(text + strlen(text), 'x', 300);
	assert_non_null(condition_parse(&condition, text, &at));
	assert_int_equal(at, CONDITION_MAX_TEXT);
	condition_fini(&condition);
	text[CONDITION_MAX_TEXT] = '\0';
	parse(&condition, text);
	condition_fini(&condition);
}

/* Any bytes give a condition or an error inside of the text, and nothing is read beyond it. */
static void any_text_is_parsed(void **state)
{
	static const char *const pieces[] = {
		"cpu",  "rate(", "x)", " > ", "<", "2", "%", "*",    "median", ":", "mark", ",",
		"run=", "for ",  "1s", "and", "(", ")", "/", "\xff", "of",     " ", "1e9",  "@"};

	(void)state;
	srand(1);
	for (int i = 0; i < ROUNDS(200000); i++) {
		struct condition condition;
		char text[128] = "";
		size_t at;

		for (int n = rand() % 14; n > 0; n--)
			strcat(text, pieces[(size_t)rand() % LEN(pieces)]);
		condition_parse(&condition, text, &at);
		assert_true(at <= strlen(text));
		condition_fini(&condition);
	}
}

/* --- triggers --------------------------------------------------------------------------------- */

static struct reading is(double value)
{
	return (struct reading){.state = READING_NEW, .least = value, .most = value};
}

static bool step(struct trigger *trigger, double seconds, struct reading reading)
{
	return trigger_step(trigger, (uint64_t)(seconds * 1e9), &reading, true);
}

static void once_until_false_again(void **state)
{
	struct condition condition;
	struct trigger trigger;

	(void)state;
	parse(&condition, "cpu > 1: mark");
	trigger_init(&trigger, &condition);
	assert_false(step(&trigger, 1, is(1)));
	assert_true(step(&trigger, 2, is(1.5)));
	assert_float_equal(trigger_value(&trigger), 1.5, 0);
	for (int i = 0; i < 1000; i++)
		assert_false(step(&trigger, 3 + i, is(2)));
	assert_false(step(&trigger, 1100, is(0)));
	assert_true(step(&trigger, 1101, is(2)));
	condition_fini(&condition);
}

static void at_most_once_a_minute_and_ten_times(void **state)
{
	struct condition condition;
	struct trigger trigger;
	unsigned fired = 0, last = 0;

	(void)state;
	parse(&condition, "cpu > 1: mark");
	trigger_init(&trigger, &condition);
	for (unsigned i = 1; i < 10000; i++)
		if (step(&trigger, i, is(i % 2 ? 2 : 0))) {
			assert_true(!last || i >= last + 60);
			last = i;
			fired++;
		}
	assert_int_equal(fired, TRIGGER_MOST);
	condition_fini(&condition);
}

/* It fires later if it holds still. */
static void waits_until_it_may_fire(void **state)
{
	struct condition condition;
	struct trigger trigger;
	struct reading reading = is(2);

	(void)state;
	parse(&condition, "cpu > 1: mark");
	trigger_init(&trigger, &condition);
	assert_false(trigger_step(&trigger, SECOND, &reading, false));
	assert_true(trigger_step(&trigger, 2 * SECOND, &reading, true));
	condition_fini(&condition);
}

static void holds_for_a_time(void **state)
{
	struct condition condition;
	struct trigger trigger;

	(void)state;
	parse(&condition, "cpu > 1 for 2s: mark");
	trigger_init(&trigger, &condition);
	assert_false(step(&trigger, 1, is(2)));
	assert_false(step(&trigger, 2.9, is(2)));
	assert_false(step(&trigger, 2.95, is(0)));
	assert_false(step(&trigger, 3, is(2)));
	assert_false(step(&trigger, 4.9, is(2)));
	assert_true(step(&trigger, 5, is(2)));
	assert_false(step(&trigger, 6, (struct reading){.state = READING_UNKNOWN}));
	condition_fini(&condition);
}

/* Several values between two looks: one is enough. Without a new one nothing changes. */
static void series_have_several_values(void **state)
{
	struct condition condition;
	struct trigger trigger;
	struct reading reading = {
		.state = READING_NEW, .least = 1, .most = 4, .median = 1, .nr = 1000};

	(void)state;
	parse(&condition, "time(step) > 2*median: mark");
	trigger_init(&trigger, &condition);
	assert_true(step(&trigger, 1, reading));
	assert_float_equal(trigger_value(&trigger), 4, 0);
	reading.state = READING_SAME;
	assert_false(step(&trigger, 100, reading));
	reading.state = READING_NEW;
	reading.most = 2;
	assert_false(step(&trigger, 101, reading));
	reading.most = 2.1;
	reading.nr = TRIGGER_LEAST_NR - 1; /* a median of too few */
	assert_false(step(&trigger, 102, reading));
	reading.nr++;
	assert_true(step(&trigger, 103, reading));
	condition_fini(&condition);
}

static void all_terms_hold_together(void **state)
{
	struct condition condition;
	struct trigger trigger;
	struct reading readings[2] = {is(0.95), is(1)};

	(void)state;
	parse(&condition, "rss > 90% of limit and cpu < 2: mark");
	trigger_init(&trigger, &condition);
	assert_false(trigger_step(&trigger, 1, readings, true)); /* the limit is not known */
	readings[0].limit = 1;
	assert_true(trigger_step(&trigger, 2, readings, true));
	readings[1] = is(3);
	assert_false(trigger_step(&trigger, 3, readings, true));
	condition_fini(&condition);
}

static void medians_are_near(void **state)
{
	struct median *median = calloc(1, sizeof(*median));

	(void)state;
	assert_non_null(median);
	assert_float_equal(median_get(median), 0, 0);
	for (int i = 1; i <= 1001; i++)
		median_add(median, i * 1e-6);
	median_add(median, NAN);
	assert_float_equal(median_get(median), 501e-6, 501e-6 * 0.01);
	for (int i = 0; i < 3000; i++)
		median_add(median, -3e30);
	assert_true(median_get(median) < -1e18); /* as large as the largest bucket */
	for (int i = 0; i < 10000; i++)
		median_add(median, 0);
	assert_float_equal(median_get(median), 0, 0);
	assert_int_equal(median->nr, 14001);
	free(median);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_operators_and_values),
		cmocka_unit_test(terms_and_actions),
		cmocka_unit_test(errors_point_at_their_place),
		cmocka_unit_test(long_texts_are_refused),
		cmocka_unit_test(any_text_is_parsed),
		cmocka_unit_test(once_until_false_again),
		cmocka_unit_test(at_most_once_a_minute_and_ten_times),
		cmocka_unit_test(waits_until_it_may_fire),
		cmocka_unit_test(holds_for_a_time),
		cmocka_unit_test(series_have_several_values),
		cmocka_unit_test(all_terms_hold_together),
		cmocka_unit_test(medians_are_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
