/*
 * Traces of an MPI job whose iterations lie: what reads them comes to no harm, and needs no more
 * time for many of them than for as many that are right.
 */
#include "cases.h"

#include <unistd.h>

#include "output/report/info.h"
#include "output/report/report.h"
#include "trace/merge/merge.h"
#include "convert_all.h"
#include "seal.h"

int make_job(int argc, char **argv);
#define main make_job
#include "make_job.c"
#undef main

enum { FEW = 40, MANY = 5000, ROUNDS = 60 };

static char folder[32], paths[2][64], merged[64], archive[64];
static FILE *nowhere;
static uint64_t seed = 1;

/* Numbers at the edge of something, small ones, and any. */
static uint64_t strange(uint64_t usual)
{
	static const uint64_t edges[] = {0,          1,         255,       UINT32_MAX - 1,
	                                 UINT32_MAX, INT64_MAX, UINT64_MAX};

	switch (random_below(&seed, 4)) {
	case 0:
		return edges[random_below(&seed, sizeof(edges) / sizeof(*edges))];
	case 1:
		return random_below(&seed, 1 << 16);
	default:
		return usual;
	}
}

/* Counts over the limit, ordinals that wrap, levels and threads that are none, long durations. */
static struct trace_iterations strange_entry(uint64_t time, uint32_t number)
{
	struct trace_iterations entry = {
		.begin = strange(time + number * UINT64_C(1000)),
		.balance = strange(0),
		.thread = (uint32_t)strange(number % 3),
		.phase = (uint32_t)strange(1),
		.ordinal = (uint32_t)strange(number),
		.calls = (uint32_t)strange(100),
		.collectives = (uint32_t)strange(number),
		.level = (uint8_t)strange(number % 2),
		.nr = (uint8_t)strange(TRACE_ITERATIONS_NR),
	};

	for (unsigned i = 0; i < TRACE_ITERATIONS_NR; i++) {
		trace_iteration_set(&entry, i, strange(40),
		                    (unsigned)strange(TRACE_ITERATION_STORED));
	}
	for (unsigned i = 0; i < TRACE_ITERATIONS_LEVELS; i++) {
		entry.levels[i].at = (uint8_t)strange(i);
		entry.levels[i].level = (uint8_t)strange(0);
	}
	return entry;
}

/* Each one begins anew within the one before, and no stored one begins an entry. */
static struct trace_iterations overlapping_entry(uint64_t time, uint32_t number)
{
	struct trace_iterations entry = {.begin = time + number,
	                                 .thread = 0,
	                                 .phase = 1,
	                                 .ordinal = number,
	                                 .collectives = number,
	                                 .nr = TRACE_ITERATIONS_NR};

	for (unsigned i = 0; i < TRACE_ITERATIONS_NR; i++) {
		trace_iteration_set(&entry, i, UINT64_C(1) << 40,
		                    i % 2 ? TRACE_ITERATION_STORED : i % 64);
	}
	return entry;
}

typedef struct trace_iterations entry_fn(uint64_t time, uint32_t number);

/* Puts the iterations behind all other sections of the file. */
static void put_iterations(const char *path, uint32_t nr, entry_fn *entry_of)
{
	const size_t more = nr * sizeof(struct trace_iterations);
	FILE *file = fopen(path, "r+");
	struct trace_header *header;
	struct trace_entry *entry;
	unsigned char *bytes;
	uint64_t time = 0;
	size_t size;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = (size_t)ftell(file) + 7;
	size -= size % 8;
	rewind(file);
	bytes = calloc(1, size + more);
	assert_true(fread(bytes, 1, size, file) + 8 > size);
	header = (void *)bytes;
	entry = (void *)(header + 1);
	for (uint32_t i = 0; i < header->nr_sections; i++)
		if (entry[i].section == TRACE_RUN)
			time = ((struct trace_run *)(bytes + entry[i].offset))->start;
	while (entry->section != TRACE_ITERATIONS)
		entry++;
	if (entry->size)
		size = entry->offset;
	entry->entry_size = sizeof(struct trace_iterations);
	entry->offset = size;
	entry->size = more;
	header->size = size + more;
	for (uint32_t i = 0; i < nr; i++)
		((struct trace_iterations *)(bytes + size))[i] = entry_of(time, i);
	seal(bytes, size + more);
	rewind(file);
	assert_int_equal(fwrite(bytes, 1, size + more, file), size + more);
	assert_int_equal(ftruncate(fileno(file), (off_t)(size + more)), 0);
	fclose(file);
	free(bytes);
}

static void read_all(const char *path)
{
	static const struct report_options options = {
		.query.keys = {PROFILE_BY_SYMBOL}, .query.nr_keys = 1, .query.limit = 10};
	char why[TRACE_WHY_SIZE];
	struct trace *trace = trace_open(path, why);

	assert_non_null(trace);
	info_text(nowhere, trace, "x.atr");
	info_json(nowhere, trace);
	report_iterations_text(nowhere, trace, "x.atr", &options);
	report_iterations_json(nowhere, trace, &options.query);
	report_fold_text(nowhere, trace, "x.atr", &options);
	report_fold_json(nowhere, trace, &options.query);
	report_fold_svg(nowhere, trace, &options.query);
	convert_all(trace, folder, archive, nowhere, false);
	trace_close(trace);
}

static void merge_all(void)
{
	char *ranks[] = {paths[0], paths[1]};
	const struct merge_config config = {.paths = ranks, .nr = 2, .budget = 8 << 20};
	struct merge_result result;
	char why[MERGE_WHY_SIZE];

	if (!merge_write(merged, &config, &result, why))
		read_all(merged);
	unlink(merged);
}

static void check(uint32_t nr, entry_fn *entry_of)
{
	put_iterations(paths[0], nr, entry_of);
	put_iterations(paths[1], nr, entry_of);
	read_all(paths[0]);
	merge_all();
}

static void strange_iterations_do_no_harm(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++)
		check(FEW, strange_entry);
}

static void many_strange_iterations_take_no_time(void **state)
{
	(void)state;
	check(MANY, strange_entry);
}

static void many_that_overlap_take_no_time(void **state)
{
	(void)state;
	check(MANY, overlapping_entry);
}

static int make_traces(void **state)
{
	char ranks[] = "2", steps[] = "12", program[] = "make_job";
	char *arguments[] = {program, folder, ranks, steps, NULL};

	(void)state;
	strcpy(folder, "/tmp/adaptrace-loops-XXXXXX");
	assert_non_null(mkdtemp(folder));
	for (unsigned i = 0; i < 2; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/job.%u.atr", folder, i);
	snprintf(merged, sizeof(merged), "%s/merged.atr", folder);
	snprintf(archive, sizeof(archive), "%s/archive", folder);
	nowhere = fopen("/dev/null", "w");
	assert_non_null(nowhere);
	return make_job(4, arguments);
}

static int remove_traces(void **state)
{
	(void)state;
	fclose(nowhere);
	unlink(paths[0]);
	unlink(paths[1]);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strange_iterations_do_no_harm),
		cmocka_unit_test(many_strange_iterations_take_no_time),
		cmocka_unit_test(many_that_overlap_take_no_time),
	};

	return cmocka_run_group_tests(tests, make_traces, remove_traces);
}
