/*
 * Events: what can be sampled, by the names people know, through libpfm4.
 *
 *	cycles, LLC-load-misses, page-faults	the kernel's generic names
 *	skx::FP_ARITH:SCALAR_DOUBLE		libpfm4's; without PMU: this machine's
 *	dp-flops, dp-flops:256b			aliases, see event_alias.h
 *	r01c0					a raw code of this machine's CPU
 *	cpu/event=0xc0,umask=1/			a PMU of /sys/bus/event_source; cpu/cycles-ct/ too
 *	sched:sched_switch			a tracepoint
 *	mem:0x601040/8:rw			a breakpoint, see event_place.h
 *	uprobe:/bin/app:0x1139			a probe in a program, see there
 *	kprobe:vfs_read				a probe in the kernel
 *
 * Each may end in modifiers, parted by colons: u and k (user, kernel side; both where none is
 * given), p to ppp (precise), period=N, freq=N. libpfm4 keeps one state for the process; it is set
 * up by the first call that needs it and never torn down. Not safe against other threads.
 */
#ifndef PERF_EVENTS_EVENT_H
#define PERF_EVENTS_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

enum event_unit {
	EVENT_NS,    /* a clock: periods and weights are nanoseconds */
	EVENT_COUNT, /* occurrences */
};

#define EVENT_NAME_MAX 128

/* Bytes of user stack that the kernel copies into a sample at most; all sizes are multiples of 8.
 */
#define EVENT_STACK_MAX 65528

/*
 * An event as it was asked for. attr has type, config*, exclude_* and precise_ip, and pinned or
 * exclusive if the name asks for them. No other field is set, not even attr.size.
 */
struct event {
	char name[EVENT_NAME_MAX]; /* as written, modifiers included */
	enum event_unit unit;
	struct perf_event_attr attr;
	bool modifiers; /* the name itself says which sides are wanted, by :u, :k or :h */
	bool foreign;   /* the code is one of another CPU model: not to be opened here */
	uint32_t scale; /* units that one occurrence stands for; mostly 1 */
	uint64_t usual; /* suitable number of occurrences between two samples; 0: unknown */
	char probe[EVENT_NAME_MAX]; /* of a probe: the file, or the kernel's function; else "" */
	/*
	 * The function of a probe in a file. The address of the probe is attr.probe_offset bytes
	 * behind it; see event_resolve().
	 */
	char function[EVENT_NAME_MAX];
	uint64_t period; /* in units; 0: not given with the event */
	uint64_t freq;   /* samples a second; 0: not given. Never both */
};

#define WHY_SIZE 512

/* Returns attr for opening. It may point into the event, which must not move before. */
static inline struct perf_event_attr event_attr(const struct event *event)
{
	struct perf_event_attr attr = event->attr;

	if (event->probe[0])
		attr.uprobe_path = (uint64_t)(uintptr_t)event->probe;
	return attr;
}

/* Sets the offset of a probe's function in its file. `function` becomes "". */
static inline void event_resolve(struct event *event, uint64_t offset)
{
	event->attr.probe_offset += offset;
	event->function[0] = '\0';
}

/*
 * 0, or -EINVAL (malformed), -ENOENT (unknown), -EACCES (this user may not look it up), with one
 * line for the user in why: what is wrong, then the way out ("unknown event 'cycels'; did you
 * mean 'cycles'?"). An event that is understood need not exist on this machine: see event_probe.
 */
int event_parse(struct event *event, const char *text, char why[WHY_SIZE]);

/*
 * Returns the end of the first name in a list that commas part. The commas in a PMU's terms between
 * slashes part no names, and none after a probe in a program: its function may have some, so that
 * it must be the last name.
 */
const char *event_name_end(const char *names);

/*
 * Splits a name that stands for several events into the names of its parts, with their modifiers.
 * Any other name is its own single part. Returns 0 or an error of event_parse(), which has to be
 * called for each part.
 */
#define EVENT_PARTS_MAX 6
int event_expand(const char *text, char parts[EVENT_PARTS_MAX][EVENT_NAME_MAX], unsigned *nr,
                 char why[WHY_SIZE]);

/*
 * Tests whether this user can sample the event on this machine now. Returns 0 or the kernel's
 * -errno; -ENODEV for an event of another CPU model, whose code the kernel would take for another
 * event. To be called before the event is opened. It takes 50 ms for a tracepoint, and almost no
 * time for others.
 */
int event_probe(const struct event *event);

/*
 * Excludes the kernel side and appends this to the name ("cycles" becomes "cycles:u"). Helps where
 * event_probe() returns -EACCES or -EPERM. Returns false and leaves the event unchanged if the name
 * has modifiers of its own, or the event happens in the kernel only (tracepoints,
 * context-switches), so that its user side would stay zero.
 */
bool event_exclude_kernel(struct event *event);

/* Flags for the processor's own stack of calls, from which it removes calls that have returned. */
#define EVENT_CALL_BRANCHES (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK)

/* Tests whether samples of the event can have that stack. Returns 0 or the kernel's -errno. */
int event_probe_branches(const struct event *event);

/* Writes one line for the user: why opening the event fails with this -errno, and the way out. */
void event_explain(const struct event *event, int err, char why[WHY_SIZE]);

/* An event that list shows. */
struct event_info {
	const char *description;   /* one line, may be empty */
	const char *means;         /* the event of this processor that it stands for */
	const char *source;        /* "software", "hardware", "tracepoint", or a PMU's name */
	const struct event *event; /* its name can be given to -e */
	bool unknown;              /* an alias without codes for this processor: `event` has none */
	bool available;            /* can be opened now, by this user */
	bool user_only;            /* but only after event_exclude_kernel() */
};

/*
 * Calls fn for every event of this machine whose name or description contains pattern, in any
 * case (NULL: all); for a pattern that starts "PMU::", the events of that PMU, whether it is this
 * machine's or not. Stops with fn's result where that is not 0. The strings live until fn returns.
 * Tracepoints are tried as one: opening each of them takes the kernel 50 ms.
 */
int event_list(const char *pattern, int (*fn)(void *arg, const struct event_info *info), void *arg);

/* A name that the kernel itself gives to an event, as perf users know it. */
struct event_generic {
	const char *name; /* as perf writes it; case does not matter to event_parse */
	const char *description;
};

/* Software events first, then hardware, then caches. A row without a name ends the table. */
extern const struct event_generic event_generics[];

#endif
