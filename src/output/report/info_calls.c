#include "hmb/hmb.h"
#include "output/report/info_calls.h"
#include "output/views/call_text.h"
#include "output/text/json_writer.h"
#include "output/text/text.h"
#include "trace/trace_calls.h"
#include "trace/trace_iterations.h"
#include "base/array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define LABEL    "  %-15s"
#define MAX_ROWS 16 /* of processes */

static const struct trace_instrument *instrument_of(const struct trace *trace, uint32_t kind)
{
	const struct trace_instrument *instrument;

	for (uint32_t i = 0; (instrument = trace_instrument(trace, i)); i++)
		if (instrument->event == kind)
			return instrument;
	return NULL;
}

/* --- text ------------------------------------------------------------------------------------- */

static void put_offset(FILE *to, const struct trace *trace, uint64_t time)
{
	char text[TEXT_SIZE];

	text_quantity(text, (double)trace_since_start(trace_run(trace), time), TRACE_NS);
	fputs(text, to);
}

static const char *what_goes(uint32_t policy)
{
	static const char *const texts[] = {
		[TRACE_POLICY_ALL] = "all are dropped at once, and no more are stored",
		[TRACE_POLICY_CLASS] = "they are dropped class by class",
		[TRACE_POLICY_DEPTH] = "the deepest are dropped first",
		[TRACE_POLICY_DURATION] = "the shortest are dropped first",
		[TRACE_POLICY_TIME] = "those of every other moment are dropped",
		[TRACE_POLICY_ITERATIONS] = "every other iteration and moment is dropped",
	};

	return policy < sizeof(texts) / sizeof(*texts) ? texts[policy] : "unknown";
}

static void put_instrument(FILE *to, const struct trace *trace,
                           const struct trace_instrument *instrument)
{
	char share[TEXT_SIZE];

	text_bytes(share, instrument->share);
	fprintf(to, LABEL "%s%s; when the memory is full, %s\n", "",
	        instrument->share ? "at least " : "",
	        instrument->share ? share : "as many as there is room for",
	        what_goes(instrument->policy));
	fprintf(to, LABEL, "");
	if (instrument->to > instrument->from) {
		fputs("complete from ", to);
		put_offset(to, trace, instrument->from);
		fputs(" to ", to);
		put_offset(to, trace, instrument->to);
	} else {
		fputs("complete at no time", to);
	}
	fputc('\n', to);
	if (instrument->lost)
		fprintf(to, LABEL "%" PRIu64 " lost on their way to the recorder\n", "",
		        instrument->lost);
	if (instrument->untimed)
		fprintf(to,
		        LABEL "%" PRIu64 " not timed and not stored, to keep within "
		              "--max-overhead; sums have them\n",
		        "", instrument->untimed);
}

/* A level without bins held nothing. */
static void put_removals(FILE *to, const struct trace *trace, uint32_t kind)
{
	const struct trace_reduction *reduction;

	for (uint32_t i = 0; (reduction = trace_reduction(trace, i)); i++) {
		if (reduction->event != kind || !reduction->bins)
			continue;
		fprintf(to, LABEL "dropped at ", "");
		put_offset(to, trace, reduction->time);
		fprintf(to, ": %s\n",
		        reduction->cause == HMB_CAUSE_SHARE ? "they had more than their share"
		                                            : "the buffer was full");
	}
}

/* --- iterations that the program found -------------------------------------------------------- */

struct iteration_counts {
	uint64_t seen, stored, slow, bytes;
	uint32_t phases; /* of all threads */
};

static void count_thread(const struct iteration_index *index, uint32_t thread,
                         struct iteration_counts *counts)
{
	struct trace_iteration iteration, last = {0};
	struct iteration_cursor cursor;

	iteration_cursor_init(&cursor, index, thread);
	while (iteration_cursor_next(&cursor, &iteration)) {
		counts->phases +=
			!last.end || iteration.phase != last.phase || iteration.level != last.level;
		counts->seen++;
		counts->stored += iteration.stored;
		counts->slow += iteration.slow;
		last = iteration;
	}
}

static int count_iterations(const struct trace *trace, struct iteration_counts *counts)
{
	struct iteration_index index;
	int err = iteration_index_init(&index, trace);

	*counts = (struct iteration_counts){.bytes = trace_nr(trace, TRACE_ITERATIONS) *
	                                             sizeof(struct trace_iterations)};
	for (uint32_t i = 0; !err && trace_thread(trace, i); i++)
		count_thread(&index, i, counts);
	iteration_index_fini(&index);
	return err;
}

static int put_iterations(FILE *to, const struct trace *trace)
{
	struct iteration_counts counts;
	int err = count_iterations(trace, &counts);

	if (err || !counts.seen)
		return err;
	fprintf(to,
	        LABEL "%" PRIu64 " of %" PRIu32 " phase%s, the calls of %" PRIu64
	              " of them stored; %.1f bytes each beside their calls\n",
	        "iterations", counts.seen, counts.phases, plural(counts.phases), counts.stored,
	        (double)counts.bytes / (double)counts.seen);
	if (trace_run(trace)->left_iterations)
		fprintf(to, LABEL "%" PRIu64 " more found no room in the trace\n", "",
		        trace_run(trace)->left_iterations);
	return 0;
}

int info_calls_text(FILE *to, const struct trace *trace)
{
	uint64_t bytes;
	int err = trace_call_bytes(trace, &bytes);
	uint32_t first = trace_nr_events(trace);
	bool several = trace_kind(trace, first + 1);
	const struct trace_event *event;

	for (uint32_t i = first; (event = trace_kind(trace, i)); i++) {
		const struct trace_instrument *instrument = instrument_of(trace, i);

		fprintf(to, LABEL, i == first ? "calls" : "");
		if (several) {
			text_put(to, trace_string(trace, event->name), 0);
			fputs(": ", to);
		}
		fprintf(to, "%" PRIu64 " seen, %" PRIu64 " of them stored", event->taken,
		        event->stored);
		if (event->stored && bytes && !several)
			fprintf(to, ", %.1f bytes each", (double)bytes / (double)event->stored);
		fputc('\n', to);
		if (instrument)
			put_instrument(to, trace, instrument);
		put_removals(to, trace, i);
	}
	return err ? err : put_iterations(to, trace);
}

/* --- processes -------------------------------------------------------------------------------- */

/* Orders processes by rank. Processes without a rank come last. */
static int compare_ranks(const void *a, const void *b)
{
	const struct trace_process *x = *(const struct trace_process *const *)a;
	const struct trace_process *y = *(const struct trace_process *const *)b;

	return ORDER((uint32_t)x->rank, (uint32_t)y->rank) ?: ORDER(x, y);
}

/* Returns the processes in the order of their ranks. The caller frees the list; NULL: no memory. */
static const struct trace_process **list_processes(const struct trace *trace, uint32_t *nr)
{
	const struct trace_process **list;

	*nr = trace_nr(trace, TRACE_PROCESSES);
	list = calloc(*nr + 1UL, sizeof(*list));
	if (!list)
		return NULL;
	for (uint32_t i = 0; i < *nr; i++)
		list[i] = trace_process(trace, i);
	ARRAY_SORT(list, *nr, compare_ranks);
	return list;
}

static void put_process(FILE *to, const struct trace *trace, const struct trace_process *process)
{
	char rank[16] = "-";

	if (process->rank >= 0)
		snprintf(rank, sizeof(rank), "%d", process->rank);
	fprintf(to, "  %6s  %8d  ", rank, process->pid);
	text_put_padded(to, trace_string(trace, trace_host(trace, process)), 12);
	if (process->offset_error == UINT64_MAX)
		fprintf(to, "  %+.3f µs, as far as the hosts knew the real time",
		        (double)process->offset / 1000);
	else if (process->offset_error > 1)
		fprintf(to, "  %+.3f µs ± %.3f µs", (double)process->offset / 1000,
		        (double)process->offset_error / 1000);
	else
		fputs("  as recorded", to);
	if (process->flags & TRACE_PROCESS_MPI && !(process->flags & TRACE_PROCESS_FINALIZED))
		fputs(", ended without MPI_Finalize", to);
	if (process->lost)
		fprintf(to, ", %" PRIu64 " calls lost", process->lost);
	fputc('\n', to);
}

int info_processes_text(FILE *to, const struct trace *trace)
{
	uint32_t nr;
	const struct trace_process **list = list_processes(trace, &nr);

	if (!list)
		return -ENOMEM;
	if (nr && list[0]->library) {
		fprintf(to, "\n" LABEL, "MPI");
		text_put(to, trace_string(trace, list[0]->library), 0);
		fputc('\n', to);
	}
	if (nr)
		fprintf(to, "\n  %6s  %8s  %-12s  %s\n", "rank", "process", "host", "clock");
	for (uint32_t i = 0; i < nr && i < MAX_ROWS; i++)
		put_process(to, trace, list[i]);
	if (nr > MAX_ROWS)
		fprintf(to, "  and %u more; --json has them all\n", nr - MAX_ROWS);
	free(list);
	return 0;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_calls(struct json_writer *json, const struct trace *trace, uint32_t kind,
                      const struct trace_event *event)
{
	const struct trace_instrument *instrument = instrument_of(trace, kind);

	json_begin(json, NULL);
	json_text(json, "name", trace_string(trace, event->name));
	json_number(json, "seen", event->taken);
	json_number(json, "stored", event->stored);
	json_number(json, "dropped", event->taken - event->stored);
	if (instrument) {
		json_number(json, "lost", instrument->lost);
		json_number(json, "untimed", instrument->untimed);
		json_text(json, "policy", policy_name(instrument->policy));
		json_number(json, "share", instrument->share);
		json_number(json, "from_ns", instrument->from);
		json_number(json, "to_ns", instrument->to);
	}
	json_end(json);
}

int info_calls_json(struct json_writer *json, const struct trace *trace)
{
	const struct trace_event *event;
	uint64_t bytes;
	int err = trace_call_bytes(trace, &bytes);

	if (err)
		return err;
	json_begin(json, "calls");
	json_number(json, "bytes", bytes);
	json_begin_list(json, "kinds");
	for (uint32_t i = trace_nr_events(trace); (event = trace_kind(trace, i)); i++)
		put_calls(json, trace, i, event);
	json_end_list(json);
	json_end(json);
	return 0;
}

int info_iterations_json(struct json_writer *json, const struct trace *trace)
{
	struct iteration_counts counts;
	int err = count_iterations(trace, &counts);

	if (err)
		return err;
	json_begin(json, "iterations");
	json_number(json, "seen", counts.seen);
	json_number(json, "stored", counts.stored);
	json_number(json, "slow", counts.slow);
	json_number(json, "phases", counts.phases);
	json_number(json, "bytes", counts.bytes);
	json_number(json, "left_out", trace_run(trace)->left_iterations);
	json_end(json);
	return 0;
}

static void put_process_json(struct json_writer *json, const struct trace *trace,
                             const struct trace_process *process)
{
	static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
	uint64_t error = process->offset_error;

	json_begin(json, NULL);
	json_known(json, "rank", process->rank >= 0, (uint64_t)process->rank);
	json_int(json, "pid", process->pid);
	json_text(json, "host", trace_string(trace, trace_host(trace, process)));
	json_number(json, "world_size", process->world_size);
	json_text(json, "library", trace_string(trace, process->library));
	json_text(json, "threads",
	          process->thread_level < 4 ? levels[process->thread_level] : "unknown");
	json_flag(json, "finalized", process->flags & TRACE_PROCESS_FINALIZED);
	json_number(json, "start_ns", process->start);
	json_number(json, "end_ns", process->end);
	json_number(json, "lost", process->lost);
	json_number(json, "clock_error_ns", process->clock_error);
	json_int(json, "offset_ns", process->offset);
	json_int(json, "drift_ns", process->drift);
	json_known(json, "offset_error_ns", error && error != UINT64_MAX, error);
	json_end(json);
}

int info_processes_json(struct json_writer *json, const struct trace *trace)
{
	uint32_t nr;
	const struct trace_process **list = list_processes(trace, &nr);

	if (!list)
		return -ENOMEM;
	json_begin_list(json, "processes");
	for (uint32_t i = 0; i < nr; i++)
		put_process_json(json, trace, list[i]);
	json_end_list(json);
	free(list);
	return 0;
}
