/*
 * Reading a trace. A file is checked as a whole when it is opened (sizes, references between
 * sections, checksums), mapped, or copied if others may write to it, and then read in place;
 * whatever its bytes are or become, nothing here reads outside it.
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "hmb/limits.h"
#include "trace/format.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define TRACE_WHY_SIZE   (PATH_MAX + 512) /* the path is part of it */
#define TRACE_ALL_EVENTS UINT32_MAX

struct trace;

/* Returns NULL on failure: why then says in one line what is wrong and what to do. */
struct trace *trace_open(const char *path, char why[TRACE_WHY_SIZE]);
/* Does the same for a mapping of its bytes, which is unmapped on failure and by trace_close(). */
struct trace *trace_open_memory(void *memory, size_t size, const char *name,
                                char why[TRACE_WHY_SIZE]);
void trace_close(struct trace *trace);

/* The result is never NULL. */
const struct trace_run *trace_run(const struct trace *trace);
/*
 * Tells whether trace_rename() has replaced names of modules. Counts of names in trace_run() are
 * those of the file.
 */
bool trace_is_renamed(const struct trace *trace);
/*
 * With any bytes but 0; empty for an offset where no string begins, so that all strings together
 * are no longer than the file. Valid until the trace is closed.
 */
const char *trace_string(const struct trace *trace, uint32_t offset);
/* The name of a command, a string of the trace: "[unknown]" of tasks that began unseen. */
const char *trace_command_name(const struct trace *trace, uint32_t comm);

/*
 * How many entries a section has; at most COUNTER_MAX - 1 counters, and as many modules as frames
 * can name.
 */
uint32_t trace_nr(const struct trace *trace, enum trace_section section);
/* Returns how many of TRACE_EVENTS were sampled. They come first. */
uint32_t trace_nr_events(const struct trace *trace);

/*
 * The entries of a section; index out of range gives NULL. Events are those that were sampled;
 * kinds are these and those of calls behind them.
 */
const struct trace_event *trace_event(const struct trace *trace, uint32_t index);
const struct trace_stream *trace_stream(const struct trace *trace, uint32_t index);
const struct trace_counter *trace_counter(const struct trace *trace, uint32_t index);
const struct trace_module *trace_module(const struct trace *trace, uint32_t index);
const struct trace_thread *trace_thread(const struct trace *trace, uint32_t index);
const struct trace_command *trace_command(const struct trace *trace, uint32_t index);
const struct trace_reduction *trace_reduction(const struct trace *trace, uint32_t index);
const struct trace_symbol *trace_symbol(const struct trace *trace, uint32_t index);
const struct trace_source *trace_source(const struct trace *trace, uint32_t index);
const struct trace_source_file *trace_source_file(const struct trace *trace, uint32_t index);
const struct trace_event *trace_kind(const struct trace *trace, uint32_t index);
const struct trace_region *trace_region(const struct trace *trace, uint32_t index);
const struct trace_comm *trace_comm(const struct trace *trace, uint32_t index);
const struct trace_process *trace_process(const struct trace *trace, uint32_t index);
const struct trace_instrument *trace_instrument(const struct trace *trace, uint32_t index);
const struct trace_action *trace_action(const struct trace *trace, uint32_t index);
const struct trace_gap *trace_gap(const struct trace *trace, uint32_t index);
const struct trace_condition *trace_condition(const struct trace *trace, uint32_t index);
const struct trace_window *trace_window(const struct trace *trace, uint32_t index);

/* Returns the end of a gap, which may be that of the run. It is not before its start. */
uint64_t trace_gap_end(const struct trace *trace, const struct trace_gap *gap);
/*
 * Returns the time in [from, to) in which an event was sampled: without its gaps. If several
 * processes were recorded on their own, it is the mean of theirs.
 */
uint64_t trace_sampled_time(const struct trace *trace, uint32_t event, uint64_t from, uint64_t to);
/* Whether an event was sampled at any time of the last `length` ns. */
bool trace_was_sampled(const struct trace *trace, uint32_t event, uint64_t length);
/*
 * Returns the time in [from, to) in which no event was sampled. If several processes were recorded
 * on their own, it is the mean of their times without the first event.
 */
uint64_t trace_paused_time(const struct trace *trace, uint64_t from, uint64_t to);

/* Whether an entry is a window, and not a part of the history, and in use. */
bool trace_is_window(const struct trace_window *window);
/* The window with this number; NULL: there is none. Its end, which may be that of the run. */
const struct trace_window *trace_find_window(const struct trace *trace, uint32_t number);
/*
 * Joins the parts of the history: it has number 0, the kind of one of them, and the floor that
 * holds for all; stored counts what is stored at a lower level, too. Returns false if there is
 * none.
 */
bool trace_find_history(const struct trace *trace, struct trace_window *history);
/* The same for the calls of the history, which may begin at another time. */
bool trace_find_call_history(const struct trace *trace, struct trace_window *history);
/* Whether there is a history, of samples or of calls. */
bool trace_has_history(const struct trace *trace);
/* Whether a history holds as much as it may, so that what is older makes room. */
bool trace_history_is_full(const struct trace *trace);
/* The event that a window is of, by its number for readers. */
uint32_t trace_window_event(const struct trace *trace, const struct trace_window *window);
uint64_t trace_window_end(const struct trace *trace, const struct trace_window *window);
/* Returns the shift of the period that a window's samples are left with. */
static inline uint32_t trace_window_shift(const struct trace_window *window)
{
	return window->floor > window->shift ? window->floor : window->shift;
}
/*
 * Lets the trace have a window's samples instead of its event's, which then has the window's
 * period, floor and counts, and no exact total. Walks and strings of before are not valid any more.
 * 0, -ENOENT or -ENOMEM.
 */
int trace_choose_window(struct trace *trace, uint32_t number);
/*
 * The same with the samples of the history, and with its calls if it has any. It then begins where
 * it has both.
 */
int trace_choose_history(struct trace *trace);
/* The window, or the part of the history, whose samples have this kind of bins; NULL: none. */
const struct trace_window *trace_window_of_kind(const struct trace *trace, uint32_t kind);
/*
 * Counts and weighs the samples of a window, or of a history that trace_find_history() gave. 0,
 * -ENOMEM or -EBADMSG.
 */
int trace_window_weight(const struct trace *trace, const struct trace_window *window, uint64_t *nr,
                        uint64_t *weight);
/* The event as the run has it, also while a window is chosen. */
const struct trace_event *trace_event_of_run(const struct trace *trace, uint32_t index);
/* The window, or the history, that was chosen; NULL: the run. */
const struct trace_window *trace_chosen_window(const struct trace *trace);
/* Whether the trace's calls are of what was chosen: of the run, or of a history that has some. */
bool trace_calls_chosen(const struct trace *trace);

/* "pause", or of a mark its text. */
const char *trace_action_text(const struct trace *trace, const struct trace_action *action);
const struct trace_iterations *trace_iterations(const struct trace *trace, uint32_t index);
/* Returns the frame of a site as calls and their sums name it: index + 1. */
uint64_t trace_site_frame(const struct trace *trace, uint32_t site);
const struct trace_call_sum *trace_call_sum(const struct trace *trace, uint32_t index);
const struct trace_openmp *trace_openmp(const struct trace *trace, uint32_t index);

/* Whether the command begins with what was sampled instead of one, in brackets. */
bool trace_names_scope(const struct trace_run *run);
/* Returns the time since the start of the run in ns, or 0 for an earlier time. */
uint64_t trace_since_start(const struct trace_run *run, uint64_t time);
/* Returns the length of the run in ns. */
uint64_t trace_wall(const struct trace_run *run);
/* Returns the signal that killed the program, or 0. */
int trace_exit_signal(const struct trace_run *run);

/*
 * The first event of that name, else the only one of that name with modifiers behind it: who may
 * not sample the kernel gets "cycles:u" for "cycles". TRACE_ALL_EVENTS: none.
 */
uint32_t trace_find_event(const struct trace *trace, const char *name);
/* Return the lost samples and the throttlings of an event, or of TRACE_ALL_EVENTS. */
struct trace_losses {
	uint64_t lost, throttled;
};
struct trace_losses trace_losses(const struct trace *trace, uint32_t event);
/* Returns the highest CPU number of all streams that belong to a CPU, plus one. */
uint32_t trace_nr_cpus(const struct trace *trace);

/* Returns the last shift of the event: stored samples stand for their base period << shift. */
static inline uint32_t trace_shift(const struct trace_event *event)
{
	return event->floor > event->initial_shift ? event->floor : event->initial_shift;
}

/* Returns "ns" or "count". */
const char *trace_unit_name(enum trace_unit unit);

/*
 * Returns the event's period at a shift, in its unit. It is at most 2^56, whatever the file says.
 */
uint64_t trace_period(const struct trace_event *event, uint32_t shift);

/*
 * Returns the name of a module: its file's name, with as many folders before it as distinguish all
 * files of that name in the trace. Returns an empty string if there is no such module.
 */
const char *trace_module_name(const struct trace *trace, uint32_t number);
/*
 * Gives files of one name the same number of folders in all of these traces, so that the names of
 * modules can be compared. Returns 0 or -ENOMEM.
 */
int trace_tell_modules_apart(struct trace *const *traces, unsigned nr_traces);

/* Returns the rank in MPI_COMM_WORLD of the member with this rank in either group, or -1. */
int32_t trace_member(const struct trace *trace, uint32_t comm, int32_t rank, bool remote);
/*
 * The rank in MPI_COMM_WORLD of whom a call names as a peer: a member of the remote group of an
 * intercommunicator, and of the only group of others. -1: none, or not known.
 */
int32_t trace_peer(const struct trace *trace, uint32_t comm, int32_t peer);

/* Returns the string with the name of the host that a process ran on. */
uint32_t trace_host(const struct trace *trace, const struct trace_process *process);

/* Whether a command's exact total is the kernel's own account of the time of idle CPUs. */
bool trace_command_is_idle(const struct trace *trace, const struct trace_command *command);
/* Whether a command is. Then idle CPUs were not sampled. */
bool trace_tells_idle(const struct trace *trace);
/*
 * Whether it stands for the CPUs' idle tasks where these were sampled, and how they are named: with
 * processes outside of a PID namespace they are one.
 */
bool trace_thread_is_idle(const struct trace *trace, uint32_t thread);
bool trace_has_idle(const struct trace *trace);
const char *trace_idle_name(const struct trace *trace);

/* Returns the number of the thread's process; UINT32_MAX: not known. */
uint32_t trace_owner(const struct trace *trace, uint32_t thread);
/* Returns the rank, in the job, of the thread's process; -1 if there is none. */
int32_t trace_rank(const struct trace *trace, uint32_t thread);

/* Returns the index of the function that contains a frame; UINT32_MAX: none is known. */
uint32_t trace_find_symbol(const struct trace *trace, uint64_t frame);
/* Returns the number of the line entry for a frame in a function; UINT32_MAX: not known. */
uint32_t trace_find_line(const struct trace *trace, uint64_t frame, uint32_t symbol);
const struct trace_line *trace_line(const struct trace *trace, uint32_t index);

/*
 * Returns the source of a frame that occurs in the trace, and of the calls that were inlined there,
 * innermost first, as far as there is room. The last one's function is the frame's symbol. Returns
 * their number; 0 if none is known.
 */
#define TRACE_MAX_CHAIN 128
size_t trace_inline_chain(const struct trace *trace, uint64_t frame,
                          struct trace_source chain[TRACE_MAX_CHAIN]);

/* A sample is as large as a cache line, because many of them are passed from one CPU to another. */
struct trace_sample {
	uint64_t time;   /* ns */
	uint64_t weight; /* in the event's unit */
	uint64_t leaf;
	/*
	 * The counts since the previous sample in the same stream: first the event itself, then the
	 * counters. A stream is a CPU, or a thread if events are inherited. They are valid until
	 * the next sample of the walk.
	 */
	uint64_t *counters;
	uint32_t thread, cpu;
	uint32_t context; /* node; NODE_NONE: no callers */
	uint32_t memory;  /* class of the access, see base/access_class.h; 0: none known */

	/*
	 * A number, below trace_walk_pairs(), that stands for (event, leaf, context, memory). It
	 * is reused: a sample without `again` gives it a new meaning. UINT32_MAX: none.
	 */
	uint32_t pair;
	uint32_t event;
	uint8_t level;
	uint8_t nr_counters; /* 0: nothing is known of them */
	bool again;          /* the same as the latest with this pair */
};
static_assert(sizeof(struct trace_sample) == 64, "see above");

/*
 * The frame of a node, and the node of its caller: NODE_NONE where the frame is a root. false:
 * there is no such node, or the file lies.
 */
bool trace_node(const struct trace *trace, uint32_t node, uint64_t *frame, uint32_t *parent);
/* Prefetches the memory that trace_node() will read. */
void trace_node_prefetch(const struct trace *trace, uint32_t node);

/*
 * A small number of a node, for arrays of what is known of nodes: below trace_node_limit(), which
 * is at most a sixteenth of the file's size. UINT32_MAX: it lies in no bin of the file.
 */
uint32_t trace_node_number(const struct trace *trace, uint32_t node);
uint64_t trace_node_limit(const struct trace *trace);

#define TRACE_MAX_STACK ((1 << 16) + 1) /* frames; a file may pretend that there is no end */

/*
 * Writes at most max frames, leaf first, and returns how many the stack has. One that the file does
 * not have in full ends in FRAME_TRUNCATED.
 */
size_t trace_stack(const struct trace *trace, const struct trace_sample *sample, uint64_t *frames,
                   size_t max);

/*
 * A walk over the stored samples of one event or of all, oldest first. (Samples that reached the
 * recorder behind its merge front come late here, too.) NULL with errno.
 */
struct trace_walk;
struct trace_walk *trace_walk_new(const struct trace *trace, uint32_t event);
/*
 * The same samples in no order that anybody may rely on: sums need none, and to turn from one list
 * of bins to another with each sample takes a third of the time. What was counted with samples is
 * told by their order, so that they have it where there are counters.
 */
struct trace_walk *trace_walk_unordered(const struct trace *trace, uint32_t event);
void trace_walk_free(struct trace_walk *walk);
uint32_t trace_walk_pairs(const struct trace_walk *walk);
/*
 * The whole of a new one, which is freed: 0, -EBADMSG, or what fn returned that was not 0, which
 * ends it. -errno where it is NULL.
 */
typedef int trace_sample_fn(void *arg, const struct trace_sample *sample);
int trace_each_sample(struct trace_walk *walk, trace_sample_fn *fn, void *arg);
/* Returns 1 with a sample, 0 at the end, or -EBADMSG. */
int trace_walk_next(struct trace_walk *walk, struct trace_sample *sample);
/*
 * The next ones, at most max: 1 while there may be more behind them, 0 at the end, -EBADMSG.
 * counters: room for those of as many samples; NULL: the trace has none.
 */
int trace_walk_some(struct trace_walk *walk, struct trace_sample *samples,
                    uint64_t (*counters)[COUNTER_MAX], unsigned max, unsigned *nr);

#endif
