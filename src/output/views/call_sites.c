#include "output/views/call_sites.h"
#include "output/views/call_times.h"
#include "trace/call_sources.h"

#include "base/array.h"
#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>

#define NAMES (FRAME_BY_SYMBOL | FRAME_BY_MODULE | FRAME_BY_FILE | FRAME_BY_LINE)

/* --- rows ------------------------------------------------------------------------------------- */

/* Sets the name of the innermost function at a frame. Returns 0 or -ENOMEM. */
static int find_name(struct call_sites *sites, uint64_t frame, uint32_t *name)
{
	const uint32_t *chain;
	uint32_t nr = frame_names_chain(&sites->names, frame, &chain);

	if (!nr)
		return -ENOMEM;
	*name = chain[nr - 1];
	return 0;
}

/* Modules of several hosts may be one file, and then have one name. */
static uint64_t place_key(const struct call_sites *sites, uint32_t name, uint64_t frame)
{
	if (name == SITE_OTHERS)
		return UINT64_MAX;
	return sites->names.names[name].line ? 1ULL << 63 | name
	                                     : (uint64_t)name << 32 | frame_offset(frame);
}

static struct call_site_row row_of(uint32_t region, uint32_t name, uint64_t frame)
{
	return (struct call_site_row){.region = region, .name = name, .frame = frame};
}

/* Returns the number of the row; UINT32_MAX: no memory. */
static uint32_t find_row(struct call_sites *sites, uint32_t region, uint32_t site)
{
	uint64_t frame = trace_site_frame(sites->trace, site);
	uint32_t name = SITE_OTHERS, place, number;

	if (site && find_name(sites, frame, &name))
		return UINT32_MAX;
	place = map64_number(&sites->places, place_key(sites, name, frame));
	if (place == UINT32_MAX)
		return UINT32_MAX;
	number = map64_number(&sites->by_place, (uint64_t)region << 32 | place);
	if (number == UINT32_MAX ||
	    (number >= sites->nr && ARRAY_ADD(sites->rows, sites->nr, row_of(region, name, frame))))
		return UINT32_MAX;
	sites->rows[number].several |= frame_address(sites->trace, sites->rows[number].frame) !=
	                               frame_address(sites->trace, frame);
	return number;
}

/* --- exact sums ------------------------------------------------------------------------------- */

/* Times of each thread and region, and of each row's part of these. */
struct times {
	struct call_times whole, parts;
	uint32_t *whole_of, *row_of; /* of each part */
};

static int add_part(struct times *times, uint32_t row, const struct trace_call_sum *sum)
{
	uint32_t whole, nr = times->parts.nr, nr_rows = nr;
	int err = call_times_add(&times->whole, call_times_key(sum), sum);

	if (err)
		return err;
	whole = map64_get(&times->whole.numbers, call_times_key(sum));
	err = call_times_add(&times->parts, (uint64_t)whole << 32 | row, sum);
	if (err || times->parts.nr == nr)
		return err;
	return ARRAY_ADD(times->whole_of, nr, whole) || ARRAY_ADD(times->row_of, nr_rows, row)
	               ? -ENOMEM
	               : 0;
}

static int join(struct call_sites *sites, struct times *times, const struct trace_call_sum *sum)
{
	const struct trace_region *region = trace_region(sites->trace, sum->region);
	uint32_t row;

	if (!region ||
	    (sites->selection && !thread_filter_has(sites->selection->filter, sum->thread)))
		return 0;
	row = find_row(sites, sum->region, sum->site);
	if (row == UINT32_MAX)
		return -ENOMEM;
	call_sum_join(&sites->rows[row].sum, sum, region->region_class == TRACE_VALUE);
	return region->region_class == TRACE_VALUE ? 0 : add_part(times, row, sum);
}

static void join_time(struct call_sites *sites, const struct call_time *whole,
                      const struct call_time *part, struct call_site_row *row)
{
	row->sum.time += call_part_time(whole, part);
	row->sum.variance += call_part_variance(whole, part);
	row->sum.thinned |= call_time_thinned(whole);
	row->timed += (double)part->calls - (double)part->untimed;
	row->sum.untimed = row->sum.thinned && row->timed <= 0;
	sites->thinned |= call_time_thinned(whole);
}

static int join_all(struct call_sites *sites)
{
	const struct trace_call_sum *sum;
	struct times times = {0};
	int err = 0;

	for (uint32_t i = 0; !err && (sum = trace_call_sum(sites->trace, i)); i++)
		err = join(sites, &times, sum);
	for (uint32_t i = 0; !err && i < times.parts.nr; i++)
		join_time(sites, &times.whole.of[times.whole_of[i]], &times.parts.of[i],
		          &sites->rows[times.row_of[i]]);
	call_times_fini(&times.whole);
	call_times_fini(&times.parts);
	free(times.whole_of);
	free(times.row_of);
	return err;
}

/* --- stored calls ----------------------------------------------------------------------------- */

static int add(void *arg, const struct trace_call *added)
{
	struct call_sites *sites = arg;
	const struct call *call = &added->call;
	uint32_t row;

	if (!trace_region(sites->trace, call->region) ||
	    !selection_has_call(sites->selection, call))
		return 0;
	row = find_row(sites, call->region, call->site);
	if (row == UINT32_MAX)
		return -ENOMEM;
	call_sum_add(&sites->rows[row].sum, call);
	return 0;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int compare_rows(const void *a, const void *b)
{
	const struct call_site_row *x = a, *y = b;

	return ORDER(y->sum.time, x->sum.time) ?: ORDER(y->sum.calls, x->sum.calls)
	               ?: ORDER(x->region, y->region) ?: ORDER(x->name, y->name)
	               ?: ORDER(x->frame, y->frame);
}

/* A reset leaves rows without calls. */
static void drop_empty(struct call_sites *sites)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < sites->nr; i++)
		if (sites->rows[i].sum.calls)
			sites->rows[nr++] = sites->rows[i];
	sites->nr = nr;
}

int call_sites_init(struct call_sites *sites, const struct trace *trace,
                    const struct view_query *query)
{
	int err;

	*sites = (struct call_sites){.trace = trace, .selection = query->selection};
	frame_names_init(&sites->names, trace, NAMES | (query->no_inline ? 0 : FRAME_INLINED));
	if (!trace_nr(trace, TRACE_CALL_SITES))
		return -ENODATA;
	sites->exact = call_sums_are_exact(trace, query->selection);
	err = sites->exact ? join_all(sites) : trace_each_call(call_walk_new(trace), add, sites);
	drop_empty(sites);
	ARRAY_SORT(sites->rows, sites->nr, compare_rows);
	return err;
}

void call_sites_fini(struct call_sites *sites)
{
	frame_names_fini(&sites->names);
	map64_fini(&sites->places);
	map64_fini(&sites->by_place);
	free(sites->rows);
	*sites = (struct call_sites){0};
}
