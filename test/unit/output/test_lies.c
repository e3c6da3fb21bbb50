/* Traces of an MPI job that lie: what reads calls, and what joins traces, comes to no harm. */

#include "cases.h"

#include "convert_all.h"
#include "lies.h"

#include "output/report/report.h"
#include "output/report/dump.h"
#include "output/report/info.h"
#include "trace/merge/merge.h"
#include "output/views/job.h"

int make_job(int argc, char **argv);
#define main make_job
#include "make_job.c"
#undef main

static char folder[32];
static char others[64], merged[64], archive[64];
static FILE *nowhere;

static void make_traces(void)
{
	char ranks[] = "2", steps[] = "12", program[] = "make_job";
	char *arguments[] = {program, folder, ranks, steps, NULL};

	strcpy(folder, "/tmp/adaptrace-lies-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(others, sizeof(others), "%s/job.0.atr", folder);
	snprintf(merged, sizeof(merged), "%s/merged.atr", folder);
	snprintf(archive, sizeof(archive), "%s/archive", folder);
	nowhere = fopen("/dev/null", "w");
	assert_non_null(nowhere);
	assert_int_equal(make_job(4, arguments), 0);
}

static void remove_traces(const char *liar)
{
	fclose(nowhere);
	unlink(liar);
	unlink(others);
	assert_int_equal(rmdir(folder), 0);
}

static void report_all(const struct trace *trace)
{
	static const struct report_options options = {
		.query.keys = {PROFILE_BY_SYMBOL}, .query.nr_keys = 1, .query.limit = 10};

	info_text(nowhere, trace, "x.atr");
	dump_text(nowhere, trace);
	report_mpi_text(nowhere, trace, "x.atr", &options);
	report_mpi_json(nowhere, trace, &options.query);
	report_sites_text(nowhere, trace, "x.atr", &options);
	report_sites_json(nowhere, trace, &options.query);
	report_ranks_text(nowhere, trace, "x.atr", &options);
	report_ranks_json(nowhere, trace, &options.query);
	report_iterations_text(nowhere, trace, "x.atr", &options);
	report_iterations_json(nowhere, trace, &options.query);
	report_fold_text(nowhere, trace, "x.atr", &options);
	report_fold_json(nowhere, trace, &options.query);
	report_fold_svg(nowhere, trace, &options.query);
	report_openmp_text(nowhere, trace, "x.atr", &options);
	report_openmp_json(nowhere, trace, &options.query);
}

static void merge_both(const char *liar)
{
	char *paths[] = {others, (char *)liar};
	const struct merge_config config = {.paths = paths, .nr = 2, .budget = 1 << 20};
	struct merge_result result;
	char why[MERGE_WHY_SIZE];
	int err = merge_write(merged, &config, &result, why);

	assert_true(!err == !*why);
	unlink(merged);
}

static void lies_do_no_harm(void **state)
{
	char why[TRACE_WHY_SIZE], liar[64];
	struct lies lies;

	(void)state;
	make_traces();
	snprintf(liar, sizeof(liar), "%s/job.1.atr", folder);
	lies_open(&lies, liar);
	for (unsigned i = 0; i < 100; i++) {
		const char *path = lies_next(&lies, 6);
		struct trace *trace = trace_open(path, why);

		merge_both(path);
		if (!trace)
			continue;
		report_all(trace);
		convert_all(trace, folder, archive, nowhere, true);
		trace_close(trace);
	}
	lies_close(&lies);
	remove_traces(liar);
}

/* Samples of a kind of calls, and calls of an event: neither counts. */
static void swap_kinds(unsigned char *bytes)
{
	const struct trace_entry *entry = (const void *)((struct trace_header *)bytes + 1);
	unsigned char *at, *end;

	while (entry->section != TRACE_BINS)
		entry++;
	at = bytes + entry->offset;
	for (end = at + entry->size; at < end; at += bin_size((struct bin *)at))
		((struct bin *)at)->kind = ((struct bin *)at)->use == BIN_SAMPLES;
}

static void bins_of_another_kind_do_not_count(void **state)
{
	char why[TRACE_WHY_SIZE], liar[64];
	struct trace_sample sample;
	struct trace_call call;
	struct trace_walk *walk;
	struct call_walk *calls;
	struct trace *trace;
	struct lies lies;

	(void)state;
	make_traces();
	snprintf(liar, sizeof(liar), "%s/job.1.atr", folder);
	lies_open(&lies, liar);
	lies_next(&lies, 1);
	memcpy(lies.bad, lies.good, lies.size);
	swap_kinds(lies.bad);
	seal(lies.bad, lies.size);
	assert_int_equal(pwrite(lies.fd, lies.bad, lies.size, 0), lies.size);
	trace = trace_open(lies.path, why);
	assert_non_null(trace);
	walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	assert_int_equal(trace_walk_next(walk, &sample), 0);
	trace_walk_free(walk);
	calls = call_walk_new(trace);
	assert_int_equal(call_walk_next(calls, &call), 0);
	call_walk_free(calls);
	merge_both(lies.path);
	report_all(trace);
	convert_all(trace, folder, archive, nowhere, true);
	trace_close(trace);
	lies_close(&lies);
	remove_traces(liar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lies_do_no_harm),
		cmocka_unit_test(bins_of_another_kind_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
