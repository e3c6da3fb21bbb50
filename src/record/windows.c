#include "record/windows.h"

#include "record/session.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENT 0 /* that windows are of */
#define POOL  1 /* the share of all windows together */

#define LEASE_SHARE 32 /* the leased window has 1 / so much of the buffer */
/* Its samples are dropped after this time at the earliest, ns: those who look on need the last. */
#define LEASE_LEAST ((uint64_t)10000000000)

/*
 * Kinds of windows and of the history are the last ones, so that those of events and calls are
 * without gaps.
 */
_Static_assert(SAMPLER_MAX_EVENTS + 1 + WINDOWS_MAX + 1 + 4 <= HMB_MAX_KINDS,
               "no room for all kinds");

int windows_open(struct session *s)
{
	return wakers_open_timer(&s->windows.timer_fd);
}

void windows_close(struct session *s)
{
	if (s->windows.timer_fd > 0)
		close(s->windows.timer_fd);
}

static bool is_open(const struct window *window)
{
	return !window->to && !window->drained;
}

/* The leased one gives way, and does not count. */
static unsigned count_open(const struct windows *windows)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < windows->nr; i++)
		nr += is_open(&windows->windows[i]) && !windows->windows[i].leased;
	return nr;
}

static struct window *leased_window(struct windows *windows)
{
	for (unsigned i = 0; i < windows->nr; i++)
		if (windows->windows[i].leased)
			return &windows->windows[i];
	return NULL;
}

unsigned windows_shift(const struct windows *windows, unsigned event, unsigned shift)
{
	for (unsigned i = 0; i < windows->nr; i++) {
		const struct window *window = &windows->windows[i];

		if (is_open(window) && window->event == event && window->shift < shift)
			shift = window->shift;
	}
	return shift;
}

static void set_timer(struct windows *windows)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < windows->nr; i++)
		if (is_open(&windows->windows[i]) && windows->windows[i].due < due)
			due = windows->windows[i].due;
	wakers_set_timer(windows->timer_fd, TFD_TIMER_ABSTIME, due == UINT64_MAX ? 0 : due);
}

static void follow(struct session *s)
{
	session_follow(s, EVENT);
	set_timer(&s->windows);
}

/* Drops the leased window with all its samples. */
static void end_lease(struct session *s)
{
	struct window *window = leased_window(&s->windows);

	if (!window || window->drained)
		return;
	window->to = sampler_now();
	window->drained = true;
	s->windows.nr_live--;
	s->windows.ended = window->to;
	hmb_clear(s->hmb, window->kind);
	hmb_rest(s->hmb, window->kind);
	tables_set_window(s->tables, &(struct trace_window){.kind = window->kind});
	follow(s);
}

/* --- begin ------------------------------------------------------------------------------------ */

unsigned windows_shift_of_rate(const struct session *s, double hz)
{
	uint64_t base = sampler_base_period(s->sampler, EVENT, 0);
	unsigned shift = 0;

	while (shift < NR_LEVELS / 2 && (double)(base << (shift + 1)) * hz <= 1e9)
		shift++;
	return shift;
}

/* It is no shorter than the first period, and no longer than that of the run. */
static unsigned choose_shift(const struct session *s, double hz)
{
	unsigned shift = hz > 0 ? windows_shift_of_rate(s, hz) : 0;

	if (shift > s->sampling.shift[EVENT])
		shift = s->sampling.shift[EVENT];
	return sampler_shift_for(s->sampler, EVENT, shift);
}

static unsigned oldest(const struct windows *windows)
{
	unsigned found = WINDOWS_MAX;

	for (unsigned i = 0; i < windows->nr; i++)
		if (windows->windows[i].drained && !windows->windows[i].leased &&
		    (found == WINDOWS_MAX ||
		     windows->windows[i].from < windows->windows[found].from))
			found = i;
	return found;
}

int windows_add_kind(const struct session *s, unsigned of, size_t share, unsigned pool)
{
	struct hmb_kind_config config = s->hmb->kinds[of].config;

	config.share = share;
	config.pool = pool;
	config.by_level = true;
	return hmb_add_last_kind(s->hmb, &config);
}

/* Returns the number of a new entry with an empty kind, or -errno. */
static int add_entry(struct session *s, size_t share, unsigned pool)
{
	struct windows *windows = &s->windows;
	const int kind = windows_add_kind(s, s->events[EVENT].kind, share, pool);

	if (kind < 0)
		return kind;
	windows->windows[windows->nr].kind = (unsigned)kind;
	return (int)windows->nr++;
}

static int add_window(struct session *s)
{
	const double size = (double)hmb_limit(s->hmb);

	return add_entry(s, (size_t)(size * s->config->detail_share), POOL);
}

static int take_window(struct session *s)
{
	struct windows *windows = &s->windows;
	const unsigned max = WINDOWS_MAX + (leased_window(windows) != NULL);
	int i = windows->nr < max ? add_window(s) : -ENOSPC;

	if (i == -ENOSPC)
		i = (int)oldest(windows);
	if (i >= 0 && (unsigned)i < windows->nr)
		hmb_clear(s->hmb, windows->windows[i].kind);
	return i;
}

static void note_window(struct session *s, const struct window *window)
{
	const struct trace_window entry = {
		.number = window->leased ? UINT32_MAX : s->windows.nr_begun,
		.kind = window->kind,
		.event = window->event,
		.from = window->from,
		.shift = window->shift,
		.flags = window->leased ? TRACE_WINDOW_LEASED : 0,
	};

	tables_set_window(s->tables, &entry);
}

static void open_window(struct session *s, struct window *window, uint64_t ns, unsigned shift)
{
	const uint64_t now = sampler_now();
	uint64_t changed;

	window->event = EVENT;
	window->shift = shift;
	window->to = 0;
	window->drained = false;
	window->due = now + ns;
	s->windows.nr_begun += !window->leased;
	s->windows.nr_live++;
	follow(s);
	changed = sampler_changed(s->sampler, EVENT);
	window->from = session_stored_time(s, EVENT, changed > now ? changed : now);
	note_window(s, window);
}

/* Why there can be no window of any sort. */
static struct refusal check_windows(const struct session *s)
{
	if (!s->started)
		return REFUSED(EAGAIN, "sampling has not begun yet");
	if (s->pause.flags)
		return REFUSED(EBUSY, "the recording is paused; resume it first");
	if (!s->events[EVENT].on)
		return REFUSED(ENOENT, "the first event is not sampled; add it first");
	if (s->config->detail_share <= 0)
		return REFUSED(ENOMEM,
		               "windows have no memory; record --detail-share gives them some");
	return NOT_REFUSED;
}

/* Says which rate a window has, and why it is lower than the one that was asked for. */
static struct refusal note_rate(const struct session *s, unsigned shift, double hz)
{
	const uint64_t period = sampler_base_period(s->sampler, EVENT, 0) << shift;
	const double given = 1e9 / (double)period;

	if (s->config->events[EVENT].unit != EVENT_NS)
		return control_note("the window has one sample every %llu",
		                    (unsigned long long)period);
	return control_note("the window has %.0f Hz%s", given,
	                    given < hz ? ": the recording began with no more" : "");
}

struct refusal windows_begin(struct session *s, uint64_t ns, double hz)
{
	const struct refusal refusal = check_windows(s);
	unsigned shift;
	int i;

	if (refusal.why)
		return refusal;
	if (hz > 0 && s->config->events[EVENT].unit != EVENT_NS)
		return REFUSED(EINVAL, "the first event counts no time; leave the rate out");
	if (count_open(&s->windows) == WINDOWS_MAX_OPEN)
		return REFUSED(EBUSY, "two windows are open already; wait for the end of one");
	if (count_open(&s->windows) + 1 == WINDOWS_MAX_OPEN)
		end_lease(s);
	i = take_window(s);
	if (i < 0 || i == WINDOWS_MAX)
		return REFUSED(ENOSPC, "there is no room for a window beside the other events");
	shift = choose_shift(s, hz);
	open_window(s, &s->windows.windows[i], ns, shift);
	return note_rate(s, shift, hz);
}

/* --- the lease -------------------------------------------------------------------------------- */

/* ns between two samples of a CPU at the base period; 0: not known yet. */
static uint64_t base_interval(const struct session *s)
{
	const unsigned nr_cpus = sampler_nr_cpus(s->sampler);
	uint64_t least = 0;

	if (s->config->events[EVENT].unit == EVENT_NS)
		return sampler_base_period(s->sampler, EVENT, 0);
	for (unsigned c = 0; c < nr_cpus; c++) {
		const uint64_t interval = s->cpu_events[c].interval;

		if (interval && (!least || interval < least))
			least = interval;
	}
	return least;
}

/* Returns the shortest period, as a shift, that takes no more than so many samples a second. */
static unsigned lease_shift(const struct session *s, double hz)
{
	const uint64_t base = base_interval(s);
	unsigned shift = s->windows.dear;

	if (!base)
		return NR_LEVELS;
	while (shift < NR_LEVELS / 2 && (double)base * (double)(1U << shift) * hz < 1e9)
		shift++;
	return shift;
}

static void begin_lease(struct session *s, uint64_t ns, unsigned shift)
{
	struct window *window = leased_window(&s->windows);
	int i = 0;

	if (!window) {
		i = add_entry(s, hmb_limit(s->hmb) / LEASE_SHARE, 0);
		if (i < 0)
			return;
		window = &s->windows.windows[i];
		window->leased = window->drained = true;
	}
	hmb_clear(s->hmb, window->kind);
	open_window(s, window, ns, shift);
}

struct refusal windows_lease(struct session *s, uint64_t ns, double hz)
{
	const struct refusal refusal = check_windows(s);
	const unsigned shift = lease_shift(s, hz);
	struct window *window = leased_window(&s->windows);

	if (refusal.why)
		return refusal;
	if (count_open(&s->windows) == WINDOWS_MAX_OPEN || shift >= s->sampling.shift[EVENT]) {
		end_lease(s);
	} else if (window && is_open(window)) {
		window->due = sampler_now() + ns;
		set_timer(&s->windows);
	} else {
		begin_lease(s, ns, shift);
	}
	return NOT_REFUSED;
}

/* Lets it begin anew once it is too large, or was thinned: its first samples are of no use. */
static void renew_lease(struct session *s)
{
	struct window *window = leased_window(&s->windows);
	const uint64_t now = sampler_now();

	if (!window || !is_open(window) || now < window->from + LEASE_LEAST)
		return;
	if (s->hmb->kinds[window->kind].bytes <= hmb_limit(s->hmb) / LEASE_SHARE &&
	    hmb_floor(s->hmb, window->kind) <= window->shift)
		return;
	hmb_clear(s->hmb, window->kind);
	window->from = session_stored_time(s, EVENT, now);
	note_window(s, window);
}

/* --- end -------------------------------------------------------------------------------------- */

static void end_window(struct session *s, struct window *window, uint64_t now, unsigned flags)
{
	window->to = now > window->from ? now : window->from;
	s->windows.ended = window->to;
	tables_end_window(s->tables, window->kind, window->to, flags);
}

void windows_expire(struct session *s)
{
	const uint64_t now = sampler_now();

	if (!wakers_expired(s->windows.timer_fd))
		return;
	for (unsigned i = 0; i < s->windows.nr; i++) {
		struct window *window = &s->windows.windows[i];

		if (!is_open(window) || window->due > now)
			continue;
		if (window->leased)
			end_lease(s);
		else
			end_window(s, window, now, 0);
	}
	follow(s);
}

/* A leased one may come again, but not as fine. */
static bool cut_lease(struct session *s)
{
	const struct window *window = leased_window(&s->windows);

	if (!window || !is_open(window))
		return false;
	s->windows.dear = window->shift + 1;
	end_lease(s);
	return true;
}

bool windows_cut(struct session *s, uint64_t since)
{
	const uint64_t now = sampler_now();
	const bool leased = cut_lease(s);

	if (!count_open(&s->windows))
		return leased || s->windows.ended > since;
	for (unsigned i = 0; i < s->windows.nr; i++)
		if (is_open(&s->windows.windows[i]))
			end_window(s, &s->windows.windows[i], now, TRACE_WINDOW_CUT);
	follow(s);
	return true;
}

/* Samples come in the order of their times. The memory that coded them is for the next window. */
void windows_drained(struct session *s)
{
	const uint64_t drained = sampler_drained(s->sampler);

	for (unsigned i = 0; i < s->windows.nr && s->windows.nr_live; i++) {
		struct window *window = &s->windows.windows[i];

		if (window->drained || !window->to || window->to > drained)
			continue;
		hmb_rest(s->hmb, window->kind);
		window->drained = true;
		s->windows.nr_live--;
	}
	renew_lease(s);
	/* A change of period may have been put off, see sampler_follow(). */
	if (s->windows.nr)
		session_follow(s, EVENT);
}

void windows_forget(struct session *s)
{
	for (unsigned i = 0; i < s->windows.nr; i++) {
		struct window *window = &s->windows.windows[i];

		hmb_rest(s->hmb, window->kind);
		window->drained = true;
		tables_set_window(s->tables, &(struct trace_window){.kind = window->kind});
	}
	s->windows.nr_live = 0;
	set_timer(&s->windows);
}
