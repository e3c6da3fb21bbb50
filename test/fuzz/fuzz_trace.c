/*
 * Fuzzing of all that reads traces: the input is a trace whose checksums are made right, so that
 * what they protect is reached. Of all that can be done with a trace, the input's own checksum
 * chooses what is done with it. Start with traces of 64 KiB.
 */

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_mutate.h"
#include "output/report/report.h"
#include "output/convert/convert.h"
#include "output/report/dump.h"
#include "output/report/info.h"
#include "trace/merge/merge.h"
#include "base/new_folder.h"
#include "output/report/report_diff.h"
#include "output/views/job.h"
#include "seal.h"

#define BUDGET ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A choice among all there is. */
struct choice {
	uint64_t random;
	struct report_options options;
	struct selection selection;
	struct thread_filter filter;
	const char *words[1];
	char word[32];
};

/* --- inputs ----------------------------------------------------------------------------------- */

static bool has_directory(const struct trace_header *header, size_t size)
{
	return size >= sizeof(*header) &&
	       header->nr_sections <= (size - sizeof(*header)) / sizeof(struct trace_entry);
}

/* Changes a section, or the directory. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	const struct trace_header *header = (void *)data;
	const struct trace_entry *entries = (void *)(header + 1);
	uint64_t random = seed, offset = sizeof(*header), bytes;
	uint32_t section;

	if (!has_directory(header, size) || !header->nr_sections)
		return LLVMFuzzerMutate(data, size, max_size);
	section = (uint32_t)random_below(&random, header->nr_sections + 1);
	bytes = header->nr_sections * sizeof(*entries);
	if (section < header->nr_sections && entries[section].size &&
	    entries[section].offset <= size &&
	    entries[section].size <= size - entries[section].offset) {
		offset = entries[section].offset;
		bytes = entries[section].size;
	}
	change_part(data + offset, bytes, &random);
	return size;
}

/* --- what is done ----------------------------------------------------------------------------- */

static bool chosen(struct choice *choice, unsigned one_in)
{
	return !random_below(&choice->random, one_in);
}

static void choose_part(struct choice *choice, const struct trace *trace)
{
	static const char *const keys[] = {"comm", "process", "thread", "cpu", "rank"};
	const struct trace_run *run = trace_run(trace);
	unsigned key = (unsigned)random_below(&choice->random, 5);
	const char *wrong;

	if (chosen(choice, 2))
		return;
	snprintf(choice->word, sizeof(choice->word), "%s=%s", keys[key],
	         key ? "0" : trace_command_name(trace, 1));
	choice->words[0] = choice->word;
	choice->selection =
		(struct selection){.from = run->start + trace_wall(run) / 3, .to = UINT64_MAX};
	if (!thread_filter_init(&choice->filter, trace, choice->words, chosen(choice, 2), &wrong))
		choice->selection.filter = &choice->filter;
	choice->options.query.selection = &choice->selection;
}

static void choose_options(struct choice *choice, const struct trace *trace)
{
	struct report_options *options = &choice->options;
	const struct trace_symbol *symbol =
		trace_symbol(trace, (uint32_t)random_below(&choice->random,
	                                                   trace_nr(trace, TRACE_SYMBOLS) + 1UL));

	*options = (struct report_options){
		.query.event = chosen(choice, 4) ? 0 : TRACE_ALL_EVENTS,
		.query.by_total = chosen(choice, 4),
		.query.per_thread = chosen(choice, 4),
		.query.tree = chosen(choice, 3),
		.query.limit = chosen(choice, 4) ? 3 : UINT32_MAX,
		.query.all = chosen(choice, 2),
		.query.max_depth = chosen(choice, 4) ? 3 : 0,
		.query.no_inline = chosen(choice, 4),
		.style.width = chosen(choice, 2) ? 80 : 0,
		.style.color = chosen(choice, 4),
	};
	options->query.nr_keys = 1 + (unsigned)random_below(&choice->random, 3);
	for (unsigned k = 0; k < options->query.nr_keys; k++)
		options->query.keys[k] =
			(enum profile_keys)(1U << random_below(&choice->random, 14));
	if (symbol && chosen(choice, 3)) {
		options->query.function = trace_string(trace, symbol->name);
		options->query.annotate = chosen(choice, 3);
		options->query.direction = chosen(choice, 2) ? PROFILE_CALLERS : PROFILE_CALLEES;
		options->query.keys[0] = PROFILE_BY_SYMBOL;
		options->query.nr_keys = 1;
	}
	if (options->query.annotate) {
		options->query.direction = PROFILE_ALL;
		options->query.tree = options->query.per_thread = false;
	}
	choose_part(choice, trace);
}

static void report(struct choice *choice, const struct trace *trace, FILE *nowhere)
{
	choose_options(choice, trace);
	if (chosen(choice, 2))
		report_text(nowhere, trace, "x.atr", &choice->options);
	else
		report_json(nowhere, trace, &choice->options.query);
	thread_filter_fini(&choice->filter);
}

static void report_job(struct choice *choice, const struct trace *trace, FILE *nowhere)
{
	choose_options(choice, trace);
	report_mpi_text(nowhere, trace, "x.atr", &choice->options);
	report_mpi_json(nowhere, trace, &choice->options.query);
	report_ranks_text(nowhere, trace, "x.atr", &choice->options);
	report_ranks_json(nowhere, trace, &choice->options.query);
	thread_filter_fini(&choice->filter);
}

static void report_loops(struct choice *choice, const struct trace *trace, FILE *nowhere)
{
	choose_options(choice, trace);
	report_iterations_text(nowhere, trace, "x.atr", &choice->options);
	report_iterations_json(nowhere, trace, &choice->options.query);
	report_fold_text(nowhere, trace, "x.atr", &choice->options);
	report_fold_svg(nowhere, trace, &choice->options.query);
	report_openmp_text(nowhere, trace, "x.atr", &choice->options);
	thread_filter_fini(&choice->filter);
}

static void describe(const struct trace *trace, FILE *nowhere)
{
	info_text(nowhere, trace, "x.atr");
	info_json(nowhere, trace);
	dump_text(nowhere, trace);
	dump_json(nowhere, trace);
}

static void convert_into(const struct converter *converter, struct conversion *conversion)
{
	struct new_folder folder;

	if (new_folder_open(&folder, "/dev/shm/fuzz_trace", true, converter->known))
		return;
	converter->to_folder(conversion, folder.temporary);
	new_folder_close(&folder, -ECANCELED);
}

static void convert(struct choice *choice, const struct trace *trace, FILE *nowhere)
{
	const struct converter *converter =
		converter_at((unsigned)random_below(&choice->random, 12));
	struct conversion conversion = {
		.trace = trace, .scratch = "/dev/shm", .event_alone = chosen(choice, 4)};

	choose_part(choice, trace);
	conversion.selection = choice->options.query.selection;
	conversion.enter_leave = chosen(choice, 2);
	conversion.counter = trace_nr(trace, TRACE_COUNTERS) && chosen(choice, 2);
	if (converter && converter->to_file)
		converter->to_file(&conversion, nowhere);
	else if (converter && converter->to_folder)
		convert_into(converter, &conversion);
	thread_filter_fini(&choice->filter);
}

static void compare(struct choice *choice, struct trace *trace, FILE *nowhere)
{
	static char *names[] = {(char *)"x.atr"};
	const struct diff_report diff = {
		.sides = {{&trace, names, 1}, {&trace, names, 1}},
		.options = &choice->options,
		.shares = chosen(choice, 2),
	};

	choose_options(choice, trace);
	report_diff_text(nowhere, &diff);
	report_diff_json(nowhere, &diff);
	thread_filter_fini(&choice->filter);
}

static void add(unsigned char *bytes, size_t offset, uint32_t number)
{
	uint32_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	word += number;
	memcpy(bytes + offset, &word, sizeof(word));
}

/* The same trace, as another recording of the next ranks, on a host that may be another one. */
static void write_next(const char *path, unsigned char *bytes, size_t size, uint32_t host)
{
	const struct trace_header *header = (void *)bytes;
	const struct trace_entry *entry = (const void *)(header + 1);
	FILE *file = fopen(path, "w");

	for (uint32_t i = 0; i < header->nr_sections; i++, entry++) {
		uint64_t at = entry->offset, end = at + entry->size;

		if (entry->section == TRACE_RUN && entry->size) {
			add(bytes, at + offsetof(struct trace_run, seed), 1);
			add(bytes, at + offsetof(struct trace_run, host), host);
		}
		for (; entry->section == TRACE_PROCESSES && at < end; at += entry->entry_size)
			add(bytes, at + offsetof(struct trace_process, rank), 2);
	}
	seal(bytes, size);
	fwrite(bytes, size, 1, file);
	fclose(file);
}

static void merge_with(const char *path, const char *other)
{
	char *paths[] = {(char *)path, (char *)other};
	const struct merge_config config = {.paths = paths, .nr = 2, .budget = BUDGET};
	struct merge_result result;
	char why[MERGE_WHY_SIZE], merged[64];
	struct trace *trace;
	int err;

	snprintf(merged, sizeof(merged), "/dev/shm/fuzz_trace.%d.atr", getpid());
	err = merge_write(merged, &config, &result, why);
	assert(!err == !*why);
	if (err)
		return;
	trace = trace_open(merged, why);
	assert(trace);
	trace_close(trace);
	unlink(merged);
}

/* $FUZZ_OTHER is the trace of another rank, which it has sent messages to. */
static void merge(struct choice *choice, const char *path, unsigned char *bytes, size_t size)
{
	const char *other = getenv("FUZZ_OTHER");
	char next[64];

	snprintf(next, sizeof(next), "/dev/shm/fuzz_trace.%d.next.atr", getpid());
	write_next(next, bytes, size, chosen(choice, 2));
	merge_with(path, other && chosen(choice, 2) ? other : next);
	unlink(next);
}

static void read_all(struct trace *trace, const char *path, unsigned char *bytes, size_t size)
{
	FILE *nowhere = fopen("/dev/null", "w");
	struct choice choice = {.random = XXH3_64bits(bytes, size)};

	switch (random_below(&choice.random, 8)) {
	case 0:
		describe(trace, nowhere);
		break;
	case 1:
		compare(&choice, trace, nowhere);
		break;
	case 2:
		if (chosen(&choice, 2))
			report_job(&choice, trace, nowhere);
		else
			report_loops(&choice, trace, nowhere);
		break;
	case 3:
		merge(&choice, path, bytes, size);
		break;
	case 4:
	case 5:
		convert(&choice, trace, nowhere);
		break;
	default:
		report(&choice, trace, nowhere);
	}
	fclose(nowhere);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	char path[32], why[TRACE_WHY_SIZE];
	unsigned char *bytes = malloc(size + 1);
	struct trace *trace;

	memcpy(bytes, data, size);
	if (has_directory((void *)bytes, size))
		seal(bytes, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = write(fd, bytes, size) == (ssize_t)size ? trace_open(path, why) : NULL;
	if (trace)
		read_all(trace, path, bytes, size);
	trace_close(trace);
	free(bytes);
	close(fd);
	return 0;
}
