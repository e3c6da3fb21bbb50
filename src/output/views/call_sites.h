/*
 * Sums of calls by the place in the code that made them. They are the exact sums that the targets
 * kept; where a part of the time is selected, the stored calls are summed.
 */
#ifndef OUTPUT_VIEWS_CALL_SITES_H
#define OUTPUT_VIEWS_CALL_SITES_H

#include "output/profile/frame_names.h"
#include "output/views/call_sums.h"
#include "output/views/query.h"

#define SITE_OTHERS UINT32_MAX

/* Calls of a region from one line of a function; where no line is known, from one address. */
struct call_site_row {
	uint32_t region;
	uint32_t name;  /* in names; SITE_OTHERS: places that found no room, or are not known */
	uint64_t frame; /* one of the place */
	bool several;   /* the line has calls at other addresses */
	double timed;   /* calls that those stand for of which the time was read */
	struct call_sum sum;
};

struct call_sites {
	const struct trace *trace;
	const struct selection *selection;
	struct frame_names names;
	struct call_site_row *rows; /* most time first */
	uint32_t nr;
	struct map64 places, by_place;
	bool exact, thinned; /* as in struct call_sums */
};

/*
 * Sums the calls of the selected threads that were entered in the selected time. Returns 0,
 * -ENODATA where the trace has no places of calls, -ENOMEM or -EBADMSG. call_sites_fini() must be
 * called in any case.
 */
int call_sites_init(struct call_sites *sites, const struct trace *trace,
                    const struct view_query *query);
void call_sites_fini(struct call_sites *sites);

#endif
