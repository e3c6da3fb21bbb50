#include "record/history.h"

#include "record/session.h"

#include <errno.h>

#define EVENT 0   /* that it is of */
#define SHARE 0.3 /* of a half: of the memory that is not the calls' */
/*
 * A half lasts so much longer than was asked for: somebody who wants to see what led to an event
 * learns of it later, and the copy takes a while.
 */
#define LATE_NS ((uint64_t)500000000)
/* A usual sample takes so many bytes, with its call path. */
#define SAMPLE_BYTES 8

/* --- rates ------------------------------------------------------------------------------------ */

static uint64_t base_period(const struct session *s)
{
	return sampler_base_period(s->sampler, EVENT, 0);
}

static bool is_clock(const struct session *s)
{
	return s->config->events[EVENT].unit == EVENT_NS;
}

/* It is no shorter than the period that sampling began with. */
static unsigned choose_shift(const struct session *s)
{
	const unsigned first = s->sampling.shift[EVENT];
	const unsigned wanted =
		is_clock(s) ? windows_shift_of_rate(s, s->config->history.hz) : first;

	return sampler_shift_for(s->sampler, EVENT, wanted > first ? wanted : first);
}

/* Returns how long a half lasts at least until its memory is used up, if all CPUs are busy. */
static uint64_t expect_to_fit(const struct session *s)
{
	const struct history *h = &s->history;
	const double period = (double)(base_period(s) << h->shift);
	const double samples = (double)s->hmb->kinds[h->kinds[0]].config.share / SAMPLE_BYTES;

	return (uint64_t)(samples * period / sampler_nr_sampled(s->sampler));
}

static void tell_rate(const struct session *s)
{
	const uint64_t period = base_period(s) << s->history.shift;

	if (s->config->history.asked && (double)period * s->config->history.hz > 1e9)
		session_notice(s, (struct notice){NOTICE_HISTORY_SLOWER, .nr = period});
}

static void tell_room(const struct session *s)
{
	const uint64_t fits = is_clock(s) ? expect_to_fit(s) : UINT64_MAX;

	if (fits < s->config->history.span)
		session_notice(s, (struct notice){NOTICE_HISTORY_SHORT, .nr = fits,
		                                  .total = s->config->history.span});
}

/* --- halves ----------------------------------------------------------------------------------- */

static void note_half(struct session *s)
{
	struct history *h = &s->history;
	const struct trace_window entry = {
		.number = h->nr_begun,
		.kind = h->kinds[h->current],
		.event = EVENT,
		.from = h->from,
		.shift = h->shift,
		.flags = TRACE_WINDOW_HISTORY | (h->shift > h->first_shift ? TRACE_WINDOW_CUT : 0),
		.span = s->config->history.span,
	};

	tables_set_window(s->tables, &entry);
}

/*
 * Clears the entry before the records: a reader that saw the old entry with the new records would
 * give these the times of the old ones.
 */
static void empty_half(struct session *s, unsigned half)
{
	const unsigned kind = s->history.kinds[half];

	tables_set_window(s->tables, &(struct trace_window){.kind = kind, .event = EVENT});
	hmb_clear(s->hmb, kind);
}

static void begin_half(struct session *s, unsigned half, uint64_t time)
{
	struct history *h = &s->history;

	empty_half(s, half);
	h->current = half;
	h->from = session_stored_time(s, EVENT, time);
	h->skipped = 0;
	h->nr_begun++;
	note_half(s);
}

static void change_turn(struct session *s, uint64_t time)
{
	struct history *h = &s->history;
	const unsigned ended = h->kinds[h->current];

	tables_end_window(s->tables, ended, time, 0);
	hmb_rest(s->hmb, ended);
	begin_half(s, !h->current, time);
}

/* --- begin ------------------------------------------------------------------------------------ */

static int add_half(struct session *s, unsigned half)
{
	const double calls = s->calls ? s->config->calls.share : 0;
	const double share = (double)hmb_limit(s->hmb) * SHARE * (1 - calls);
	const int kind = windows_add_kind(s, (size_t)share, 0);

	if (kind < 0)
		return kind;
	s->history.kinds[half] = (unsigned)kind;
	return 0;
}

int history_begin(struct session *s)
{
	struct history *h = &s->history;
	int err = 0;

	if (!s->config->history.span)
		return 0;
	for (unsigned half = 0; half < 2 && !err; half++)
		err = add_half(s, half);
	if (err)
		return err;
	h->on = true;
	history_restart(s);
	tell_rate(s);
	tell_room(s);
	return 0;
}

void history_restart(struct session *s)
{
	struct history *h = &s->history;

	if (!h->on)
		return;
	h->shift = h->first_shift = choose_shift(s);
	h->fits = 0;
	h->nr_begun = 0;
	empty_half(s, 1);
	begin_half(s, 0, s->start);
}

/* --- while it samples ------------------------------------------------------------------------- */

unsigned history_shift(const struct history *h, unsigned event, unsigned shift)
{
	return h->on && event == EVENT && h->shift < shift ? h->shift : shift;
}

static void close_levels(struct session *s, unsigned half)
{
	const struct history *h = &s->history;

	while (hmb_floor(s->hmb, h->kinds[half]) < h->shift)
		hmb_close_lowest(s->hmb, h->kinds[half], sampler_now(), HMB_CAUSE_OVERHEAD);
}

/* Both halves have the same weights. */
bool history_slow_down(struct session *s)
{
	struct history *h = &s->history;

	if (!h->on || h->shift >= s->sampling.shift[EVENT])
		return false;
	h->shift++;
	close_levels(s, 0);
	close_levels(s, 1);
	tables_end_window(s->tables, h->kinds[h->current], 0, TRACE_WINDOW_CUT);
	session_follow(s, EVENT);
	return true;
}

void history_skip(struct history *h, unsigned event, uint64_t ns)
{
	if (event == EVENT)
		h->skipped += ns;
}

bool history_takes(const struct history *h, unsigned event, unsigned level)
{
	return h->on && event == EVENT && level >= h->shift;
}

static bool is_used_up(const struct session *s)
{
	const struct hmb_kind *kind = &s->hmb->kinds[s->history.kinds[s->history.current]];

	return kind->bytes + ((size_t)1 << s->hmb->arena.bin_shift) > kind->config.share;
}

/* Returns the ns that the current half holds. */
static uint64_t spanned(const struct history *h, uint64_t time)
{
	const uint64_t from = h->from + h->skipped;

	return time > from ? time - from : 0;
}

void history_choose_half(struct session *s, struct hmb_sample *sample)
{
	struct history *h = &s->history;
	const uint64_t span = s->config->history.span, held = spanned(h, sample->time);
	const bool used_up = held && is_used_up(s);

	if (used_up && held < span && (!h->fits || held < h->fits))
		h->fits = held;
	if (used_up || held >= span + LATE_NS)
		change_turn(s, sample->time);
	sample->kind = h->kinds[h->current];
}

void history_warn(const struct session *s)
{
	const struct history *h = &s->history;

	if (h->shift > h->first_shift)
		session_notice(s,
		               (struct notice){NOTICE_HISTORY_CUT,
		                               .nr = is_clock(s) ? base_period(s) << h->shift : 0});
	if (h->fits)
		session_notice(s, (struct notice){NOTICE_HISTORY_FULL, .nr = h->fits,
		                                  .total = s->config->history.span});
}
