/* Traces of an MPI job that lie: what reads calls, and what joins traces, comes to no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "lies.h"

#include "output/convert.h"
#include "output/dump.h"
#include "output/info.h"
#include "output/merge.h"
#include "output/new_folder.h"
#include "output/report_job.h"

int make_job(int argc, char **argv);
#define main make_job
#include "make_job.c"
#undef main

static char folder[] = "/tmp/adaptrace-lies-XXXXXX";
static char others[64], merged[64], archive[64];
static FILE *nowhere;

static void make_traces(void)
{
	char ranks[] = "2", steps[] = "12", program[] = "make_job";
	char *arguments[] = {program, folder, ranks, steps, NULL};

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

static void convert_all(const struct trace *trace)
{
	const struct converter *converter;
	struct new_folder new;

	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		struct conversion conversion = {
			.trace = trace, .scratch = folder, .enter_leave = i % 2};

		if (converter->to_file) {
			converter->to_file(&conversion, nowhere);
		} else if (converter->to_folder) {
			assert_int_equal(new_folder_open(&new, archive, false, converter->known),
			                 0);
			converter->to_folder(&conversion, new.temporary);
			new_folder_close(&new, -ECANCELED);
		}
	}
}

static void report_all(const struct trace *trace)
{
	static const struct report_options options = {
		.keys = {PROFILE_BY_SYMBOL}, .nr_keys = 1, .limit = 10};

	info_text(nowhere, trace, "x.atr");
	dump_text(nowhere, trace);
	report_mpi_text(nowhere, trace, "x.atr", &options);
	report_mpi_json(nowhere, trace, &options);
	report_ranks_text(nowhere, trace, "x.atr", &options);
	report_ranks_json(nowhere, trace, &options);
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
		convert_all(trace);
		trace_close(trace);
	}
	lies_close(&lies);
	remove_traces(liar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lies_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
