/* The model of top: its intervals, the rows of the run beside them, and the last minute. */
#include <math.h>

#include "trace_world.h"

#include "output/screen/top_lines.h"
#include "output/screen/top_model.h"
#include "output/text/text.h"

enum { PERIOD = 97081, LIBRARY = 1, PROGRAM = 2 };
#define MS ((uint64_t)1000000)

/* A recording whose trace is written anew for each look. */
struct looked_at {
	struct world world;
	struct trace *trace;
	uint64_t now; /* ns up to which there are samples */
	unsigned flags;
	struct top_recording recording;
	struct top_model model;
};

static int renew(void *arg)
{
	struct looked_at *at = arg;

	trace_close(at->trace);
	tables_run(at->world.tables)->end = at->now;
	at->trace = world_written(&at->world);
	return 0;
}

static void choose(void *arg, uint64_t from, uint64_t max)
{
	(void)arg;
	(void)from;
	(void)max;
}

static int choose_window(void *arg, uint32_t number)
{
	(void)arg;
	(void)number;
	return 0;
}

static const struct trace *trace_of(void *arg)
{
	return ((struct looked_at *)arg)->trace;
}

static enum live_state state_of(void *arg)
{
	(void)arg;
	return LIVE_RECORDING;
}

static struct recording_state recorder_of(void *arg)
{
	return (struct recording_state){.flags = ((struct looked_at *)arg)->flags};
}

static bool name(void *arg, const struct profile *profile, bool patient)
{
	(void)arg;
	(void)profile;
	(void)patient;
	return false;
}

static void add_names(void *arg, const struct profile *profile)
{
	(void)arg;
	(void)profile;
}

static void look(struct looked_at *at)
{
	*at = (struct looked_at){.now = 1000,
	                         .recording = {.update = renew,
	                                       .choose = choose,
	                                       .choose_window = choose_window,
	                                       .trace = trace_of,
	                                       .state = state_of,
	                                       .recorder = recorder_of,
	                                       .name = name,
	                                       .add_names = add_names,
	                                       .arg = at,
	                                       .interval = 1000 * MS}};
	world_open(&at->world, 1 << 20);
	top_model_init(&at->model, &at->recording);
}

static void look_away(struct looked_at *at)
{
	top_model_fini(&at->model);
	trace_close(at->trace);
	world_close(&at->world);
}

/* The run goes on for some ms, with as many samples of a module. */
static void run(struct looked_at *at, uint64_t ms, uint64_t module)
{
	for (uint64_t i = 0; i < ms; i++) {
		struct hmb_sample sample = {.leaf = module << 32 | 16, .step = PERIOD};

		at->now += MS;
		sample.time = at->now >> TIME_SHIFT << TIME_SHIFT;
		hmb_put(at->world.hmb, &sample);
	}
}

static const struct top_row *row_of(const struct looked_at *at, const char *module)
{
	for (uint32_t i = 0; i < at->model.rows.nr; i++)
		if (!strcmp(at->model.rows.at[i].module, module))
			return &at->model.rows.at[i];
	fail_msg("no row of %s", module);
	return NULL;
}

static void functions_of_the_run_have_rows(void **state)
{
	const struct top_row *row;
	struct looked_at at;

	(void)state;
	look(&at);
	run(&at, 3000, LIBRARY);
	assert_int_equal(top_model_tick(&at.model), 0);
	assert_int_equal(at.model.rows.nr, 1);
	run(&at, 1000, PROGRAM);
	assert_int_equal(top_model_tick(&at.model), 0);
	assert_int_equal(at.model.rows.nr, 2);
	assert_string_equal(at.model.rows.at[0].module, "app");
	row = row_of(&at, "libx.so");
	assert_true(row->last == 0 && row->error > 0 && row->error < 0.01);
	assert_true(row->run > 0.74 && row->run < 0.76);
	top_model_sort(&at.model, true);
	assert_string_equal(at.model.rows.at[0].module, "libx.so");
	look_away(&at);
}

static void nothing_has_no_shares(void **state)
{
	struct looked_at at;
	char *line;
	size_t size;
	FILE *to;

	(void)state;
	look(&at);
	run(&at, 3000, LIBRARY);
	assert_int_equal(top_model_tick(&at.model), 0);
	at.now += 1000 * MS;
	assert_int_equal(top_model_tick(&at.model), -ENODATA);
	assert_int_equal(at.model.samples, 0);
	assert_true(row_of(&at, "libx.so")->run == 1);
	to = open_memstream(&line, &size);
	top_line_row(to, &at.model, row_of(&at, "libx.so"), 80);
	fclose(to);
	assert_non_null(strstr(line, " - "));
	assert_null(strstr(line, "±"));
	free(line);
	look_away(&at);
}

static void a_pause_is_in_no_interval(void **state)
{
	struct looked_at at;

	(void)state;
	look(&at);
	run(&at, 2000, LIBRARY);
	assert_int_equal(top_model_tick(&at.model), 0);
	at.flags = RECORDING_PAUSED;
	at.now += 60000 * MS;
	assert_int_equal(top_model_tick(&at.model), -ENODATA);
	at.flags = 0;
	run(&at, 1000, LIBRARY);
	assert_int_equal(top_model_tick(&at.model), 0);
	assert_int_equal(at.model.samples, 1000);
	assert_true(at.model.length < 1300 * MS);
	look_away(&at);
}

static void a_stopped_recording_keeps_its_last_picture(void **state)
{
	struct looked_at at;

	(void)state;
	look(&at);
	run(&at, 2000, LIBRARY);
	assert_int_equal(top_model_tick(&at.model), 0);
	run(&at, 20, LIBRARY);
	at.flags = RECORDING_STOPPED;
	assert_int_equal(top_model_tick(&at.model), 0);
	assert_true(at.model.samples > 1000 && row_of(&at, "libx.so")->last == 1);
	look_away(&at);
}

/* However long the ticks are, a steady load has bars of one height. */
static void bars_have_what_their_time_has(void **state)
{
	static const uint64_t ticks[] = {1000, 1000, 1000, 20000, 1000,
	                                 1000, 7000, 1000, 1000,  4000};
	double parts[40];
	struct top_row row;
	struct looked_at at;

	(void)state;
	look(&at);
	run(&at, 1000, LIBRARY);
	assert_int_equal(top_model_tick(&at.model), 0);
	for (unsigned i = 0; i < sizeof(ticks) / sizeof(*ticks); i++) {
		run(&at, ticks[i], i % 2 ? LIBRARY : PROGRAM);
		assert_int_equal(top_model_tick(&at.model), 0);
	}
	top_model_minute(&at.model, parts, 40);
	for (unsigned i = 15; i < 40; i++)
		assert_true(fabs(parts[i] - (double)PERIOD / (double)MS) < 0.002);
	assert_true(parts[10] == 0);
	row = *row_of(&at, "app");
	top_model_fill_minute(&at.model, &row);
	/* Parts are multiples of 6 s of 39, and the last but one has 4 s of the program. */
	assert_true(row.minute[5] == 0 && row.minute[6] == 0 && row.minute[9] == 0);
	assert_true(fabs(row.minute[8] - 4 / 6.) < 0.01);
	look_away(&at);
}

static void expect_run(const struct looked_at *at, unsigned columns, const char *wanted)
{
	char *line;
	size_t size;
	FILE *to = open_memstream(&line, &size);

	top_line_run(to, &at->model, columns);
	fclose(to);
	if (!strstr(line, wanted))
		fail_msg("no '%s' in '%s'", wanted, line);
	free(line);
}

static void the_event_that_is_shown_is_in_sight(void **state)
{
	struct looked_at at;

	(void)state;
	look(&at);
	run(&at, 2000, LIBRARY);
	assert_int_equal(top_model_tick(&at.model), 0);
	expect_run(&at, 80, "· ▸cpu-clock (1 of 2)");
	expect_run(&at, 120, "· ▸cpu-clock page-faults");
	look_away(&at);
}

/* Returns the columns of the second line. */
static unsigned load_width(const struct looked_at *at, unsigned columns)
{
	char *line;
	size_t size;
	unsigned width;
	FILE *to = open_memstream(&line, &size);

	top_line_load(to, &at->model, columns);
	fclose(to);
	width = text_put(NULL, line, 0);
	free(line);
	return width;
}

static void the_curve_has_as_many_bars_as_fit(void **state)
{
	struct looked_at at;

	(void)state;
	look(&at);
	run(&at, 2000, LIBRARY);
	assert_int_equal(top_model_tick(&at.model), 0);
	at.model.resident = 1000ULL << 20;
	at.model.mpi = 0.5;
	for (unsigned columns = 70; columns < 200; columns++)
		assert_in_range(load_width(&at, columns), 30, columns);
	assert_true(load_width(&at, 95) > load_width(&at, 70));
	assert_true(load_width(&at, 130) > load_width(&at, 70) + 40);
	look_away(&at);
}

/* A look at the recorder alone takes no samples. */
static void the_state_is_no_tick(void **state)
{
	struct looked_at at;
	uint64_t until;

	(void)state;
	look(&at);
	run(&at, 2000, LIBRARY);
	assert_int_equal(top_model_tick(&at.model), 0);
	until = at.model.until;
	run(&at, 20, LIBRARY);
	assert_int_equal(top_model_renew(&at.model), 0);
	assert_int_equal(at.model.until, until);
	assert_true(at.model.length > 900 * MS);
	run(&at, 980, LIBRARY);
	assert_int_equal(top_model_tick(&at.model), 0);
	assert_int_equal(at.model.samples, 1000);
	look_away(&at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_the_run_have_rows),
		cmocka_unit_test(nothing_has_no_shares),
		cmocka_unit_test(a_pause_is_in_no_interval),
		cmocka_unit_test(a_stopped_recording_keeps_its_last_picture),
		cmocka_unit_test(bars_have_what_their_time_has),
		cmocka_unit_test(the_event_that_is_shown_is_in_sight),
		cmocka_unit_test(the_curve_has_as_many_bars_as_fit),
		cmocka_unit_test(the_state_is_no_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
