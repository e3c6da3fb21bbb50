/*
 * Fuzzing of those who look at a recording at work: its image is another process's memory, which
 * may hold anything, and changes meanwhile. The input is a list of steps: the recorder goes on,
 * bytes of the image are overwritten, and readers of the image do what top, watch and ctl status
 * do.
 */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hmb/call.h"
#include "hmb/hmb.h"
#include "live_recording.h"
#include "output/report/report.h"
#include "output/report/watch_json.h"
#include "output/screen/text_view.h"
#include "output/screen/top_lines.h"
#include "random.h"
#include "trace/live/image_status.h"
#include "trace/live/live_trace.h"
#include "trace/live/tables_layout.h"

#define BUDGET      ((size_t)64 << 10)
#define CALLS       2 /* the kind of calls */
#define WINDOW      3 /* the kind of a window */
#define MOST_STEPS  40
#define MAX_SAMPLES 400

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- a recorder ------------------------------------------------------------------------------- */

struct world {
	char path[64];
	struct tables *tables;
	struct hmb *hmb;
	struct live_trace *live;
	uint64_t seed, nr;
	FILE *nowhere;
};

static void describe(struct tables *t)
{
	struct trace_run *run = tables_run(t);
	uint32_t region;

	run->command = tables_string(t, "./app\x1f-x");
	run->start = 1000;
	run->nr_cpus = 2;
	for (uint32_t k = 0; k < 3; k++) {
		struct trace_event *event = tables_add_event(t);

		event->name = tables_string(t, k ? "page-faults" : "cpu-clock");
		event->base_period = k ? 1009 : 97081;
		event->unit = k == CALLS ? TRACE_CALLS : k ? TRACE_COUNT : TRACE_NS;
		*tables_add_stream(t) =
			(struct trace_stream){.event = k, .base_period = event->base_period};
	}
	for (uint16_t i = 0; i < 4; i++)
		tables_module(t, i)->path = tables_string(t, i ? "/opt/app" : "[unknown]");
	for (int i = 0; i < 6; i++)
		tables_add_thread(t, 100, 100 + i, tables_string(t, i % 2 ? "app" : "sh"), 0);
	tables_command(t, tables_string(t, "app"))->tasks = 6;
	region = tables_add_region(t, &(struct trace_region){.name = tables_string(t, "MPI_Send")});
	tables_add_process(t, &(struct trace_process){.pid = 100, .flags = TRACE_PROCESS_MPI});
	tables_add_instrument(t, &(struct trace_instrument){.event = CALLS});
	tables_add_site(t, &(struct trace_call_site){.module = 1, .offset = 16});
	tables_add_call_sum(t, &(struct trace_call_sum){.region = region, .calls = 5, .time = 9});
	tables_add_gap(t, &(struct trace_gap){.from = 2000, .to = 3000});
	tables_set_window(t, &(struct trace_window){
				     .number = UINT32_MAX,
				     .kind = WINDOW,
				     .from = 1000,
				     .flags = TRACE_WINDOW_LEASED,
			     });
}

static void begin(struct world *w)
{
	struct hmb_config config = {
		.size = BUDGET,
		.nr_kinds = 4,
		.max_path = 30,
		.truncated_frame = 1,
		.kinds = {[CALLS] = {.content = HMB_CALLS, .share = BUDGET / 4}},
	};

	snprintf(w->path, sizeof(w->path), "/tmp/adaptrace-fuzz-live-%d.atr", getpid());
	w->tables = tables_new(BUDGET, w->path);
	assert(w->tables && tables_recoverable(w->tables));
	describe(w->tables);
	config.memory = tables_arena(w->tables);
	config.ledger = tables_ledger(w->tables);
	w->hmb = hmb_new(&config);
	assert(w->hmb);
	w->nowhere = fopen("/dev/null", "w");
	assert(w->nowhere);
}

static void end(struct world *w)
{
	char old[80];

	live_trace_close(w->live);
	hmb_free(w->hmb);
	tables_free(w->tables);
	snprintf(old, sizeof(old), "%s.old", w->path);
	unlink(old);
	fclose(w->nowhere);
}

static void put_sample(struct world *w)
{
	uint64_t path[30];
	struct hmb_sample sample = {
		.kind = (unsigned)random_below(&w->seed, 3),
		.time = 1000 + w->nr++ * 300000,
		.thread = (uint32_t)random_below(&w->seed, 6),
		.leaf = (1 + random_below(&w->seed, 3)) << 32 | random_below(&w->seed, 50),
		.path = path,
		.path_size = (unsigned)random_below(&w->seed, 30),
		.level = lambda(1 + random_below(&w->seed, 1 << 20)),
		.step = 97081,
	};

	sample.kind = sample.kind == CALLS ? WINDOW : sample.kind;
	for (unsigned i = 0; i < sample.path_size; i++)
		path[i] = (uint64_t)2 << 32 | (random_below(&w->seed, 3) + i * 16);
	hmb_put(w->hmb, &sample);
}

static void put_call(struct world *w)
{
	const struct call call = {.enter = 1000 + w->nr * 300000,
	                          .leave = 1000 + w->nr * 300000 + 50,
	                          .thread = (uint32_t)random_below(&w->seed, 6)};

	hmb_put_call(w->hmb, CALLS, (unsigned)random_below(&w->seed, 4), &call);
}

/* It goes on only as long as its own memory is as it left it: it trusts that. */
static void go_on(struct world *w, unsigned nr)
{
	for (; nr && w->nr < MAX_SAMPLES; nr--) {
		put_sample(w);
		if (!random_below(&w->seed, 4))
			put_call(w);
	}
	tables_run(w->tables)->end = 1000 + w->nr * 300000;
}

/* --- readers ---------------------------------------------------------------------------------- */

static bool recording_name(void *arg, const struct profile *profile, bool patient)
{
	(void)arg;
	(void)profile;
	return !patient;
}

static void draw(struct world *w, struct top_model *model)
{
	top_line_run(w->nowhere, model, 80);
	top_line_titles(w->nowhere, model, 120);
	for (uint32_t i = 0; i < model->rows.nr; i++) {
		top_model_fill_minute(model, &model->rows.at[i]);
		top_line_row(w->nowhere, model, &model->rows.at[i], 120);
	}
}

static void view(const struct top_model *model, unsigned type)
{
	struct text_view view = {0};
	const char *function = NULL;

	if (!model->until)
		return;
	if (type == TEXT_VIEW_CALLERS && model->rows.nr && !model->by_thread)
		function = model->rows.at[0].name;
	if (type != TEXT_VIEW_CODE && (type != TEXT_VIEW_CALLERS || function))
		text_view_open(&view, model, (enum text_view_type)type, function, 80);
	text_view_close(&view);
}

static void watch(struct world *w, struct watch_json *json)
{
	const struct trace *trace = live_trace_of(w->live);

	if (live_trace_update(w->live))
		return;
	watch_json_begin(w->nowhere, trace, w->path, true);
	live_trace_choose(w->live, 2000, UINT64_MAX);
	watch_json_samples(json, w->nowhere, trace, 2000, UINT64_MAX, 0);
	watch_json_calls(json, w->nowhere, trace, false, 0);
}

static void read_status(const struct world *w)
{
	static struct image_status status;

	image_status_read(tables_image_file(w->tables), &status);
}

/* --- steps ------------------------------------------------------------------------------------ */

struct steps {
	const uint8_t *at, *end;
};

static unsigned next_byte(struct steps *steps)
{
	return steps->at < steps->end ? *steps->at++ : 0;
}

/* The parts of the image that readers use, and how much of each. */
static unsigned char *part_of(const struct world *w, unsigned part, size_t *size)
{
	static const enum trace_section sections[] = {
		TRACE_RUN,       TRACE_EVENTS,   TRACE_STREAMS,    TRACE_THREADS,     TRACE_MODULES,
		TRACE_STRINGS,   TRACE_COMMANDS, TRACE_REGIONS,    TRACE_PROCESSES,   TRACE_WINDOWS,
		TRACE_CALL_SUMS, TRACE_GAPS,     TRACE_CALL_SITES, TRACE_INSTRUMENTS, TRACE_ACTIONS,
	};
	const size_t nr = sizeof(sections) / sizeof(*sections);

	part %= nr + 6;
	*size = 64 * 16;
	if (part < nr) {
		*size = table_limits(sections[part]).entry_size * 8;
		return table_entry(w->tables, sections[part], 0);
	}
	if (part == nr) {
		*size = offsetof(struct image_header, trace_path);
		return (void *)w->tables->header;
	}
	if (part == nr + 1) {
		*size = offsetof(struct hmb_ledger, reductions) + 64;
		return (void *)tables_ledger(w->tables);
	}
	*size = BUDGET;
	return tables_arena(w->tables);
}

static void scribble(const struct world *w, struct steps *steps)
{
	size_t size, nr, offset;
	unsigned char *part = part_of(w, next_byte(steps), &size);

	offset = next_byte(steps) | next_byte(steps) << 8;
	nr = 1 + next_byte(steps) % 8;
	for (size_t i = 0; i < nr; i++)
		part[(offset + i) % size] = (unsigned char)next_byte(steps);
}

static void step(struct world *w, struct top_model *model, struct watch_json *json,
                 struct steps *steps)
{
	const unsigned what = next_byte(steps);

	switch (what % 8) {
	case 0:
	case 1:
	case 2:
		scribble(w, steps);
		break;
	case 3:
	case 4:
		if (!top_model_tick(model))
			draw(w, model);
		break;
	case 5:
		view(model, next_byte(steps) % TEXT_VIEW_HELP);
		break;
	case 6:
		top_model_choose(model, what >> 3 & 1, what >> 4 & 1);
		break;
	default:
		watch(w, json);
		read_status(w);
	}
}

/* The recorder's own functions need this, so that it is put back before they end. */
struct kept {
	struct image_header header;
	struct hmb_ledger ledger;
};

static void keep(const struct world *w, struct kept *kept)
{
	kept->header = *w->tables->header;
	kept->ledger = *tables_ledger(w->tables);
}

static void put_back(const struct world *w, const struct kept *kept)
{
	*w->tables->header = kept->header;
	*tables_ledger(w->tables) = kept->ledger;
}

static void take_steps(struct world *w, struct steps *steps)
{
	struct top_recording recording = live_recording(w->live, w->path, 30000000);
	struct watch_json *json = watch_json_new();
	struct top_model model;

	recording.name = recording_name;
	top_model_init(&model, &recording);
	for (unsigned i = 0; i < MOST_STEPS && steps->at < steps->end; i++)
		step(w, &model, json, steps);
	top_model_fini(&model);
	watch_json_free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kept kept;
	struct steps steps = {data, data + size};
	struct world w = {.seed = 1 + next_byte(&steps)};

	begin(&w);
	go_on(&w, 4 * next_byte(&steps));
	keep(&w, &kept);
	w.live = live_trace_open(w.path);
	assert(w.live);
	take_steps(&w, &steps);
	put_back(&w, &kept);
	end(&w);
	return 0;
}
