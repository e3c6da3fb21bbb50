#include "trace/live/image_status.h"

#include "trace/live/image_memory.h"
#include "trace/live/tables_layout.h"
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies of parts of an image: its recorder writes to it meanwhile. */
struct view {
	struct image_header header;
	struct tables tables;
	struct trace_run run;
	struct hmb_ledger ledger;
};

static int read_part(int fd, void *to, size_t size, size_t at)
{
	return pread(fd, to, size, (off_t)at) == (ssize_t)size ? 0 : -EBADMSG;
}

static int read_view(struct view *view, int fd)
{
	struct stat stat;
	int err;

	if (fstat(fd, &stat))
		return -errno;
	view->tables = (struct tables){.header = &view->header, .image.size = (size_t)stat.st_size};
	err = read_part(fd, &view->header, sizeof(view->header), 0);
	if (!err)
		err = tables_check_layout(&view->tables);
	if (!err)
		err = read_part(fd, &view->ledger, sizeof(view->ledger),
		                view->tables.layout.ledger);
	return err ? err
	           : read_part(fd, &view->run, sizeof(view->run),
	                       view->tables.layout.section[TRACE_RUN]);
}

static int read_name(const struct view *view, int fd, uint32_t offset, char name[64])
{
	const uint32_t nr = view->header.nr[TRACE_STRINGS];
	const size_t rest = offset < nr ? nr - offset : 0;

	memset(name, 0, 64);
	return rest ? read_part(fd, name, rest < 63 ? rest : 63,
	                        view->tables.layout.section[TRACE_STRINGS] + offset)
	            : 0;
}

/* The last gap of each event tells whether it is sampled. */
static int read_gaps(const struct view *view, int fd, bool off[TABLES_MAX_EVENTS])
{
	const uint32_t nr = view->header.nr[TRACE_GAPS];
	struct trace_gap *gaps = calloc(nr + 1UL, sizeof(*gaps));
	int err = gaps ? read_part(fd, gaps, nr * sizeof(*gaps),
	                           view->tables.layout.section[TRACE_GAPS])
	               : -ENOMEM;

	for (uint32_t i = 0; !err && i < nr; i++)
		if (gaps[i].event < TABLES_MAX_EVENTS)
			off[gaps[i].event] = !gaps[i].to;
	free(gaps);
	return err;
}

static int read_event(const struct view *view, int fd, uint32_t kind, bool sampled,
                      struct image_status *status)
{
	struct image_event *to = &status->events[status->nr_events];
	struct trace_event event;
	uint32_t shift;
	int err = read_part(fd, &event, sizeof(event),
	                    view->tables.layout.section[TRACE_EVENTS] + kind * sizeof(event));

	if (err || event.unit == TRACE_CALLS)
		return err;
	to->unit = event.unit;
	to->sampled = sampled;
	to->floor = view->ledger.floor[kind];
	shift = to->floor > event.initial_shift ? to->floor : event.initial_shift;
	to->period = shift < 56 ? event.base_period << shift : 0;
	status->taken += view->ledger.taken[kind];
	status->nr_events++;
	return read_name(view, fd, event.name, to->name);
}

static uint64_t shifted(uint64_t period, uint32_t shift)
{
	return shift < 56 ? period << shift : 0;
}

static void add_half(struct image_part *part, const struct trace_window *half)
{
	if (!part->there || half->from < part->from)
		part->from = half->from;
	part->there = true;
	part->full |= half->to != 0;
}

static void complete_history(struct image_history *history)
{
	const struct image_part *samples = &history->samples, *calls = &history->calls;

	history->from = calls->there && calls->from > samples->from ? calls->from : samples->from;
	history->full = samples->full && (calls->full || !calls->there);
}

/* Adds a window that is in use, of an event, or a half of the history. */
static int read_window(const struct view *view, int fd, uint32_t index, struct image_status *status)
{
	struct image_window *to;
	const size_t *sections = view->tables.layout.section;
	struct trace_window window;
	struct trace_event event;
	int err = read_part(fd, &window, sizeof(window),
	                    sections[TRACE_WINDOWS] + index * sizeof(window));

	if (err || !window.number || window.kind >= HMB_MAX_KINDS ||
	    window.event >= view->header.nr[TRACE_EVENTS])
		return err;
	err = read_part(fd, &event, sizeof(event),
	                sections[TRACE_EVENTS] + window.event * sizeof(event));
	if (err)
		return err;
	if (window.flags & TRACE_WINDOW_HISTORY) {
		status->history.wanted = window.span;
		add_half(event.unit == TRACE_CALLS ? &status->history.calls
		                                   : &status->history.samples,
		         &window);
		return 0;
	}
	window.floor = view->ledger.floor[window.kind];
	to = window.flags & TRACE_WINDOW_LEASED ? &status->lease
	                                        : &status->windows[status->nr_windows++];
	*to = (struct image_window){
		.number = window.number,
		.event = window.event,
		.from = window.from,
		.to = window.to,
		.period = shifted(event.base_period, trace_window_shift(&window)),
		.taken = view->ledger.taken[window.kind],
	};
	return 0;
}

static int read_status(int fd, struct image_status *status)
{
	bool off[TABLES_MAX_EVENTS] = {false};
	struct view view = {0};
	int err = read_view(&view, fd);

	if (!err)
		err = read_gaps(&view, fd, off);
	if (err)
		return err;
	status->state = view.header.state;
	status->end = view.run.end;
	status->sampling = view.run.end > view.run.start;
	status->budget = view.run.budget ? view.run.budget : view.header.budget;
	status->used = view.run.used;
	for (uint32_t k = 0; !err && k < view.header.nr[TRACE_EVENTS]; k++)
		err = read_event(&view, fd, k, !off[k], status);
	for (uint32_t i = 0; !err && i < view.header.nr[TRACE_WINDOWS]; i++)
		err = read_window(&view, fd, i, status);
	complete_history(&status->history);
	return err;
}

int image_status_read(const char *image_file, struct image_status *status)
{
	int fd = image_memory_open(image_file), err;

	*status = (struct image_status){0};
	if (fd < 0)
		return fd;
	err = read_status(fd, status);
	close(fd);
	return err;
}
