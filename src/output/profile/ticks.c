#include "output/profile/ticks.h"

#define LONGEST (1ULL << 56) /* what trace_period() returns for periods that are longer, too */

void ticks_init(struct ticks *ticks, const struct trace *trace, uint32_t event)
{
	const struct trace_event *of = trace_event(trace, event);

	*ticks = (struct ticks){0};
	if (!of || of->unit != TRACE_NS || !trace_run(trace)->grid)
		return;
	ticks->grid.base = trace_period(of, 0);
	ticks->grid.shift = trace_shift(of);
	while (ticks->grid.shift && trace_period(of, ticks->grid.shift) == LONGEST)
		ticks->grid.shift--;
}
