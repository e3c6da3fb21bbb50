/*
 * Makes traces for the tests of converters, and says what is in one by looking at every sample.
 *
 *     make_trace plain|reduced FILE     the same run in a large and in a small buffer
 *     make_trace exec FILE              a process that executes a program between two samples
 *     make_trace again FILE             a function that begins stacks and is called in them again
 *     make_trace hostile FILE           names that want to be something else; equal ones
 *     make_trace big FILE SAMPLES       of 8 threads
 *     make_trace pairs FILE             a bin with more pairs than are numbered
 *     make_trace sums FILE              as JSON, on standard output
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/text/escape.h"
#include "output/profile/frame_names.h"
#include "trace/trace.h"
#include "trace/write/trace_write.h"
#include "symbolize/modules/module.h"
#include "random.h"
#include "trace_symbols.h"

enum { NR_EVENTS = 2, NR_CPUS = 2, MAX_PATH = 40, TIME_SHIFT = 6, SIZE = 0x100 };

static const uint64_t base_periods[NR_EVENTS] = {97081, 1009};

struct run {
	const char *path, *const *names; /* of functions, by number */
	const char *const *comms;
	const char *command; /* NULL: the first name */
	unsigned nr_names, nr_comms, nr_threads;
	unsigned nr_tids;  /* 0: as many */
	unsigned max_path; /* 0: MAX_PATH */
	bool calls;        /* there are some, of kind NR_EVENTS */
	bool equal_paths;  /* whose texts are: both modules have a function of the leaf's name */
	struct tables *tables;
	struct hmb *hmb;
	uint64_t seed, n;
};

static uint64_t rnd(struct run *run, uint64_t below)
{
	return random_below(&run->seed, below);
}

static void die(const char *what)
{
	fprintf(stderr, "make_trace: %s\n", what);
	exit(1);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void describe(struct run *run)
{
	static const char *const modules[] = {"[unknown]", "/usr/lib/libx.so", "/opt/app"};
	const char *last = run->names[run->nr_names - 1]; /* may be a path */
	struct tables *t = run->tables;
	struct trace_run *entry = tables_run(t);

	entry->flags = TRACE_RUN_CGROUP;
	entry->command = tables_string(t, run->command ? run->command : run->names[0]);
	entry->host = tables_string(t, run->comms[0]);
	entry->stacks = TRACE_STACKS_DWARF;
	entry->kernel = tables_string(t, "Linux 6.1.0");
	entry->cpu_model = tables_string(t, "Example CPU");
	entry->start = 1000000000;
	entry->real_start = 1700000000000000000;
	entry->nr_cpus = NR_CPUS;
	entry->budget = tables_budget(t);
	for (uint32_t k = 0; k < NR_EVENTS; k++) {
		struct trace_event *event = tables_add_event(t);

		event->name = tables_string(t, k ? "page-faults" : "cpu-clock");
		event->unit = k ? TRACE_COUNT : TRACE_NS;
		event->base_period = base_periods[k];
		for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
			*tables_add_stream(t) = (struct trace_stream){
				.event = k, .cpu = cpu, .base_period = base_periods[k] + cpu};
	}
	if (run->calls)
		*tables_add_event(t) = (struct trace_event){.name = tables_string(t, "calls"),
		                                            .unit = TRACE_CALLS};
	for (uint16_t i = 0; i < 3; i++) {
		struct trace_module *module = tables_module(t, i);

		module->path = tables_string(t, i == 2 && *last == '/' ? last : modules[i]);
		module->type = i ? MODULE_FILE : MODULE_SPECIAL;
		module->build_id_size = i ? 20 : 0;
		memset(module->build_id, 0xa0 + i, module->build_id_size);
	}
	for (unsigned i = 0; i < run->nr_threads; i++)
		tables_add_thread(t, 100 + (int)(i % 2 % run->nr_tids),
		                  100 + (int)(i % run->nr_tids),
		                  tables_string(t, run->comms[i % run->nr_comms]), 1000000000);
}

static void run_open(struct run *run, size_t budget)
{
	struct hmb_config config = {
		.size = budget, .nr_kinds = NR_EVENTS + run->calls, .truncated_frame = 1};

	if (!run->nr_tids)
		run->nr_tids = run->nr_threads;
	if (!run->max_path)
		run->max_path = MAX_PATH;
	config.max_path = run->max_path;
	run->tables = tables_new(budget, run->path);
	if (!run->tables)
		die("no memory for the tables");
	describe(run);
	for (unsigned k = 0; k < NR_EVENTS; k++)
		config.kinds[k].time_shift = TIME_SHIFT;
	config.kinds[NR_EVENTS] = (struct hmb_kind_config){
		.content = HMB_CALLS, .time_shift = TIME_SHIFT, .share = budget / 2};
	config.memory = tables_arena(run->tables);
	config.ledger = tables_ledger(run->tables);
	run->hmb = hmb_new(&config);
	if (!run->hmb)
		die("no memory for the buffer");
}

static void put(struct run *run, uint32_t function, unsigned depth)
{
	uint16_t module = run->equal_paths ? (uint16_t)(1 + rnd(run, 2)) : 1;
	uint64_t path[MAX_PATH];
	struct hmb_sample sample = {
		.kind = run->n % 16 == 15,
		.time = (20000000 + run->n * 1600) << TIME_SHIFT,
		.step = 97081,
		.thread = (uint32_t)rnd(run, run->nr_threads),
		.cpu = (uint32_t)rnd(run, NR_CPUS),
		.leaf = frame_make(module, function * SIZE + (uint32_t)rnd(run, SIZE)),
		.path = path,
		.path_size = depth,
		.level = lambda(run->n / 16 + 1),
	};

	/* Callers are in both modules, and some of them recursive. */
	for (unsigned i = 0; i < depth; i++)
		path[i] = frame_make(1 + i % 2, (depth - i) % run->nr_names * SIZE + 0x10);
	hmb_put(run->hmb, &sample);
	run->n++;
}

static void run_write(struct run *run)
{
	struct named_range ranges[256];
	size_t nr = 0;

	tables_run(run->tables)->end = (20000000 + run->n * 1600) << TIME_SHIFT;
	if (trace_write(run->path, run->tables, NULL, NULL, NULL))
		die("cannot write the trace");
	for (uint32_t module = 1; module < 3; module++)
		for (uint32_t i = 0; i < run->nr_names && nr < 256; i++)
			ranges[nr++] = (struct named_range){module, i * SIZE, (i + 1) * SIZE,
			                                    run->names[i]};
	if (!name_ranges(run->path, ranges, nr))
		die("cannot name its functions");
	hmb_free(run->hmb);
	tables_free(run->tables);
}

static void make_plain(struct run *run, size_t budget)
{
	static const char *const names[] = {"main", "half", "third", "sixth", "solve", "helper"};
	static const char *const comms[] = {"app", "tool"};

	run->command = "./app";
	run->names = names;
	run->nr_names = 6;
	run->comms = comms;
	run->nr_comms = 2;
	run->nr_threads = 4;
	run_open(run, budget);
	while (run->n < 50000) {
		uint64_t chance = rnd(run, 6);

		put(run, chance < 3 ? 1 : chance < 5 ? 2 : 3, 1 + (unsigned)rnd(run, 8));
	}
	run_write(run);
}

/* "first" of the one module calls that of the other, which calls it again, and then "last" runs. */
static void make_again(struct run *run)
{
	static const char *const names[] = {"first", "last"};
	static const char *const comms[] = {"app"};

	run->names = names;
	run->nr_names = 1;
	run->comms = comms;
	run->nr_comms = run->nr_threads = 1;
	run_open(run, 1 << 20);
	while (run->n < 1000)
		put(run, 1, 3);
	run->nr_names = 2;
	run_write(run);
}

static void make_big(struct run *run, uint64_t samples)
{
	static char texts[100][40];
	static const char *names[100], *const comms[] = {"app"};
	uint32_t function = 0;
	unsigned depth = 10;

	for (unsigned i = 0; i < 100; i++) {
		snprintf(texts[i], sizeof(texts[i]), "some_namespace::function_number_%u(int)", i);
		names[i] = texts[i];
	}
	run->names = names;
	run->nr_names = 100;
	run->comms = comms;
	run->nr_comms = 1;
	run->nr_threads = 8;
	run_open(run, (size_t)1 << 30);
	/* Programs stay where they are for a while. */
	while (run->n < samples) {
		if (rnd(run, 100) == 0) {
			function = (uint32_t)rnd(run, 100);
			depth = 10 + (unsigned)rnd(run, 20);
		}
		put(run, function, depth);
	}
	run_write(run);
}

static void make_hostile(struct run *run)
{
	static char huge[10241];
	static const char *const names[] = {
		"./app\x1f-x\x1f\x1b[31m",
		"a\"quoted\" 'name' \\ with \\n",
		"</script><script>document.title='owned'</script>",
		"<img src=x onerror=\"document.title='owned'\"> &amp; ]]> --> <!-- <![CDATA[",
		"line\nbreak\ttab\rreturn \x01\x02\x1b[2J\x7f",
		"bad \xff\xfe\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80 utf8 \xc3",
		"semi;colon; space 42",
		"javascript:document.title='owned'//${document.title='owned'}`",
		"fn=(1) evil\nfn=x",
		"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85 \xf0\x9f\x98\x80 \xd7\x90",
		"operator()(int) const::{lambda(auto:1&&)#1}<T[3], std::map<int, char>>",
		"(anonymous namespace)::f(int)",
		huge,
		"/opt/my </title>\"'&;\n\xff",
	};
	static const char *const comms[] = {"c;o\"m <b>\xff\n", "</script>", "R"};

	memset(huge, 'X', sizeof(huge) - 1);
	run->names = names;
	run->nr_names = sizeof(names) / sizeof(*names);
	run->comms = comms;
	run->nr_comms = 3;
	run->nr_threads = 6;
	run->equal_paths = true;
	run_open(run, 1 << 20);
	tables_run(run->tables)->start = 1300000000; /* the first samples were before */
	while (run->n < 3000)
		put(run, (uint32_t)rnd(run, run->nr_names), (unsigned)rnd(run, 12));
	run_write(run);
}

/* Its bytes are few where it comes in time, and its leaf is near that of the one before. */
static void put_pair(struct run *run, uint32_t number, bool called)
{
	uint64_t caller = frame_make(2, 0x10 + 16 * (number % 32));
	struct hmb_sample sample = {
		.time = (20000000 + run->n * 1600) << TIME_SHIFT,
		.step = 1600 << TIME_SHIFT,
		.leaf = frame_make(1, 8 * number),
		.path = &caller,
		.path_size = called,
	};

	hmb_put(run->hmb, &sample);
	run->n++;
}

/*
 * The first bin of a list is a small one; in the one behind it pairs are numbered from 0 on. The
 * last of those that are numbered, and the first of the others, have contexts that are new.
 */
static void make_pairs(struct run *run)
{
	static const char *const names[] = {"main", "half", "third"};
	static const char *const comms[] = {"app"};
	enum { FIRST_CALLED = 4096 - 16, LAST_CALLED = 4096 + 8, NR = 4096 + 32, MET_AGAIN = 3960 };
	const struct hmb_level *level;
	uint32_t before = 0;

	run->names = names;
	run->nr_names = 3;
	run->comms = comms;
	run->nr_comms = run->nr_threads = 1;
	run_open(run, 4 << 20);
	level = &run->hmb->kinds[0].levels[0];
	while (!level->open || bin_size(level->open) < (size_t)1 << run->hmb->arena.bin_shift)
		put_pair(run, before++, false);
	for (uint32_t i = level->open->nr_records; i < NR; i++)
		put_pair(run, before + i, i >= FIRST_CALLED && i < LAST_CALLED);
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = MET_AGAIN; i < NR; i++)
			put_pair(run, before + i, i >= FIRST_CALLED && i < LAST_CALLED);
	if (level->open->nr_records != NR + 2 * (NR - MET_AGAIN))
		die("the pairs need more than one bin");
	run_write(run);
}

/*
 * The first sample of the program comes half a period after the last one before it. The program has
 * the first place among threads: those of threads that left nothing are given away.
 */
static void make_exec(struct run *run)
{
	static const char *const names[] = {"main", "half", "third"};
	static const char *const comms[] = {"app", "sh"};
	enum { EACH = 20 };

	run->names = names;
	run->nr_names = 3;
	run->comms = comms;
	run->nr_comms = run->nr_threads = 2;
	run->nr_tids = 1;
	run_open(run, 1 << 20);
	for (uint32_t i = 0; i < 2 * EACH; i++) {
		uint64_t caller = frame_make(1, i / EACH * SIZE + 0x10);
		struct hmb_sample sample = {
			.time = (20000000 + i * 1500 - (i < EACH ? 0 : 750)) << TIME_SHIFT,
			.step = 1500 << TIME_SHIFT,
			.thread = i < EACH,
			.leaf = frame_make(1, 2 * SIZE),
			.path = &caller,
			.path_size = 1,
			.level = lambda(i + 1),
		};

		hmb_put(run->hmb, &sample);
	}
	run->n = 2 * EACH;
	run_write(run);
}

/* --- what is in one --------------------------------------------------------------------------- */

struct function {
	const char *name;
	uint64_t self, total, samples, seen;
};

struct sums {
	const struct trace *trace;
	struct function functions[1 << 14];
	unsigned nr;
	struct {
		uint64_t samples, first, last;
	} * threads;
	uint64_t frames[1 << 16], n;
};

static struct function *find_function(struct sums *sums, uint64_t frame)
{
	char text[FRAME_TEXT_SIZE];
	const char *name = frame_symbol(sums->trace, frame, text);
	unsigned i = 0;

	while (i < sums->nr && strcmp(sums->functions[i].name, name) != 0)
		i++;
	if (i == sums->nr) {
		if (++sums->nr == 1 << 14)
			die("too many functions");
		sums->functions[i] = (struct function){.name = strdup(name)};
	}
	return &sums->functions[i];
}

static void add_sample(struct sums *sums, const struct trace_sample *sample)
{
	size_t depth = trace_stack(sums->trace, sample, sums->frames, 1 << 16);

	sums->n++;
	for (size_t i = 0; i < depth; i++) {
		struct function *function = find_function(sums, sums->frames[i]);

		if (i == 0) {
			function->self += sample->weight;
			function->samples++;
		}
		if (function->seen != sums->n)
			function->total += sample->weight;
		function->seen = sums->n;
	}
	if (!sums->threads[sample->thread].samples++ ||
	    sample->time < sums->threads[sample->thread].first)
		sums->threads[sample->thread].first = sample->time;
	if (sample->time > sums->threads[sample->thread].last)
		sums->threads[sample->thread].last = sample->time;
}

static void forget_functions(struct sums *sums)
{
	while (sums->nr)
		free((char *)(uintptr_t)sums->functions[--sums->nr].name);
}

static void print_event(struct sums *sums, uint32_t number)
{
	struct trace_walk *walk = trace_walk_new(sums->trace, number);
	const struct trace_event *event = trace_event(sums->trace, number);
	struct trace_sample sample;
	uint64_t before = sums->n;

	forget_functions(sums);
	while (trace_walk_next(walk, &sample) == 1)
		add_sample(sums, &sample);
	printf("%s{\"name\": ", number ? ", " : "");
	escape_json(stdout, trace_string(sums->trace, event->name));
	printf(", \"samples\": %llu, \"functions\": {", (unsigned long long)(sums->n - before));
	for (unsigned i = 0; i < sums->nr; i++) {
		const struct function *function = &sums->functions[i];

		printf("%s\n", i ? "," : "");
		escape_json(stdout, function->name);
		printf(": {\"self\": %llu, \"total\": %llu, \"samples\": %llu}",
		       (unsigned long long)function->self, (unsigned long long)function->total,
		       (unsigned long long)function->samples);
	}
	printf("}}");
	trace_walk_free(walk);
}

static void print_sums(const char *path)
{
	char why[TRACE_WHY_SIZE];
	struct sums *sums = calloc(1, sizeof(*sums));
	const struct trace_thread *thread;

	sums->trace = trace_open(path, why);
	if (!sums->trace)
		die(why);
	sums->threads = calloc(1 << 16, sizeof(*sums->threads));
	printf("{\"events\": [");
	for (uint32_t i = 0; trace_event(sums->trace, i); i++)
		print_event(sums, i);
	printf("], \"threads\": [");
	for (uint32_t i = 0; (thread = trace_thread(sums->trace, i)); i++)
		printf("%s{\"pid\": %d, \"tid\": %d, \"samples\": %llu, \"first\": %llu, "
		       "\"last\": %llu}",
		       i ? ", " : "", thread->pid, thread->tid,
		       (unsigned long long)sums->threads[i].samples,
		       (unsigned long long)sums->threads[i].first,
		       (unsigned long long)sums->threads[i].last);
	printf("]}\n");
	forget_functions(sums);
	free(sums->threads);
	trace_close((struct trace *)(uintptr_t)sums->trace);
	free(sums);
}

int main(int argc, char **argv)
{
	struct run run = {.path = argc > 2 ? argv[2] : NULL, .seed = 7};

	if (argc < 3)
		die("usage: make_trace plain|reduced|exec|again|hostile|big|pairs|sums FILE "
		    "[SAMPLES]");
	if (!strcmp(argv[1], "plain"))
		make_plain(&run, 64 << 20);
	else if (!strcmp(argv[1], "reduced"))
		make_plain(&run, 64 << 10);
	else if (!strcmp(argv[1], "exec"))
		make_exec(&run);
	else if (!strcmp(argv[1], "again"))
		make_again(&run);
	else if (!strcmp(argv[1], "hostile"))
		make_hostile(&run);
	else if (!strcmp(argv[1], "big") && argc > 3)
		make_big(&run, strtoull(argv[3], NULL, 10));
	else if (!strcmp(argv[1], "pairs"))
		make_pairs(&run);
	else if (!strcmp(argv[1], "sums"))
		print_sums(argv[2]);
	else
		die("no such kind of trace");
	return 0;
}
