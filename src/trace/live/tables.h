/*
 * The tables of a run while it is recorded: arrays in the trace's own form, in memory that outlives
 * a killed recorder. One file holds them together with the arena of the buffer:
 *
 *     image header | ledger | run | strings | events | streams | modules | threads | commands |
 *     regions | communicators | members | processes | owners | instruments | counters | sums of
 *     calls | actions | gaps | windows | conditions | call sites | OpenMP | iterations | arena
 *
 * The file lies in /dev/shm under a private name (0600, O_EXCL) and is unlinked at a clean end.
 * Room is reserved for the largest tables and the arena, and allocated piece by piece as they grow,
 * so that a full /dev/shm is an error of one call and never a fault. Where /dev/shm has no room for
 * the arena to begin with, other memory serves, and a killed recorder leaves nothing: a memory file
 * that others get by the control socket, or anonymous memory.
 *
 * All adds return an index or offset; when a table is full, or memory is refused, they return its
 * stand-in (0, or what the call says) and count.
 */
#ifndef TRACE_LIVE_TABLES_H
#define TRACE_LIVE_TABLES_H

#include "hmb/hmb.h"
#include "trace/format.h"

#include <stdbool.h>
#include <sys/types.h>

#define TABLES_MAX_EVENTS     HMB_MAX_KINDS
#define TABLES_MAX_STREAMS    (1 << 16)
#define TABLES_MAX_MODULES    (1 << 16)
#define TABLES_MAX_THREADS    (1 << 16)
#define TABLES_MAX_STRINGS    (8 << 20) /* bytes */
#define TABLES_MAX_REGIONS    (1 << 14)
#define TABLES_MAX_COMMS      (1 << 16)
#define TABLES_MAX_MEMBERS    (1 << 22) /* of all communicators together */
#define TABLES_MAX_PROCESSES  (1 << 16)
#define TABLES_MAX_COUNTERS   (COUNTER_MAX - 1)
#define TABLES_MAX_CALL_SUMS  (1 << 18)
#define TABLES_MAX_ACTIONS    (1 << 16)
#define TABLES_MAX_GAPS       (1 << 16)
#define TABLES_MAX_CONDITIONS (1 << 14)
#define TABLES_MAX_SITES      (1 << 16)
#define TABLES_MAX_OPENMP     (1 << 15)
#define TABLES_MAX_WINDOWS    HMB_MAX_KINDS
#define TABLES_MAX_ITERATIONS (1 << 16) /* entries */

struct tables;

enum recording_flags {
	RECORDING_PAUSED = 1,  /* it takes no samples */
	RECORDING_FROZEN = 2,  /* the recorder has stopped the target */
	RECORDING_STOPPED = 4, /* the trace is being written, or has been */
	RECORDING_SAVED = 8,   /* it has been */
};

/* The state of a recorder, for adaptrace ctl. */
struct recording_state {
	int32_t recorder;      /* its PID */
	uint32_t flags;        /* enum recording_flags */
	uint64_t stored, lost; /* samples of all events, as of the last tick */
};

/* "recording", "paused": the target is, "recording-paused" or "stopped" */
const char *recording_state_name(const struct recording_state *state);

/*
 * Memory for a run with this budget. trace_path is the file that the trace will be written to: it
 * names the image, so that recover finds it. NULL with errno.
 */
struct tables *tables_new(size_t budget, const char *trace_path);
/* Unlinks the image, unless it is to be kept. */
void tables_free(struct tables *tables);
/* Leaves the image for recover: the trace could not be written. */
void tables_keep(struct tables *tables);

/*
 * Whether a killed recorder would leave an image. It would not where /dev/shm has no room, or where
 * another recorder that lives writes the same trace.
 */
bool tables_recoverable(const struct tables *tables);
/* Whether it is not because a recorder or a recovery at work has the trace's name. */
int tables_name_taken(const struct tables *tables);
/*
 * Whether an earlier recorder of this trace was killed and its image was put aside;
 * tables_recover() finds it once this recorder is done. At most one is kept.
 */
bool tables_kept_leftover(const struct tables *tables);

/* The arena, of which only what was asked of tables_reserve_arena() may be touched. */
void *tables_arena(struct tables *tables);
/* An arena_reserve_fn, for these tables: no more than the budget. 0 or -errno. */
int tables_reserve_arena(void *arg, size_t size);
/* Give the memory of whole pages of the arena back, and get it again: two arena_page_fn. */
int tables_release_arena(void *arg, size_t offset, size_t size);
int tables_restore_arena(void *arg, size_t offset, size_t size);
size_t tables_budget(const struct tables *tables);
/* Returns the bytes that its buffer may use: all, or what ctl memory left of it. */
size_t tables_limit(const struct tables *tables);
struct hmb_ledger *tables_ledger(const struct tables *tables);
struct recording_state *tables_state(const struct tables *tables);
/* Notes that the trace has been written, so that nothing of this is worth to be kept. */
void tables_note_saved(const struct tables *tables);
/* Returns the name of the image's file; NULL: it has none. */
const char *tables_image_file(const struct tables *tables);
/* Returns the memory of an image whose file is a stub; -1: it is none. */
int tables_memory_fd(const struct tables *tables);
/* Writes into the stub how far the run is, if there is one, for those who look for recorders. */
void tables_tell(struct tables *tables);
/* refused_strings and folded_threads are counted by the tables; the rest is the caller's. */
struct trace_run *tables_run(const struct tables *tables);

/* The offset of a string, stored once; 0 (the empty string) where the heap is full. */
uint32_t tables_string(struct tables *tables, const char *string);
const char *tables_string_at(const struct tables *tables, uint32_t offset);

/*
 * The same for the name of a command. Where the table of commands is full, all further ones are
 * "[other commands]": a target that renames itself for ever leaves room for other strings.
 */
uint32_t tables_comm(struct tables *tables, const char *comm);

/* Entries live as long as the tables, and stay where they are. NULL: refused. */
struct trace_event *tables_add_event(struct tables *tables);
struct trace_stream *tables_add_stream(struct tables *tables);
struct trace_counter *tables_add_counter(struct tables *tables);
/* NULL: there is no such entry. */
struct trace_event *tables_event(const struct tables *tables, uint32_t event);
struct trace_stream *tables_stream(const struct tables *tables, uint32_t stream);
struct trace_counter *tables_counter(const struct tables *tables, uint32_t counter);
/* Whether the recorder got beyond setting up: there are events, and all have periods. */
bool tables_have_events(const struct tables *tables);
/* Module ids come from elsewhere (symbolize/module.h); the entry for this one, zeroed at first. */
struct trace_module *tables_module(struct tables *tables, uint16_t id);

/*
 * Threads. A slot is taken with the first sample of a task and reused when the task has ended and
 * none of its samples is stored any more. When every slot holds a living task or stored samples, or
 * memory is refused, all further tasks of a command share one slot (TRACE_THREAD_FOLDED), as do
 * those without a number, which are the CPUs' idle tasks.
 *
 * The totals of commands are the caller's to count, at every task's start and end, for most tasks
 * of a fork storm never get here.
 */
uint32_t tables_add_thread(struct tables *tables, pid_t pid, pid_t tid, uint32_t comm,
                           uint64_t time);
/* NULL: there is no such thread. */
struct trace_thread *tables_thread(const struct tables *tables, uint32_t thread);
/*
 * Keeps the thread's entry until sums are cleared, although no sample of the thread may be stored:
 * sums refer to it, or will.
 */
void tables_hold_thread(struct tables *tables, uint32_t thread);
/* A sample of this kind and level was stored for the thread. */
void tables_thread_stored(struct tables *tables, uint32_t thread, unsigned kind, unsigned level);
/* The task's last word: its slot must not be used for it again. */
void tables_thread_ended(struct tables *tables, uint32_t thread, uint64_t time);

/*
 * All kinds were cleared: slots of ended threads are free, and the others' totals and times start
 * now.
 */
void tables_restart_threads(struct tables *tables, uint64_t time);

/* The totals of a command, made at first mention. Never NULL: the last one takes what is refused.
 */
struct trace_command *tables_command(struct tables *tables, uint32_t comm);
/* Returns the commands in the order in which they were mentioned; NULL: there are no more. */
struct trace_command *tables_command_at(const struct tables *tables, uint32_t index);

/*
 * Tables that instrumented calls refer to. The functions return UINT32_MAX if there is no room.
 * Entries do not move, so facts that become known later may be written into them.
 */
uint32_t tables_add_region(struct tables *tables, const struct trace_region *region);
/*
 * members: nr_members + nr_remote ranks of MPI_COMM_WORLD; NULL: they are counted from 0 on.
 * first_member is filled in.
 */
uint32_t tables_add_comm(struct tables *tables, const struct trace_comm *comm,
                         const uint32_t *members);
/*
 * A key by which a communicator is found again, in one trace or in those of several ranks. The two
 * sides of an intercommunicator have one id and see different groups, so they have two keys.
 */
uint64_t tables_comm_key(const struct trace_comm *comm, const uint32_t *members);
uint32_t tables_add_process(struct tables *tables, const struct trace_process *process);
uint32_t tables_add_instrument(struct tables *tables, const struct trace_instrument *instrument);
uint32_t tables_add_site(struct tables *tables, const struct trace_call_site *site);
/* Keeps the slot of the sum's thread, even if nothing of it is stored. */
uint32_t tables_add_call_sum(struct tables *tables, const struct trace_call_sum *sum);
/* The same for sums of OpenMP regions. */
uint32_t tables_add_openmp(struct tables *tables, const struct trace_openmp *sum);
/* NULL: there is no such entry. */
struct trace_openmp *tables_openmp(const struct tables *tables, uint32_t sum);
struct trace_region *tables_region(const struct tables *tables, uint32_t region);
struct trace_call_sum *tables_call_sum(const struct tables *tables, uint32_t sum);
uint32_t tables_add_iterations(struct tables *tables, const struct trace_iterations *iterations);
/* Forgets all sums of calls and of OpenMP regions, and all iterations. */
void tables_clear_sums(struct tables *tables);
struct trace_iterations *tables_iterations(const struct tables *tables, uint32_t entry);
struct trace_call_site *tables_site(const struct tables *tables, uint32_t site);
struct trace_comm *tables_comm_at(const struct tables *tables, uint32_t comm);
struct trace_process *tables_process(const struct tables *tables, uint32_t process);
struct trace_instrument *tables_instrument(const struct tables *tables, uint32_t instrument);
/* Notes the process of a thread whose pid does not tell it. False: there is no room. */
bool tables_set_owner(struct tables *tables, uint32_t thread, uint32_t process);

/*
 * Adds an action of somebody who steers the recording. Where there is no room it is counted in
 * trace_run.dropped_actions. A gap and a condition likewise.
 */
void tables_add_action(struct tables *tables, const struct trace_action *action);
void tables_add_gap(struct tables *tables, const struct trace_gap *gap);
void tables_add_condition(struct tables *tables, const struct trace_condition *condition);
/* Ends the event's gap that has no end yet, if there is one. Returns its length in ns. */
uint64_t tables_end_gap(struct tables *tables, uint32_t event, uint64_t to);

/*
 * Sets the entry of the window's kind, which must have no records. One with number 0 is not in use:
 * clear the kind of one that is after saying so. Returns whether there is room.
 */
bool tables_set_window(struct tables *tables, const struct trace_window *window);
/* Sets the end of the kind's window, and these flags. */
void tables_end_window(struct tables *tables, uint32_t kind, uint64_t to, unsigned flags);
/* Removes the window that is leased, and its samples, before the tables become a file. */
void tables_drop_lease(struct tables *tables);
/*
 * Copies the windows, each with what the ledger says of its kind by now. One whose kind was cleared
 * since is not in use. Returns their number.
 */
uint32_t tables_windows(const struct tables *tables, struct trace_window to[TABLES_MAX_WINDOWS]);

/* A table as the trace writer reads it. */
struct live_table {
	const void *entries;
	size_t nr, entry_size;
};

/* Reductions are not among them, see hmb_reductions(). */
struct live_table tables_section(const struct tables *tables, enum trace_section section);

/*
 * The image that a killed recorder left for this trace path, mapped privately; NULL with errno:
 * ENOENT none, EBUSY its recorder still lives, EALREADY it is being recovered, EBADMSG it makes no
 * sense, EACCES not the user's own. It is unlinked by tables_free() only after tables_recovered().
 */
struct tables *tables_recover(const char *trace_path);
void tables_recovered(struct tables *tables);

/*
 * A copy of what the recorder of this trace, which is at work and takes no notice, holds at a
 * moment of this call. NULL with errno: ENOENT: there is no such recorder, or it keeps nothing in
 * /dev/shm; EBADMSG, EACCES as above.
 */
struct tables *tables_snapshot(const char *trace_path);

#endif
