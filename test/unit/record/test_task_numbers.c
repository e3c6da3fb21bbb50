#include "cases.h"
#include "task_records.h"

#include <stdio.h>

#define LEADER 1000000001 /* no such process: nothing of /proc gets in the way */
#define WORKER 1000000002
#define OTHER  1000000003
#define SECOND ((uint64_t)1000000000)

struct world {
	struct tables *tables;
	struct module_table *modules;
	struct tasks tasks;
	uint64_t now;
};

static int setup(void **state)
{
	static struct world world;

	world.tables = tables_new(1 << 20, NULL);
	world.modules = module_table_new();
	world.now = SECOND;
	if (!world.tables || !world.modules)
		return -1;
	tables_ledger(world.tables)->nr_kinds = 1;
	tasks_init(&world.tasks, world.tables, world.modules, 1, NULL, NULL);
	*state = &world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	tasks_fini(&world->tasks);
	module_table_free(world->modules);
	tables_free(world->tables);
	return 0;
}

static struct record record_of(struct world *world, enum record_type type, int pid, int tid)
{
	world->now += 1000;
	return (struct record){
		.type = type, .time = world->now, .pid = (uint32_t)pid, .tid = (uint32_t)tid};
}

static void born(struct world *world, int pid, int tid, int parent)
{
	say_fork(&world->tasks, parent, pid, tid, world->now += 1000);
}

static void named(struct world *world, int pid, int tid, const char *comm, bool exec)
{
	say_comm(&world->tasks, pid, tid, comm, exec, world->now += 1000);
}

static void ended(struct world *world, int pid, int tid)
{
	say_exit(&world->tasks, pid, tid, world->now += 1000);
}

static void grace_passes(struct world *world)
{
	struct record record;

	world->now += SECOND;
	record = record_of(world, RECORD_OTHER, 0, 0);
	tasks_record(&world->tasks, &record);
}

static const char *comm_at(struct world *world, uint32_t comm)
{
	return tables_string_at(world->tables, comm);
}

static void test_exec_of_another_thread(void **state)
{
	struct world *world = *state;
	struct task *task;

	named(world, LEADER, LEADER, "before", true);
	born(world, LEADER, WORKER, LEADER);
	ended(world, LEADER, LEADER);
	named(world, LEADER, LEADER, "after", true);
	grace_passes(world);
	assert_int_equal(world->tasks.unobserved, 0);
	assert_int_equal(HASH_COUNT(world->tasks.tasks), 1);
	task = tasks_of_sample(&world->tasks, LEADER, LEADER);
	assert_int_equal(task->ended, 0);
	assert_int_equal(task->process->nr_tasks, 1);
	/* the worker's number comes back in another process */
	born(world, OTHER, WORKER, LEADER);
	assert_int_equal(tasks_of_sample(&world->tasks, OTHER, WORKER)->process->pid, OTHER);
}

static void test_numbers_reused_after_lost_ends(void **state)
{
	struct world *world = *state;

	named(world, LEADER, LEADER, "a", true);
	born(world, LEADER, WORKER, LEADER);
	born(world, OTHER, WORKER, LEADER);
	assert_int_equal(tasks_of_sample(&world->tasks, OTHER, WORKER)->process->pid, OTHER);
	assert_int_equal(tasks_of_sample(&world->tasks, LEADER, WORKER)->process->pid, LEADER);
	/* between its EXIT and the end of its grace, too */
	ended(world, LEADER, WORKER);
	assert_int_equal(tasks_of_sample(&world->tasks, OTHER, WORKER)->process->pid, OTHER);
	assert_null(world->tasks.oldest_ended);
	assert_null(tasks_of_sample(&world->tasks, -1, -1));
	assert_int_equal(tasks_of_sample(&world->tasks, LEADER, -1)->tid, LEADER);
}

/* Numbers that a process writes into its memory are anybody's. */
static void test_claims(void **state)
{
	struct world *world = *state;
	struct tasks *tasks = &world->tasks;

	named(world, LEADER, LEADER, "a", true);
	born(world, LEADER, WORKER, LEADER);
	named(world, OTHER, OTHER, "b", true);
	assert_int_equal(tasks_of_claim(tasks, LEADER, WORKER)->tid, WORKER);
	assert_int_equal(tasks_of_claim(tasks, OTHER, WORKER)->tid, OTHER);
	assert_int_equal(tasks_of_sample(tasks, LEADER, WORKER)->process->pid, LEADER);
	assert_int_equal(HASH_COUNT(tasks->tasks), 3);
	for (unsigned i = 1; i < 2 * TASKS_MAX_CLAIMED; i++)
		assert_int_equal(tasks_of_claim(tasks, OTHER, WORKER + (int)i)->process->pid,
		                 OTHER);
	assert_int_equal(HASH_COUNT(tasks->tasks), 3 + TASKS_MAX_CLAIMED);
	/* What the kernel tells makes room again. */
	born(world, LEADER, WORKER + 9, LEADER);
	assert_int_equal(tasks_of_claim(tasks, OTHER, 1 << 20)->tid, 1 << 20);
	assert_int_equal(tasks_of_claim(tasks, OTHER, 1 << 21)->tid, OTHER);
}

/* What is left of a process before it, because ends are young or were lost, is not its own. */
static void test_process_reused(void **state)
{
	struct world *world = *state;
	struct record code = record_of(world, RECORD_MMAP, LEADER, LEADER);
	struct task *task;

	named(world, OTHER, OTHER, "parent", true);
	named(world, LEADER, LEADER, "old", true);
	born(world, LEADER, WORKER, LEADER);
	code.mmap.start = 0x10000;
	code.mmap.end = 0x20000;
	code.mmap.path = "//anon";
	tasks_record(&world->tasks, &code);
	ended(world, LEADER, LEADER);
	born(world, LEADER, LEADER, OTHER);
	task = tasks_of_sample(&world->tasks, LEADER, LEADER);
	assert_string_equal(comm_at(world, task->comm), "parent");
	assert_int_equal(task->process->nr_tasks, 1);
	assert_null(space_lookup(task->process->space, 0x10000));
	assert_int_equal(HASH_COUNT(world->tasks.tasks), 2);
}

static void test_order_of_ends(void **state)
{
	struct world *world = *state;

	named(world, LEADER, LEADER, "a", true);
	for (int i = 0; i < 4; i++) {
		born(world, LEADER, WORKER + i, LEADER);
		ended(world, LEADER, WORKER + i);
	}
	/* the last, the first and the one between leave the list */
	tasks_of_sample(&world->tasks, OTHER, WORKER + 3);
	tasks_of_sample(&world->tasks, OTHER, WORKER);
	ended(world, LEADER, LEADER);
	tasks_of_sample(&world->tasks, OTHER, WORKER + 2);
	grace_passes(world);
	assert_int_equal(HASH_COUNT(world->tasks.tasks), 3);
	assert_null(world->tasks.oldest_ended);
}

static void test_shared_slot_keeps_its_name(void **state)
{
	struct world *world = *state;
	struct task *task = NULL;
	uint32_t shared = 0;

	named(world, LEADER, LEADER, "many", true);
	for (int i = 0; !tables_run(world->tables)->folded_threads; i++) {
		task = tasks_of_sample(&world->tasks, LEADER, LEADER + i);
		shared = tasks_thread(&world->tasks, task, world->now);
		tables_thread_stored(world->tables, shared, 0, 0);
	}
	assert_true(tables_thread(world->tables, shared)->flags & TRACE_THREAD_FOLDED);
	named(world, LEADER, task->tid, "renamed", false);
	assert_string_equal(comm_at(world, tables_thread(world->tables, shared)->comm), "many");
	assert_int_not_equal(tasks_thread(&world->tasks, task, world->now), shared);
}

static void test_names_without_end(void **state)
{
	struct world *world = *state;
	char comm[16];

	for (int i = 0; i < 2 * TRACE_MAX_COMMANDS; i++) {
		snprintf(comm, sizeof(comm), "name%d", i);
		named(world, LEADER, LEADER, comm, false);
	}
	assert_true(tables_section(world->tables, TRACE_STRINGS).nr < TRACE_MAX_COMMANDS * 12);
	assert_string_equal(comm_at(world, tasks_of_sample(&world->tasks, LEADER, LEADER)->comm),
	                    "[other commands]");
	named(world, LEADER, LEADER, "name7", false);
	assert_string_equal(comm_at(world, tasks_of_sample(&world->tasks, LEADER, LEADER)->comm),
	                    "name7");
	assert_int_equal(
		tables_command(world->tables, tasks_of_sample(&world->tasks, LEADER, LEADER)->comm)
			->tasks,
		1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_exec_of_another_thread),
		TEST(test_numbers_reused_after_lost_ends),
		TEST(test_claims),
		TEST(test_process_reused),
		TEST(test_order_of_ends),
		TEST(test_shared_slot_keeps_its_name),
		TEST(test_names_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
