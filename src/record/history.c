#include "record/history.h"

#include "record/session.h"

#include <errno.h>
#include <math.h>

#define EVENT 0 /* that it is of */
/* Shares of a half, of the memory that is left: without calls and with calls. */
#define SHARE      0.3
#define LESS_SHARE 0.2
#define LEAST_LEFT 0.1
/* Samples wait so long for calls to have their turn, which make no rounds without processes. */
#define PATIENCE_NS ((uint64_t)200000000)
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
	const struct halves *h = &s->history.halves;
	const double period = (double)(base_period(s) << h->shift);
	const double samples = (double)s->hmb->kinds[h->kinds[0]].config.share / SAMPLE_BYTES;

	return (uint64_t)(samples * period / sampler_nr_sampled(s->sampler));
}

static void tell_rate(const struct session *s)
{
	const uint64_t period = base_period(s) << s->history.halves.shift;

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

/* --- begin ------------------------------------------------------------------------------------ */

/* The run needs memory beside what calls, windows and the history may take. */
static double share_of_half(const struct session *s)
{
	const double calls = s->calls ? s->config->calls.share : 0;
	const double left = fmax(1 - calls - s->config->detail_share, LEAST_LEFT);

	return left * (s->calls ? LESS_SHARE : SHARE);
}

/* Adds two kinds for more records of a kind. */
static int add_halves(struct session *s, unsigned of, struct halves *halves)
{
	const double share = share_of_half(s);

	for (unsigned half = 0; half < 2; half++) {
		const int kind =
			windows_add_kind(s, of, (size_t)((double)hmb_limit(s->hmb) * share), 0);

		if (kind < 0)
			return kind;
		halves->kinds[half] = (unsigned)kind;
	}
	halves->hmb = s->hmb;
	halves->tables = s->tables;
	halves->event = of;
	halves->span = s->config->history.span;
	halves->late = HALVES_LATE_NS;
	return 0;
}

static int begin_calls(struct session *s)
{
	struct halves halves = {0};
	int err;

	if (!s->calls)
		return 0;
	err = add_halves(s, s->calls_kind, &halves);
	if (!err)
		calls_keep(s->calls, &halves, s->start);
	return err;
}

int history_begin(struct session *s)
{
	struct history *h = &s->history;
	int err;

	if (!s->config->history.span)
		return 0;
	err = add_halves(s, s->events[EVENT].kind, &h->halves);
	if (!err)
		err = begin_calls(s);
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
	h->halves.shift = h->halves.first_shift = choose_shift(s);
	halves_restart(&h->halves, s->start);
}

/* --- while it samples ------------------------------------------------------------------------- */

unsigned history_shift(const struct history *h, unsigned event, unsigned shift)
{
	return h->on && event == EVENT && h->halves.shift < shift ? h->halves.shift : shift;
}

static void close_levels(struct session *s, unsigned half)
{
	const struct halves *h = &s->history.halves;

	while (hmb_floor(s->hmb, h->kinds[half]) < h->shift)
		hmb_close_lowest(s->hmb, h->kinds[half], sampler_now(), HMB_CAUSE_OVERHEAD);
}

/* Both halves have the same weights. */
bool history_slow_down(struct session *s)
{
	struct halves *h = &s->history.halves;

	if (!s->history.on || h->shift >= s->sampling.shift[EVENT])
		return false;
	h->shift++;
	close_levels(s, 0);
	close_levels(s, 1);
	halves_note_cut(h);
	session_follow(s, EVENT);
	return true;
}

void history_skip(struct history *h, unsigned event, uint64_t ns)
{
	if (event == EVENT)
		h->halves.skipped += ns;
}

bool history_takes(const struct history *h, unsigned event, unsigned level)
{
	return h->on && event == EVENT && level >= h->halves.shift;
}

static bool had_their_turn(const struct halves *calls, const struct halves *h, uint64_t time)
{
	const unsigned shift = h->hmb->kinds[h->event].config.time_shift;

	return calls->from > h->from && time >= calls->from + ((uint64_t)1 << shift);
}

/*
 * Samples have their turn right behind calls, whose turns begin between rounds, so that there are
 * calls of all the time that there are samples of.
 */
static uint64_t late_ns(const struct session *s, uint64_t time)
{
	const struct halves *calls = s->calls ? calls_kept(s->calls) : NULL;

	return HALVES_LATE_NS +
	       (calls && !had_their_turn(calls, &s->history.halves, time) ? PATIENCE_NS : 0);
}

void history_choose_half(struct session *s, struct hmb_sample *sample)
{
	struct halves *h = &s->history.halves;

	h->late = late_ns(s, sample->time);
	halves_follow(h, sample->time);
	sample->kind = halves_kind(h);
}

static void warn_if_full(const struct session *s, const struct halves *h, const char *what)
{
	if (h && h->fits)
		session_notice(s, (struct notice){NOTICE_HISTORY_FULL, .nr = h->fits,
		                                  .total = h->span, .text = what});
}

void history_warn(const struct session *s)
{
	const struct halves *h = &s->history.halves;

	if (h->shift > h->first_shift)
		session_notice(s,
		               (struct notice){NOTICE_HISTORY_CUT,
		                               .nr = is_clock(s) ? base_period(s) << h->shift : 0});
	warn_if_full(s, h, "samples");
	if (s->calls)
		warn_if_full(s, calls_kept(s->calls), "calls");
}
