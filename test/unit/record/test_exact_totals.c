/* Which of the kernel's totals of commands and threads are believed in the end. */
#include "tables_folder.h"

#include <sys/mman.h>
#include <unistd.h>

#include "record/exact_totals.h"
#include "task_records.h"
#include "perf/sampler/sampler_state.h"

enum { PERIOD = 1000, PID = 4000001, TOTAL = 1000000, ALLOWED = TOTAL / 50 + 10 * PERIOD };

struct world {
	struct record_config config;
	struct session session;
	struct sampler sampler;
	char *command[2], folder[64];
	uint64_t period;
	int fd;
};

/* A counter that tells this to who reads it. */
static int counted(uint64_t value)
{
	int fd = memfd_create("count", MFD_CLOEXEC);

	assert_int_equal(pwrite(fd, &value, sizeof(value), 0), sizeof(value));
	return fd;
}

/* The target's child, which is called that. */
static void start(struct tasks *tasks, pid_t pid, const char *comm)
{
	say_fork(tasks, PID, pid, pid, 1000);
	say_comm(tasks, pid, pid, comm, true, 1000);
}

/* One that ended, of which the kernel told this. */
static void run_child(struct tasks *tasks, pid_t pid, const char *comm, uint64_t value,
                      bool sampled)
{
	start(tasks, pid, comm);
	if (sampled)
		tasks_thread(tasks, tasks_of_sample(tasks, pid, pid), 1000);
	say_read(tasks, pid, pid, value, 1000);
	say_exit(tasks, pid, pid, 1000);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct session *s = &w->session;

	assert_non_null(w);
	w->period = PERIOD;
	w->fd = counted(TOTAL);
	w->command[0] = "app";
	w->config = (struct record_config){.command = w->command, .nr_events = 1};
	w->sampler = (struct sampler){
		.way = SAMPLER_LADDER,
		.nr_cpus = 1,
		.nr_targets = 1,
		.nr_events = 1,
		.started = true,
		.events[0] = {.base_period = &w->period,
	                      .fds = &w->fd,
	                      .nr_rungs = 1,
	                      .nr_steps = 1},
		.exact_fd = counted(TOTAL),
	};
	s->config = &w->config;
	session_init_events(s, 1);
	s->sampler = &w->sampler;
	s->sampling.way = SAMPLER_LADDER;
	s->modules = module_table_new();
	s->tables = tables_in_folder(w->folder, 64 << 10);
	tasks_init(&s->tasks, s->tables, s->modules, 1, NULL, NULL);
	assert_int_equal(tasks_add_forked(&s->tasks, PID), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	tasks_fini(&w->session.tasks);
	tables_free(w->session.tables);
	module_table_free(w->session.modules);
	close(w->fd);
	close(w->sampler.exact_fd);
	rmdir(w->folder);
	free(w);
	return 0;
}

static struct trace_command *command(struct world *w, const char *comm)
{
	struct tables *tables = w->session.tables;

	return tables_command(tables, tables_string(tables, comm));
}

static void check(struct world *w, const char *comm, bool known, uint64_t exact)
{
	assert_int_equal(command(w, comm)->flags & TRACE_THREAD_EXACT,
	                 known ? TRACE_THREAD_EXACT : 0);
	assert_int_equal(command(w, comm)->exact, exact);
}

/* What the totals by task sum up to, and the verdict on them. */
static void judge(struct world *w, uint64_t exact, bool believed)
{
	struct trace_thread *thread;

	run_child(&w->session.tasks, PID + 1, "child", 5000, true);
	close(w->sampler.exact_fd);
	w->sampler.exact_fd = counted(exact);
	exact_total(&w->session);
	check(w, "child", believed, believed ? 5000 : 0);
	thread = tables_thread(w->session.tables, 0);
	assert_int_equal(thread->exact, believed ? 5000 : 0);
	assert_int_equal(thread->flags & TRACE_THREAD_EXACT, believed ? TRACE_THREAD_EXACT : 0);
}

static void totals_that_agree_are_believed(void **state)
{
	judge(*state, TOTAL, true);
}

static void a_little_is_no_loss(void **state)
{
	judge(*state, TOTAL - ALLOWED, true);
}

static void a_little_more_is_none(void **state)
{
	judge(*state, TOTAL + ALLOWED, true);
}

/* Records that found no room: of those commands that lost more, more is missing. */
static void lost_records_make_all_unknown(void **state)
{
	struct world *w = *state;

	w->sampler.lost_records = 1;
	run_child(&w->session.tasks, PID + 2, "other", TOTAL - ALLOWED - 5001, false);
	judge(w, TOTAL, false);
	check(w, "other", false, 0);
}

static void lost_records_of_little_are_no_loss(void **state)
{
	struct world *w = *state;

	w->sampler.lost_records = 1;
	run_child(&w->session.tasks, PID + 2, "other", TOTAL - ALLOWED - 5000, false);
	start(&w->session.tasks, PID + 3, "child");
	tasks_note_dead(&w->session.tasks);
	judge(w, TOTAL, true);
	check(w, "other", true, TOTAL - ALLOWED - 5000);
}

/* The kernel lost counts when it swapped contexts: of whom, nobody knows. */
static void what_was_lost_makes_all_unknown(void **state)
{
	judge(*state, TOTAL - ALLOWED - 1, false);
}

static void what_was_counted_twice_does_as_well(void **state)
{
	judge(*state, TOTAL + ALLOWED + 1, false);
}

static void counters_that_cannot_be_read_are_none(void **state)
{
	judge(*state, 0, false);
}

/* Nobody ran, and nothing was sampled: there is nothing to doubt, nor to tell. */
static void nothing_is_nothing(void **state)
{
	struct world *w = *state;
	const uint64_t none = 0;

	assert_int_equal(pwrite(w->fd, &none, sizeof(none), 0), sizeof(none));
	assert_int_equal(pwrite(w->sampler.exact_fd, &none, sizeof(none), 0), sizeof(none));
	exact_total(&w->session);
	assert_null(tables_thread(w->session.tables, 0));
}

/* As some kernels do: then what an earlier program is credited with is not all of its command. */
static void who_is_told_nothing_knows_the_total(void **state)
{
	struct world *w = *state;

	start(&w->session.tasks, PID + 1, "child");
	command(w, "child")->flags |= TRACE_THREAD_EXACT;
	say_exit(&w->session.tasks, PID + 1, PID + 1, 1000);
	exact_total(&w->session);
	check(w, "child", false, 0);
	for (uint32_t i = 0; tables_command_at(w->session.tables, i); i++)
		tables_command_at(w->session.tables, i)->tasks = 0;
	command(w, "app")->tasks = 2;
	command(w, "child")->exact = 1; /* executed app */
	exact_total(&w->session);
	check(w, "app", false, 0);
	exact_total(&w->session);
	check(w, "app", true, TOTAL);
	check(w, "child", false, 0);
}

/* Programs that ran by turns, and how long each did, until all have used so much. */
static void take_turns(struct world *w, uint64_t end)
{
	struct tasks *tasks = &w->session.tasks;

	tasks->by_switches = true;
	say_comm(tasks, PID, PID, "app", true, 1000);
	say_switch(tasks, RECORD_STOP, PID, 3000);
	say_fork(tasks, PID, PID + 1, PID + 1, 3000);
	say_switch(tasks, RECORD_RUN, PID + 1, 3400);
	say_switch(tasks, RECORD_STOP, PID + 1, 3800);
	say_switch(tasks, RECORD_RUN, PID + 1, 4400);
	tasks_of_sample(tasks, PID + 1, PID + 1)->usage.sampled = 5000; /* knows it less well */
	say_comm(tasks, PID + 1, PID + 1, "child", true, 5000);
	say_comm(tasks, PID + 1, PID + 1, "last", true, 7500);
	say_exit(tasks, PID + 1, PID + 1, 9000);
	say_switch(tasks, RECORD_RUN, PID, 9000);
	say_switch(tasks, RECORD_STOP, PID, end);
}

static void switches_tell_what_each_used(void **state)
{
	struct world *w = *state;

	take_turns(w, 9000 + TOTAL - 7000);
	say_exit(&w->session.tasks, PID, PID, 2 * TOTAL);
	exact_total(&w->session);
	check(w, "child", true, 2500);
	check(w, "last", true, 1500);
	check(w, "app", true, TOTAL - 4000);
}

/* Who runs on has told nothing, but used what it did. */
static void switches_tell_of_who_runs_on(void **state)
{
	struct world *w = *state;

	take_turns(w, 9000 + TOTAL - 7000);
	exact_total(&w->session);
	check(w, "child", true, 2500);
	check(w, "app", false, 1000);
}

static void lost_switches_tell_nothing(void **state)
{
	struct world *w = *state;

	take_turns(w, 9000 + TOTAL / 10 * 9);
	exact_total(&w->session);
	check(w, "child", false, 0);
	check(w, "app", false, 0);
}

static void nor_do_those_that_came_too_often(void **state)
{
	struct world *w = *state;

	run_child(&w->session.tasks, PID + 9, "child", 5000, false);
	tasks_forget_switches(&w->session.tasks);
	exact_total(&w->session);
	check(w, "child", false, 0);
}

/* Who executes takes the number of its process's first thread, and what it used itself with it. */
static void a_thread_that_executes_goes_on(void **state)
{
	struct world *w = *state;
	struct tasks *tasks = &w->session.tasks;

	tasks->by_switches = true;
	say_comm(tasks, PID, PID, "app", true, 1000);
	say_fork(tasks, PID, PID, PID + 1, 1000);
	say_switch(tasks, RECORD_RUN, PID + 1, 2000);
	say_exit(tasks, PID, PID, 4000);
	say_comm(tasks, PID, PID, "new", true, 5000);
	say_switch(tasks, RECORD_STOP, PID, 5000 + TOTAL - 6000);
	say_exit(tasks, PID, PID, 9 * TOTAL);
	exact_total(&w->session);
	check(w, "app", true, 6000);
	check(w, "new", true, TOTAL - 6000);
}

/* A command's total is known when all of it has ended. */
static void what_runs_on_has_not_told_its_total(void **state)
{
	struct world *w = *state;

	run_child(&w->session.tasks, PID + 1, "daemon", 5000, false);
	run_child(&w->session.tasks, PID + 2, "child", 7000, false);
	start(&w->session.tasks, PID + 3, "daemon");
	exact_total(&w->session);
	check(w, "daemon", false, 5000);
	check(w, "child", true, 7000);
}

/* A thread of a process counts as much as its first. */
static void nor_has_a_thread_that_does(void **state)
{
	struct world *w = *state;

	start(&w->session.tasks, PID + 1, "pool");
	run_child(&w->session.tasks, PID + 5, "pool", 300, false);
	say_fork(&w->session.tasks, PID + 1, PID + 1, PID + 2, 1000);
	say_exit(&w->session.tasks, PID + 1, PID + 1, 1000);
	exact_total(&w->session);
	check(w, "pool", false, 300);
}

/* Who never executed was ours, and has nothing to tell of the target. */
static void who_awaits_its_exec_is_not_living(void **state)
{
	struct world *w = *state;
	struct trace_command *first = tables_command_at(w->session.tables, 0);

	first->flags |= TRACE_THREAD_EXACT;
	first->exact = 12;
	exact_total(&w->session);
	assert_int_equal(first->flags & TRACE_THREAD_EXACT, TRACE_THREAD_EXACT);
	say_comm(&w->session.tasks, PID, PID, "app", true, 1000);
	command(w, "app")->flags |= TRACE_THREAD_EXACT;
	exact_total(&w->session);
	check(w, "app", false, 0);
}

/* Of a cgroup, and of who ran before, there are no totals by task to judge. */
static void other_ways_are_left_alone(void **state)
{
	struct world *w = *state;

	run_child(&w->session.tasks, PID + 1, "child", 5000, false);
	close(w->sampler.exact_fd);
	w->sampler.exact_fd = -1;
	w->session.sampling.way = SAMPLER_CGROUP;
	exact_total(&w->session);
	w->session.sampling.way = SAMPLER_LADDER;
	w->config.command = NULL;
	exact_total(&w->session);
	check(w, "child", true, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(totals_that_agree_are_believed),
		TEST(a_little_is_no_loss),
		TEST(a_little_more_is_none),
		TEST(lost_records_make_all_unknown),
		TEST(lost_records_of_little_are_no_loss),
		TEST(what_was_lost_makes_all_unknown),
		TEST(what_was_counted_twice_does_as_well),
		TEST(counters_that_cannot_be_read_are_none),
		TEST(nothing_is_nothing),
		TEST(who_is_told_nothing_knows_the_total),
		TEST(switches_tell_what_each_used),
		TEST(switches_tell_of_who_runs_on),
		TEST(lost_switches_tell_nothing),
		TEST(nor_do_those_that_came_too_often),
		TEST(a_thread_that_executes_goes_on),
		TEST(what_runs_on_has_not_told_its_total),
		TEST(nor_has_a_thread_that_does),
		TEST(who_awaits_its_exec_is_not_living),
		TEST(other_ways_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
