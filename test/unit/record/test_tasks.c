#include "tables_folder.h"
#include "task_records.h"

#include "record/tasks/process_times.h"
#include "record/tasks/task_names.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { BUDGET = 128 << 10, GRACE = 200000000 };

/* Numbers of processes that do not exist. */
#define PID(n) ((uint32_t)(0x40000000 + (n)))

struct world {
	char folder[64];
	struct tables *tables;
	struct module_table *modules;
	struct tasks tasks;
	unsigned forgotten;
};

static void forget(void *arg, pid_t tid)
{
	struct world *w = arg;

	(void)tid;
	w->forgotten++;
}

static int setup_with(void **state, unsigned nr_streams)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->tables = tables_in_folder(w->folder, BUDGET);
	w->modules = module_table_new();
	assert_non_null(w->modules);
	tables_ledger(w->tables)->nr_kinds = 2;
	tasks_init(&w->tasks, w->tables, w->modules, nr_streams, forget, w);
	*state = w;
	return 0;
}

static int setup_cgroup(void **state)
{
	return setup_with(state, 0);
}

static int setup_ladder(void **state)
{
	return setup_with(state, 2);
}

static int teardown(void **state)
{
	struct world *w = *state;

	tasks_fini(&w->tasks);
	module_table_free(w->modules);
	tables_free(w->tables);
	rmdir(w->folder);
	free(w);
	return 0;
}

static void say_mmap(struct world *w, uint32_t pid, uint64_t start, uint64_t end, const char *path)
{
	struct record record = {.type = RECORD_MMAP, .pid = pid, .tid = pid, .time = 1};

	record.mmap.start = start;
	record.mmap.end = end;
	record.mmap.path = path;
	tasks_record(&w->tasks, &record);
}

static struct trace_command *command(struct world *w, const char *comm)
{
	return tables_command(w->tables, tables_string(w->tables, comm));
}

static struct task *task(struct world *w, uint32_t pid, uint32_t tid)
{
	return tasks_of_sample(&w->tasks, (pid_t)pid, (pid_t)tid);
}

static unsigned nr_tasks(struct world *w)
{
	return HASH_COUNT(w->tasks.tasks);
}

static void start(struct world *w)
{
	assert_int_equal(tasks_add_forked(&w->tasks, (pid_t)PID(0)), 0);
	say_comm(&w->tasks, PID(0), PID(0), "app", true, 1);
}

static void nothing_counts_before_exec(void **state)
{
	struct world *w = *state;

	assert_int_equal(tasks_add_forked(&w->tasks, (pid_t)PID(0)), 0);
	assert_true(task(w, PID(0), PID(0))->process->awaits_exec);
	say_fork(&w->tasks, PID(9), PID(0), PID(0), 1);
	say_comm(&w->tasks, PID(0), PID(0), "renamed", false, 1);
	assert_true(task(w, PID(0), PID(0))->process->awaits_exec);
	say_comm(&w->tasks, PID(0), PID(0), "app", true, 2);
	assert_false(task(w, PID(0), PID(0))->process->awaits_exec);
	assert_int_equal(command(w, "app")->tasks, 1);
	assert_int_equal(command(w, "renamed")->tasks, 0);
}

static void threads_share_their_process(void **state)
{
	struct world *w = *state;

	start(w);
	say_fork(&w->tasks, PID(0), PID(0), PID(1), 2);
	assert_int_equal(nr_tasks(w), 2);
	assert_int_equal(HASH_COUNT(w->tasks.processes), 1);
	assert_ptr_equal(task(w, PID(0), PID(1))->process, task(w, PID(0), PID(0))->process);
	assert_int_equal(command(w, "app")->tasks, 2);
	say_comm(&w->tasks, PID(0), PID(1), "worker", false, 3);
	assert_int_equal(command(w, "app")->tasks, 1);
	assert_int_equal(command(w, "worker")->tasks, 1);
	assert_int_equal(task(w, PID(0), PID(0))->comm, tables_string(w->tables, "app"));
}

static void children_inherit_mappings_until_exec(void **state)
{
	struct world *w = *state;
	const struct space *space;

	start(w);
	say_mmap(w, PID(0), 0x10000, 0x20000, "//anon");
	say_fork(&w->tasks, PID(0), PID(1), PID(1), 2);
	space = task(w, PID(1), PID(1))->process->space;
	assert_non_null(space_lookup(space, 0x10000));
	assert_null(space_lookup(space, 0x20000));
	say_mmap(w, PID(1), 0x30000, 0x31000, "//anon");
	space = task(w, PID(0), PID(0))->process->space;
	assert_null(space_lookup(space, 0x30000));
	w->forgotten = 0;
	say_comm(&w->tasks, PID(1), PID(1), "child", true, 3);
	assert_int_equal(w->forgotten, 1);
	space = task(w, PID(1), PID(1))->process->space;
	assert_null(space_lookup(space, 0x10000));
	space = task(w, PID(0), PID(0))->process->space;
	assert_non_null(space_lookup(space, 0x10000));
}

/* Some memory has what looks like the name of a file. */
static void code_in_memory_has_no_file(void **state)
{
	static const char *const paths[] = {"//anon", "/memfd:jit (deleted)", "/SYSV00000000",
	                                    "/dev/zero (deleted)", "/anon_hugepage (deleted)"};
	struct world *w = *state;
	const struct mapping *mapping;

	start(w);
	for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		say_mmap(w, PID(0), 0x10000 + i * 0x1000, 0x11000 + i * 0x1000, paths[i]);
		mapping =
			space_lookup(task(w, PID(0), PID(0))->process->space, 0x10000 + i * 0x1000);
		assert_non_null(mapping);
		assert_int_equal(mapping->module->type, MODULE_ANON);
	}
}

static void vdso_is_that_of_the_program(void **state)
{
	struct world *w = *state;
	const struct space *space;

	start(w);
	say_mmap(w, PID(0), 0xf7fc4000, 0xf7fc6000, "[vdso]");
	say_mmap(w, PID(0), 0x7ffd00000000, 0x7ffd00002000, "[vdso]");
	space = task(w, PID(0), PID(0))->process->space;
	assert_string_equal(space_lookup(space, 0xf7fc4000)->module->path, "[vdso32]");
	assert_string_equal(space_lookup(space, 0x7ffd00000000)->module->path, "[vdso]");
}

/* Linkers put them one behind the other in the file, and into different pages of memory. */
static void segments_may_share_a_page_of_the_file(void **state)
{
	const struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdr[2];
		char code[0x200];
	} file = {
		.ehdr = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
	                             __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB},
	                 .e_phoff = sizeof(file.ehdr),
	                 .e_phentsize = sizeof(Elf64_Phdr),
	                 .e_phnum = 2},
		.phdr = {{PT_LOAD, PF_X, .p_offset = 0xb0, .p_vaddr = 0x10b0, .p_filesz = 0x100},
	                 {PT_LOAD, PF_X, .p_offset = 0x1b0, .p_vaddr = 0x51b0, .p_filesz = 0x100}},
	};
	static const uint64_t bases[] = {0x7f0000000000, 0x7f0000100000};
	struct world *w = *state;
	const struct space *space;
	char path[96];
	FILE *f;

	start(w);
	snprintf(path, sizeof(path), "%s/two", w->folder);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(&file, sizeof(file), 1, f), 1);
	fclose(f);
	for (unsigned i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		say_mmap(w, PID(0), bases[i] + 0x1000, bases[i] + 0x2000, path);
		say_mmap(w, PID(0), bases[i] + 0x5000, bases[i] + 0x6000, path);
		space = task(w, PID(0), PID(0))->process->space;
		assert_int_equal(frame_offset(space_frame(space, bases[i] + 0x10b8)), 0x10b8);
		assert_int_equal(frame_offset(space_frame(space, bases[i] + 0x51b8)), 0x51b8);
	}
	remove(path);
}

/* READ comes after EXIT, and late records later still: then a task is gone. */
static void ended_tasks_stay_for_a_moment(void **state)
{
	struct world *w = *state;

	start(w);
	w->tasks.scale = 4; /* units that an occurrence stands for */
	say_fork(&w->tasks, PID(0), PID(1), PID(1), 10);
	say_exit(&w->tasks, PID(1), PID(1), 20);
	say_read(&w->tasks, PID(1), PID(1), 75, 30);
	assert_int_equal(nr_tasks(w), 2);
	assert_int_equal(command(w, "app")->exact, 300);
	assert_true(command(w, "app")->flags & TRACE_THREAD_EXACT);
	w->forgotten = 0;
	say_fork(&w->tasks, PID(0), PID(0), PID(2), 20 + GRACE);
	assert_int_equal(nr_tasks(w), 2);
	assert_int_equal(w->forgotten, 1);
	say_read(&w->tasks, PID(1), PID(1), 75, 40 + GRACE); /* of nobody */
	assert_int_equal(command(w, "app")->exact, 300);
	assert_int_equal(command(w, "app")->tasks, 3);
}

/*
 * The first thread may leave a process to others, whose samples have no number while they are
 * reaped: these are its, under the name of the process, and nobody is taken for running again.
 */
static void first_thread_stays_while_others_run(void **state)
{
	struct world *w = *state;
	struct task *first;

	start(w);
	say_fork(&w->tasks, PID(0), PID(1), PID(1), 10);
	say_comm(&w->tasks, PID(1), PID(1), "server", false, 10);
	say_fork(&w->tasks, PID(1), PID(1), PID(2), 11);
	say_comm(&w->tasks, PID(1), PID(2), "worker", false, 11);
	say_exit(&w->tasks, PID(1), PID(1), 20);
	for (unsigned i = 1; i < 5; i++)
		tasks_tick(&w->tasks, 20 + i * (uint64_t)GRACE);
	first = tasks_of_sample(&w->tasks, (pid_t)PID(1), -1);
	assert_int_equal(first->tid, PID(1));
	assert_string_equal(tables_string_at(w->tables, first->comm), "server");
	assert_true(first->ended);
	first = task(w, PID(1), PID(3)); /* of which no record told */
	assert_string_equal(tables_string_at(w->tables, first->comm), "server");
	say_exit(&w->tasks, PID(1), PID(2), 20 + 6 * (uint64_t)GRACE);
	say_exit(&w->tasks, PID(1), PID(3), 20 + 6 * (uint64_t)GRACE);
	for (unsigned i = 8; i < 12; i++)
		tasks_tick(&w->tasks, 20 + i * (uint64_t)GRACE);
	assert_int_equal(nr_tasks(w), 1);
}

/* Who has calls that nobody has read yet. */
static void what_is_asked_for_stays(void **state)
{
	struct world *w = *state;

	start(w);
	say_fork(&w->tasks, PID(0), PID(1), PID(1), 1000);
	say_exit(&w->tasks, PID(1), PID(1), 2000);
	w->tasks.kept = 1500;
	for (unsigned i = 1; i < 9; i++)
		tasks_tick(&w->tasks, i * (uint64_t)GRACE);
	assert_int_equal(nr_tasks(w), 2);
	w->tasks.kept = UINT64_MAX;
	for (unsigned i = 9; i < 12; i++)
		tasks_tick(&w->tasks, i * (uint64_t)GRACE);
	assert_int_equal(nr_tasks(w), 1);
}

static void a_reused_number_is_a_new_task(void **state)
{
	struct world *w = *state;
	uint32_t old, new;

	start(w);
	say_fork(&w->tasks, PID(0), PID(1), PID(1), 10);
	say_comm(&w->tasks, PID(1), PID(1), "first", true, 11);
	old = tasks_thread(&w->tasks, task(w, PID(1), PID(1)), 12);
	assert_int_equal(tasks_thread(&w->tasks, task(w, PID(1), PID(1)), 13), old);
	tables_thread_stored(w->tables, old, 0, 5); /* a sample of it is kept */
	say_exit(&w->tasks, PID(1), PID(1), 20);
	say_fork(&w->tasks, PID(0), PID(1), PID(1), 21);
	assert_int_equal(nr_tasks(w), 2);
	assert_int_equal(task(w, PID(1), PID(1))->ended, 0);
	assert_int_equal(task(w, PID(1), PID(1))->comm, tables_string(w->tables, "app"));
	new = tasks_thread(&w->tasks, task(w, PID(1), PID(1)), 22);
	assert_int_not_equal(old, new);
	assert_int_equal(tables_thread(w->tables, old)->end, 20);
}

static void exec_begins_a_new_thread_entry(void **state)
{
	struct world *w = *state;
	uint32_t before, after;

	start(w);
	before = tasks_thread(&w->tasks, task(w, PID(0), PID(0)), 2);
	tables_thread_stored(w->tables, before, 0, 5);
	say_comm(&w->tasks, PID(0), PID(0), "next", true, 3);
	after = tasks_thread(&w->tasks, task(w, PID(0), PID(0)), 4);
	assert_int_not_equal(before, after);
	assert_int_equal(tables_thread(w->tables, before)->comm, tables_string(w->tables, "app"));
	assert_int_equal(tables_thread(w->tables, after)->comm, tables_string(w->tables, "next"));
}

static uint32_t slot_of(struct world *w, uint32_t pid, uint64_t time)
{
	uint32_t slot = tasks_thread(&w->tasks, task(w, pid, pid), time);

	tables_thread_stored(w->tables, slot, 0, 5);
	return slot;
}

/* Samples keep the name of their time, and who takes an earlier one again has its place. */
static void each_name_of_a_thread_has_its_own_entry(void **state)
{
	struct world *w = *state;
	uint32_t app, worker;

	start(w);
	app = slot_of(w, PID(0), 2);
	say_comm(&w->tasks, PID(0), PID(0), "worker", false, 3);
	worker = slot_of(w, PID(0), 4);
	assert_int_not_equal(app, worker);
	assert_int_equal(tables_thread(w->tables, app)->comm, tables_string(w->tables, "app"));
	assert_int_equal(tables_thread(w->tables, app)->tid, (int)PID(0));
	assert_int_equal(tables_thread(w->tables, worker)->comm,
	                 tables_string(w->tables, "worker"));
	for (uint64_t i = 0; i < 1000; i++) {
		say_comm(&w->tasks, PID(0), PID(0), i % 2 ? "worker" : "app", false, 5 + i);
		assert_int_equal(slot_of(w, PID(0), 5 + i), i % 2 ? worker : app);
	}
	say_exit(&w->tasks, PID(0), PID(0), 2000);
	tasks_end(&w->tasks);
	assert_int_equal(tables_thread(w->tables, app)->end, 2000);
	assert_int_equal(tables_thread(w->tables, worker)->end, 2000);
}

/* A thread that is renamed for ever takes no place from others. */
static void a_thread_with_endless_names_has_few_entries(void **state)
{
	struct world *w = *state;
	unsigned own = 0, shared = 0;
	char name[16];

	start(w);
	for (unsigned i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "name-%u", i);
		say_comm(&w->tasks, PID(0), PID(0), name, false, 2 + i);
		slot_of(w, PID(0), 2 + i);
	}
	for (uint32_t i = 0; tables_thread(w->tables, i); i++) {
		own += tables_thread(w->tables, i)->tid == (int)PID(0);
		shared += !!(tables_thread(w->tables, i)->flags & TRACE_THREAD_FOLDED);
	}
	assert_int_equal(own, TASK_MAX_NAMES);
	assert_in_range(shared, 1, TRACE_MAX_COMMANDS);
	assert_true(tables_run(w->tables)->folded_threads > 0);
}

static void each_name_of_a_thread_has_its_own_time(void **state)
{
	struct world *w = *state;

	start(w);
	say_fork(&w->tasks, PID(0), PID(1), PID(1), 10);
	slot_of(w, PID(1), 11);
	task(w, PID(1), PID(1))->usage.sampled = 100;
	say_comm(&w->tasks, PID(1), PID(1), "second", false, 20);
	task(w, PID(1), PID(1))->usage.sampled = 30;
	say_comm(&w->tasks, PID(1), PID(1), "app", false, 30);
	task(w, PID(1), PID(1))->usage.sampled = 5;
	say_exit(&w->tasks, PID(1), PID(1), 40);
	say_read(&w->tasks, PID(1), PID(1), 200, 40);
	assert_int_equal(command(w, "app")->exact, 170);
	assert_int_equal(command(w, "second")->exact, 30);
	assert_int_equal(tables_thread(w->tables, slot_of(w, PID(1), 41))->exact, 170);
}

/* The kernel's total of a thread is of all that it executed: no time is told twice. */
static void each_program_of_a_task_has_its_own_time(void **state)
{
	struct world *w = *state;

	start(w);
	say_fork(&w->tasks, PID(0), PID(1), PID(1), 10);
	task(w, PID(1), PID(1))->usage.sampled = 100;
	say_comm(&w->tasks, PID(1), PID(1), "second", true, 20);
	task(w, PID(1), PID(1))->usage.sampled = 30;
	say_comm(&w->tasks, PID(1), PID(1), "third", true, 30);
	task(w, PID(1), PID(1))->usage.sampled = 5;
	say_exit(&w->tasks, PID(1), PID(1), 40);
	say_read(&w->tasks, PID(1), PID(1), 200, 40);
	assert_int_equal(command(w, "app")->exact, 100);
	assert_int_equal(command(w, "second")->exact, 30);
	assert_int_equal(command(w, "third")->exact, 70);
	assert_true(command(w, "third")->flags & TRACE_THREAD_EXACT);
	assert_false(command(w, "second")->flags & TRACE_THREAD_EXACT); /* nothing was told of it */
}

/* A thread that executes takes its time along, and the first's has been told. */
static void a_thread_that_executes_has_its_own_time(void **state)
{
	struct world *w = *state;

	start(w);
	say_fork(&w->tasks, PID(0), PID(1), PID(1), 10);
	say_fork(&w->tasks, PID(1), PID(1), PID(2), 11);
	say_fork(&w->tasks, PID(1), PID(1), PID(3), 11);
	task(w, PID(1), PID(1))->usage.sampled = 1000;
	task(w, PID(1), PID(2))->usage.sampled = 100;
	task(w, PID(1), PID(3))->usage.sampled = 10;
	say_exit(&w->tasks, PID(1), PID(3), 19);
	say_read(&w->tasks, PID(1), PID(3), 12, 19);
	say_exit(&w->tasks, PID(1), PID(1), 19);
	say_read(&w->tasks, PID(1), PID(1), 1002, 19);
	say_comm(&w->tasks, PID(1), PID(1), "next", true, 20);
	task(w, PID(1), PID(1))->usage.sampled += 30;
	say_comm(&w->tasks, PID(1), PID(1), "last", true, 30);
	say_exit(&w->tasks, PID(1), PID(1), 40);
	say_read(&w->tasks, PID(1), PID(1), 150, 40);
	assert_int_equal(command(w, "app")->exact, 1002 + 12 + 100);
	assert_int_equal(command(w, "next")->exact, 30);
	assert_int_equal(command(w, "last")->exact, 20);
}

/* With lost records a sample may be the first that is heard of a task. */
static void samples_of_strangers(void **state)
{
	struct world *w = *state;

	start(w);
	assert_non_null(task(w, PID(5), PID(6)));
	assert_int_equal(task(w, PID(5), PID(6))->process->pid, PID(5));
	assert_int_equal(task(w, PID(0), PID(7))->comm, tables_string(w->tables, "app"));
	assert_null(task(w, 0, 0));
	assert_null(task(w, UINT32_MAX, UINT32_MAX));      /* exited while it was sampled */
	say_fork(&w->tasks, PID(90), PID(91), PID(91), 5); /* of an unknown parent */
	assert_int_equal(nr_tasks(w), 4);                  /* who stays so */
	assert_non_null(task(w, PID(91), PID(91)));
}

static void wait_until_stopped(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

/* A process that does nothing until it is killed. */
static pid_t start_stopped(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		raise(SIGSTOP);
		_exit(0);
	}
	wait_until_stopped(pid);
	return pid;
}

static void end_stopped(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Where samples see user code alone, a program used what the clock says, less what was before. */
static void the_clock_tells_more_than_samples_of_user_code(void **state)
{
	struct world *w = *state;
	const uint32_t pid = (uint32_t)getpid(); /* whose clock there is */
	struct task *leader;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < 100000000)
		continue;
	w->tasks.user_only = true;
	assert_int_equal(tasks_add_forked(&w->tasks, (pid_t)pid), 0);
	say_comm(&w->tasks, pid, pid, "first", true, sampler_now());
	leader = task(w, pid, pid);
	assert_true(leader->usage.before > 0);
	leader->usage.before = INT64_MAX;
	say_comm(&w->tasks, pid, pid, "second", true, sampler_now());
	assert_int_equal(command(w, "first")->exact, 0);
	leader->usage.before = 0;
	say_comm(&w->tasks, pid, pid, "third", true, sampler_now());
	assert_true(command(w, "second")->exact > 0);
	/* Who executes takes along what it had used before it was the target's. */
	say_fork(&w->tasks, pid, pid, PID(2), sampler_now());
	task(w, pid, PID(2))->usage.before = 77;
	say_exit(&w->tasks, pid, pid, sampler_now());
	say_comm(&w->tasks, pid, pid, "fourth", true, sampler_now());
	assert_int_equal(leader->usage.before, 77);
	/* Events of CPUs have no totals of tasks. */
	w->tasks.inherited = false;
	leader->usage = (struct task_usage){0};
	say_comm(&w->tasks, pid, pid, "fifth", true, sampler_now());
	assert_int_equal(command(w, "fourth")->exact, 0);
}

/* The kernel says EXIT of a process that executes a setuid program, and goes on in silence. */
static void exit_of_the_living_is_unobserved(void **state)
{
	struct world *w = *state;
	pid_t pid = start_stopped();
	uint64_t now = sampler_now();

	start(w);
	say_fork(&w->tasks, PID(0), (uint32_t)pid, (uint32_t)pid, now - 10);
	say_exit(&w->tasks, (uint32_t)pid, (uint32_t)pid, now);
	say_fork(&w->tasks, PID(0), PID(0), PID(1), now + GRACE);
	assert_int_equal(w->tasks.unobserved, w->tasks.inherited);
	assert_int_equal(nr_tasks(w), 3);
	end_stopped(pid);
}

static void say_birth(struct world *w, uint32_t pid, const char *comm, uint64_t time)
{
	say_fork(&w->tasks, PID(0), pid, pid, time);
	say_comm(&w->tasks, pid, pid, comm, true, time);
}

/* If it ends soon nobody finds it alive; but no other ends without any code of its program. */
static void exit_of_the_short_is_unobserved(void **state)
{
	struct world *w = *state;
	uint64_t now = sampler_now();

	start(w);
	say_birth(w, PID(1), "short", now - 2);
	say_mmap(w, PID(1), 0x1000, 0x2000, "/bin/short");
	say_exit(&w->tasks, PID(1), PID(1), now - 1);
	say_fork(&w->tasks, PID(0), PID(2), PID(2), now - 1);
	say_exit(&w->tasks, PID(2), PID(2), now - 1);
	tasks_tick(&w->tasks, now + GRACE);
	assert_int_equal(w->tasks.unobserved, 0);
	assert_int_equal(w->tasks.unobserved_list.missed, 0);
	say_birth(w, PID(1), "sudo", now - 2);
	say_exit(&w->tasks, PID(1), PID(1), now - 1);
	tasks_tick(&w->tasks, now + GRACE);
	assert_int_equal(w->tasks.unobserved, w->tasks.inherited);
	assert_int_equal(w->tasks.unobserved_list.missed > 0, w->tasks.inherited);
}

/* Whoever is there at the beginning is known; whoever is not, counts no more. */
static void what_was_before_is_of_no_account(void **state)
{
	struct world *w = *state;
	uint64_t now = sampler_now();

	start(w);
	say_birth(w, PID(1), "ends", 10);
	say_read(&w->tasks, PID(1), PID(1), 1000, 20);
	say_exit(&w->tasks, PID(1), PID(1), 20);
	say_birth(w, PID(2), "lives", now);
	say_mmap(w, PID(2), 0x1000, 0x2000, "/bin/lives");
	say_birth(w, PID(3), "other", now + GRACE);
	say_birth(w, PID(4), "ended just now", now + GRACE);
	say_exit(&w->tasks, PID(4), PID(4), now + GRACE);
	assert_int_equal(command(w, "ends")->exact, 1000);
	tasks_begin(&w->tasks);
	assert_int_equal(command(w, "ends")->tasks, 0);
	assert_int_equal(command(w, "ended just now")->tasks, 0);
	assert_int_equal(command(w, "ends")->exact, 0);
	assert_int_equal(command(w, "ends")->flags, 0);
	assert_int_equal(command(w, "app")->tasks, 1);
	assert_int_equal(command(w, "lives")->tasks, 1);
	assert_non_null(space_lookup(task(w, PID(2), PID(2))->process->space, 0x1800));
	say_comm(&w->tasks, PID(2), PID(2), "renamed", false, now + 1);
	assert_int_equal(command(w, "lives")->tasks, 0);
	assert_int_equal(command(w, "renamed")->tasks, 1);
}

/* What is dead runs on no more, whether anybody reaps it or not. */
static void the_dead_do_not_run_on(void **state)
{
	struct world *w = *state;
	pid_t pid = start_stopped(), one = 0;
	siginfo_t info;

	start(w);
	say_birth(w, (uint32_t)pid, "daemon", sampler_now());
	assert_int_equal(tasks_running_on(&w->tasks, &one), 1);
	assert_int_equal(one, pid);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(tasks_running_on(&w->tasks, &one), 0);
	end_stopped(pid);
}

/* It cannot be told which threads of a process are not listed. */
static void a_process_that_cannot_be_listed_is_refused(void **state)
{
	const pid_t pid = start_stopped();
	struct rlimit limit, none;
	pid_t *tids = NULL;
	size_t nr = 0;

	(void)state;
	assert_int_equal(tasks_list_threads(pid, 1, &tids, &nr), 0);
	assert_int_equal(tasks_list_threads((pid_t)PID(1), 2, &tids, &nr), 0);
	assert_int_equal(tasks_list_threads(pid, 1, &tids, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(tids[0], pid);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(tasks_list_threads(pid, 2, &tids, &nr), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	free(tids);
	end_stopped(pid);
}

/* Who dies and never said so was elsewhere; not who is still sampled long after it said so. */
static void who_dies_in_silence_has_left(void **state)
{
	struct world *w = *state;

	start(w);
	say_birth(w, PID(1), "slow", 10);
	say_exit(&w->tasks, PID(1), PID(1), 20);
	tasks_tick(&w->tasks, 30 + GRACE);
	say_exit(&w->tasks, PID(0), PID(0), 40 + 2 * GRACE);
	assert_int_equal(nr_tasks(w), 1);
	assert_non_null(task(w, PID(1), PID(1)));
	tasks_note_dead(&w->tasks);
	assert_false(tasks_left(&w->tasks, NULL));
	say_birth(w, PID(2), "elsewhere", 50 + 2 * GRACE);
	tasks_note_dead(&w->tasks);
	assert_true(tasks_left(&w->tasks, NULL));
}

/* Nor does what a process used before that the kernel stops observing later. */
static void what_was_used_before_is_not_unobserved(void **state)
{
	struct world *w = *state;
	pid_t before = start_stopped(), pid = start_stopped();
	uint64_t now = sampler_now();
	const struct unobserved *u;

	start(w);
	say_birth(w, (uint32_t)before, "sudo", now - 20);
	say_exit(&w->tasks, (uint32_t)before, (uint32_t)before, now - 10);
	say_birth(w, (uint32_t)pid, "shell", now + GRACE);
	assert_int_equal(w->tasks.unobserved, 1);
	end_stopped(before);
	tasks_begin(&w->tasks);
	assert_int_equal(w->tasks.unobserved, 0);
	assert_int_equal(command(w, "sudo")->tasks, 0);
	assert_int_equal(command(w, "sudo")->unobserved, 0);
	assert_int_equal(command(w, "shell")->tasks, 1);
	say_read(&w->tasks, (uint32_t)pid, (uint32_t)pid, 5, now + 2 * (uint64_t)GRACE);
	say_exit(&w->tasks, (uint32_t)pid, (uint32_t)pid, now + 2 * (uint64_t)GRACE);
	say_fork(&w->tasks, PID(0), PID(0), PID(1), now + 3 * (uint64_t)GRACE);
	assert_int_equal(w->tasks.unobserved, 1);
	u = w->tasks.unobserved_list.first;
	assert_non_null(u);
	assert_int_equal(u->pid, pid);
	assert_int_equal(u->before, process_used(pid) + 5);
	end_stopped(pid);
}

/* The number of one that did end belongs to another process, of which we hear only now. */
static void a_number_that_came_back_is_observed(void **state)
{
	struct world *w = *state;
	pid_t pid = start_stopped();
	uint64_t before = sampler_now() - 1000000000;

	start(w);
	for (unsigned i = 0; i < 3; i++) {
		bool is_known = i % 2;

		say_fork(&w->tasks, PID(0), (uint32_t)pid, (uint32_t)pid, before - 10);
		say_exit(&w->tasks, (uint32_t)pid, (uint32_t)pid, before);
		if (is_known)
			say_fork(&w->tasks, PID(0), (uint32_t)pid, (uint32_t)pid, before + 10);
		else
			say_fork(&w->tasks, PID(0), PID(0), PID(1 + i), before + GRACE);
		assert_int_equal(w->tasks.unobserved, 0);
	}
	end_stopped(pid);
}

/* The kernel says EXIT first and takes the memory apart then, which may last: it keeps its name. */
static void a_thread_that_ends_slowly_keeps_its_name(void **state)
{
	struct world *w = *state;
	pid_t child = start_stopped(); /* a thread, as far as the records tell */
	uint64_t now = sampler_now();

	start(w);
	say_fork(&w->tasks, PID(0), PID(0), (uint32_t)child, now - 10);
	say_exit(&w->tasks, PID(0), (uint32_t)child, now);
	for (unsigned i = 1; i < 5; i++)
		say_fork(&w->tasks, PID(0), PID(0), PID(i), now + i * (uint64_t)GRACE);
	assert_int_equal(nr_tasks(w), w->tasks.inherited ? 5 : 6);
	end_stopped(child);
	/* what it did last comes after it was found gone */
	say_fork(&w->tasks, PID(0), PID(0), PID(5), now + 6 * (uint64_t)GRACE);
	assert_int_equal(nr_tasks(w), w->tasks.inherited ? 6 : 7);
	say_fork(&w->tasks, PID(0), PID(0), PID(6), now + 8 * (uint64_t)GRACE);
	assert_int_equal(nr_tasks(w), 7);
	assert_int_equal(w->tasks.unobserved, 0);
}

/* A million processes cost no more than those that live. */
static void a_fork_storm_leaves_nothing(void **state)
{
	struct world *w = *state;
	uint64_t time = 1;

	start(w);
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t pid = PID(1 + i % 30000);

		time += 1000000;
		say_fork(&w->tasks, PID(0), pid, pid, time);
		say_comm(&w->tasks, pid, pid, i % 2 ? "cc" : "as", true, time + 1);
		say_exit(&w->tasks, pid, pid, time + 100);
		say_read(&w->tasks, pid, pid, 7, time + 200);
	}
	assert_true(nr_tasks(w) < 300);
	assert_int_equal(command(w, "cc")->tasks, 50000);
	assert_int_equal(command(w, "cc")->exact, 350000);
	assert_int_equal(command(w, "app")->tasks, 1);
	assert_int_equal(HASH_COUNT(w->tasks.processes), nr_tasks(w));
}

static uint64_t seed = 11;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(seed >> 33) % n;
}

/* Records in every wrong order, as after losses. */
static void any_order_is_survived(void **state)
{
	static const char *const paths[] = {"//anon", "[vdso]", "/no/such/file", "", "/memfd:x"};
	struct world *w = *state;
	uint64_t time = 1;

	start(w);
	for (unsigned i = 0; i < 50000; i++) {
		uint32_t pid = PID(below(20)), tid = PID(below(40));
		struct task *sampled;

		time += below(10000000);
		switch (below(7)) {
		case 0:
			say_fork(&w->tasks, PID(below(20)), pid, tid, time);
			break;
		case 1:
			say_exit(&w->tasks, pid, tid, time - below(1000) % time);
			break;
		case 2:
			say_comm(&w->tasks, pid, tid, below(2) ? "x" : "y", below(2), time);
			break;
		case 3:
			say_mmap(w, pid, below(1 << 30), below(1 << 30), paths[below(5)]);
			break;
		case 4:
			say_read(&w->tasks, pid, tid, below(100), time);
			break;
		default:
			sampled = task(w, pid, tid);
			if (sampled)
				tasks_thread(&w->tasks, sampled, time);
		}
	}
	assert_true(nr_tasks(w) <= 61);
	assert_true(HASH_COUNT(w->tasks.processes) <= nr_tasks(w));
}

static void running_processes_are_read_from_proc(void **state)
{
	struct world *w = *state;
	struct task *self;
	const struct mapping *mapping;
	/* The first of all, whose number begins with no zero. */
	const uint64_t lowest = 0x10000000;
	void *memory = mmap((void *)lowest, 4096, PROT_READ | PROT_EXEC,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	assert_ptr_equal(memory, (void *)lowest);
	assert_int_equal(prctl(PR_SET_NAME, "two\nlines"), 0);
	assert_int_equal(tasks_add_running(&w->tasks, getpid()), 0);
	assert_int_equal(prctl(PR_SET_NAME, "test_tasks"), 0);
	self = task(w, (uint32_t)getpid(), (uint32_t)getpid());
	assert_string_equal(tables_string_at(w->tables, self->comm), "two\nlines");
	assert_false(self->process->awaits_exec);
	mapping = space_lookup(self->process->space, (uint64_t)(uintptr_t)&wait_until_stopped);
	assert_non_null(mapping);
	assert_int_equal(mapping->module->type, MODULE_FILE);
	mapping = space_lookup(self->process->space, lowest);
	assert_non_null(mapping);
	assert_int_equal(mapping->start, lowest);
	munmap(memory, 4096);
	assert_int_not_equal(tasks_add_running(&w->tasks, (pid_t)PID(0)), 0);
}

static void *wait_to_be_killed(void *arg)
{
	pause();
	return arg;
}

/* What a process has mapped is known as long as one of its threads lives. */
static void the_first_thread_may_have_ended(void **state)
{
	const uint64_t here = (uint64_t)(uintptr_t)&wait_until_stopped;
	struct world *w = *state;
	pid_t pid = fork();
	siginfo_t info;

	assert_true(pid >= 0);
	if (!pid) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, wait_to_be_killed, NULL))
			_exit(1);
		syscall(SYS_exit, 0);
	}
	while (process_is_there(pid, UINT64_MAX))
		usleep(1000);
	assert_int_equal(tasks_add_running(&w->tasks, pid), 0);
	assert_non_null(space_lookup(task(w, (uint32_t)pid, (uint32_t)pid)->process->space, here));
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
}

/* A full space is made anew of what is still mapped, where that is known. */
static void what_was_unmapped_makes_room(void **state)
{
	const uint64_t here = (uint64_t)(uintptr_t)&wait_until_stopped;
	struct world *w = *state;
	const uint32_t pids[] = {(uint32_t)getpid(), PID(0)};
	const struct trace_run *run = tables_run(w->tables);

	for (unsigned p = 0; p < 2; p++) {
		bool known = p == 0;
		const struct space *space;

		for (uint64_t i = 0; i <= SPACE_MAX_MAPPINGS; i++)
			say_mmap(w, pids[p], 0x10000 + i * 0x2000, 0x11000 + i * 0x2000, "//anon");
		space = task(w, pids[p], pids[p])->process->space;
		assert_int_equal(!!space_lookup(space, 0x10000), !known);
		assert_int_equal(!!space_lookup(space, here), known);
		say_mmap(w, pids[p], 0x1000, 0x2000, "//anon");
		assert_int_equal(!!space_lookup(space, 0x1000), known);
		assert_int_equal(run->refused_mappings, known ? 0 : 2);
	}
}

/* What is said of those that have no number here is true of no idle CPU, nor of their children. */
static void outside_is_nobody(void **state)
{
	struct world *w = *state;
	struct task *idle;

	w->tasks.everyone = true;
	idle = task(w, 0, 0);
	say_mmap(w, 0, 0x1000, 0x2000, "//anon");
	say_comm(&w->tasks, 0, 0, "outsider", true, 10);
	say_fork(&w->tasks, 0, 0, 0, 20);
	say_exit(&w->tasks, 0, 0, 30);
	assert_ptr_equal(task(w, 0, 0), idle);
	assert_string_equal(tables_string_at(w->tables, idle->comm), "swapper");
	assert_null(space_lookup(idle->process->space, 0x1000));
	assert_false(idle->ended);
	say_fork(&w->tasks, 0, PID(1), PID(1), 40);
	assert_string_not_equal(tables_string_at(w->tables, task(w, PID(1), PID(1))->comm),
	                        "swapper");
}

/* Where whoever runs is the target, nobody is a stranger, and an idle CPU is somebody. */
static void everyone_is_known(void **state)
{
	struct world *w = *state;
	struct task *self, *idle;
	uint32_t slot;

	w->tasks.everyone = true;
	self = task(w, (uint32_t)getpid(), (uint32_t)getpid());
	assert_string_equal(tables_string_at(w->tables, self->comm), "test_tasks");
	assert_non_null(
		space_lookup(self->process->space, (uint64_t)(uintptr_t)&wait_until_stopped));
	idle = task(w, 0, 0);
	assert_string_equal(tables_string_at(w->tables, idle->comm), "swapper");
	assert_ptr_equal(task(w, 0, 0), idle);
	assert_int_equal(command(w, "swapper")->tasks, 1);
	slot = tasks_thread(&w->tasks, idle, 1);
	assert_true(tables_thread(w->tables, slot)->flags & TRACE_THREAD_FOLDED);
	/* threads that come and go do not take its slot */
	for (uint32_t i = 0; i < 100; i++) {
		say_fork(&w->tasks, (uint32_t)getpid(), PID(i), PID(i), 10 + i);
		assert_int_not_equal(tasks_thread(&w->tasks, task(w, PID(i), PID(i)), 10 + i),
		                     slot);
		say_exit(&w->tasks, PID(i), PID(i), 10 + i);
	}
	assert_int_equal(tasks_thread(&w->tasks, idle, 200), slot);
	/* who has gone already is somebody, too; who is just being reaped is not */
	assert_non_null(task(w, PID(500), PID(501)));
	assert_null(task(w, UINT32_MAX, UINT32_MAX));
}

static void *sleep_in(void *arg)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	if (write(*(int *)arg, &tid, sizeof(tid)) == sizeof(tid))
		pause();
	return NULL;
}

/* Who is moved into a cgroup may fork, or begin a thread, before it is ever sampled. */
static void parents_that_were_never_met_are_known(void **state)
{
	struct world *w = *state;
	const uint32_t self = (uint32_t)getpid();
	uint64_t here = (uint64_t)(uintptr_t)&wait_until_stopped;
	struct task *child;
	pthread_t thread;
	int said[2];
	pid_t tid;

	w->tasks.everyone = true;
	assert_int_equal(pipe(said), 0);
	assert_int_equal(pthread_create(&thread, NULL, sleep_in, &said[1]), 0);
	assert_int_equal(read(said[0], &tid, sizeof(tid)), sizeof(tid));
	say_fork(&w->tasks, self, self, (uint32_t)tid, 5);
	assert_non_null(space_lookup(task(w, self, (uint32_t)tid)->process->space, here));
	assert_int_equal(command(w, "test_tasks")->tasks, 2);
	/* nor does it count twice, of whom /proc told before its record was read */
	say_fork(&w->tasks, self, self, (uint32_t)tid, 5);
	assert_int_equal(command(w, "test_tasks")->tasks, 2);
	say_fork(&w->tasks, self, PID(1), PID(1), 6);
	child = task(w, PID(1), PID(1));
	assert_string_equal(tables_string_at(w->tables, child->comm), "test_tasks");
	assert_non_null(space_lookup(child->process->space, here));
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

#define CGROUP(test) cmocka_unit_test_setup_teardown(test, setup_cgroup, teardown)
#define LADDER(test)                                                   \
	{                                                              \
#test "_inherited", test, setup_ladder, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CGROUP(nothing_counts_before_exec),
		CGROUP(threads_share_their_process),
		CGROUP(children_inherit_mappings_until_exec),
		CGROUP(code_in_memory_has_no_file),
		CGROUP(vdso_is_that_of_the_program),
		CGROUP(segments_may_share_a_page_of_the_file),
		LADDER(ended_tasks_stay_for_a_moment),
		LADDER(first_thread_stays_while_others_run),
		CGROUP(first_thread_stays_while_others_run),
		CGROUP(what_is_asked_for_stays),
		LADDER(what_is_asked_for_stays),
		CGROUP(a_reused_number_is_a_new_task),
		LADDER(a_reused_number_is_a_new_task),
		CGROUP(exec_begins_a_new_thread_entry),
		CGROUP(each_name_of_a_thread_has_its_own_entry),
		CGROUP(a_thread_with_endless_names_has_few_entries),
		LADDER(each_name_of_a_thread_has_its_own_time),
		LADDER(each_program_of_a_task_has_its_own_time),
		LADDER(a_thread_that_executes_has_its_own_time),
		LADDER(the_clock_tells_more_than_samples_of_user_code),
		CGROUP(samples_of_strangers),
		CGROUP(exit_of_the_living_is_unobserved),
		LADDER(exit_of_the_living_is_unobserved),
		CGROUP(exit_of_the_short_is_unobserved),
		LADDER(exit_of_the_short_is_unobserved),
		CGROUP(what_was_before_is_of_no_account),
		LADDER(what_was_before_is_of_no_account),
		CGROUP(the_dead_do_not_run_on),
		CGROUP(a_process_that_cannot_be_listed_is_refused),
		CGROUP(who_dies_in_silence_has_left),
		LADDER(what_was_used_before_is_not_unobserved),
		CGROUP(a_number_that_came_back_is_observed),
		LADDER(a_number_that_came_back_is_observed),
		CGROUP(a_thread_that_ends_slowly_keeps_its_name),
		LADDER(a_thread_that_ends_slowly_keeps_its_name),
		LADDER(a_fork_storm_leaves_nothing),
		CGROUP(any_order_is_survived),
		LADDER(any_order_is_survived),
		CGROUP(running_processes_are_read_from_proc),
		CGROUP(the_first_thread_may_have_ended),
		CGROUP(what_was_unmapped_makes_room),
		CGROUP(everyone_is_known),
		CGROUP(parents_that_were_never_met_are_known),
		CGROUP(outside_is_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
