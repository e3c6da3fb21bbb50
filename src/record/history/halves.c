#include "record/history/halves.h"

/*
 * Times are stored rounded down. A turn begins with a sample, which is there; calls may have ended
 * just before it in the half that had its turn.
 */
static uint64_t stored_start(const struct halves *halves)
{
	const struct hmb_kind_config *config = &halves->hmb->kinds[halves->event].config;
	const uint64_t most =
		config->content == HMB_CALLS ? ((uint64_t)1 << config->time_shift) - 1 : 0;

	return (halves->from + most) >> config->time_shift << config->time_shift;
}

static void note_turn(const struct halves *halves)
{
	const struct trace_window entry = {
		.number = halves->nr_begun,
		.kind = halves_kind(halves),
		.event = halves->event,
		.from = stored_start(halves),
		.shift = halves->shift,
		.flags = TRACE_WINDOW_HISTORY |
	                 (halves->shift > halves->first_shift ? TRACE_WINDOW_CUT : 0),
		.span = halves->span,
	};

	tables_set_window(halves->tables, &entry);
}

/* The entry comes behind the clear: it says which clear of its kind it belongs to. */
static void begin_turn(struct halves *halves, unsigned half, uint64_t time)
{
	halves->current = half;
	halves->from = time;
	halves->skipped = 0;
	halves->nr_begun++;
	hmb_clear(halves->hmb, halves_kind(halves));
	note_turn(halves);
}

static void end_turn(const struct halves *halves, uint64_t time)
{
	tables_end_window(halves->tables, halves_kind(halves), time, 0);
	hmb_rest(halves->hmb, halves_kind(halves));
}

void halves_restart(struct halves *halves, uint64_t time)
{
	const unsigned second = halves->kinds[1];

	halves->fits = 0;
	halves->nr_begun = 0;
	hmb_clear(halves->hmb, second);
	tables_set_window(halves->tables,
	                  &(struct trace_window){.kind = second, .event = halves->event});
	begin_turn(halves, 0, time);
}

/* Returns the ns that the current half holds. */
static uint64_t held(const struct halves *halves, uint64_t time)
{
	const uint64_t from = halves->from + halves->skipped;

	return time > from ? time - from : 0;
}

void halves_follow(struct halves *halves, uint64_t time)
{
	const uint64_t ns = held(halves, time);
	const bool used_up = ns && halves_are_used_up(halves);

	if (!used_up && ns < halves->span + halves->late)
		return;
	if (used_up && ns < halves->span && (!halves->fits || ns < halves->fits))
		halves->fits = ns;
	end_turn(halves, time);
	begin_turn(halves, !halves->current, time);
}

void halves_note_cut(const struct halves *halves)
{
	tables_end_window(halves->tables, halves_kind(halves), 0, TRACE_WINDOW_CUT);
}
