/*
 * Counters that were read with samples: metrics of every location, at the times of its samples.
 * Their class and its members have the first numbers.
 */
#include "output/otf2/otf2_location.h"

/*
 * Writes the totals of the counters in this location up to now, before the sample that they were
 * read with. They are totals because readers of OTF2 take differences.
 */
void otf2_write_counters(struct location *location, uint64_t time)
{
	static const OTF2_Type types[] = {
		OTF2_TYPE_UINT64, OTF2_TYPE_UINT64, OTF2_TYPE_UINT64,
		OTF2_TYPE_UINT64, OTF2_TYPE_UINT64, OTF2_TYPE_UINT64,
		OTF2_TYPE_UINT64, OTF2_TYPE_UINT64, OTF2_TYPE_UINT64,
	};
	struct archive *archive = location->archive;
	const struct spool *spool = archive->spool;
	const uint64_t *counters = spool_counters(spool);

	static_assert(sizeof(types) / sizeof(*types) == COUNTER_MAX, "one for each");
	/* Counters are those of the first event. */
	if (!spool->nr_counters || spool->rates[location->sample.rate].event)
		return;
	for (unsigned i = 0; i < spool->nr_counters; i++)
		location->totals[i].unsigned_int += counters[i];
	otf2_check(archive,
	           OTF2_EvtWriter_Metric(location->writer, NULL, time, 0,
	                                 (uint8_t)spool->nr_counters, types, location->totals));
}

static void write_member(struct archive *archive, uint32_t i)
{
	const struct trace_counter *counter = trace_counter(archive->trace, i);
	uint32_t name = otf2_find_string(archive, counter->name);
	bool time = counter->unit == TRACE_NS;
	uint32_t unit = otf2_add_string(archive, time ? "s" : "#");

	otf2_check(archive, OTF2_GlobalDefWriter_WriteMetricMember(
				    archive->definitions, i, name, name, OTF2_METRIC_TYPE_OTHER,
				    OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
				    OTF2_BASE_DECIMAL, time ? -9 : 0, unit));
}

/* One class with all counters, which every location records itself. */
void otf2_define_counters(struct archive *archive)
{
	OTF2_MetricMemberRef members[COUNTER_MAX];
	unsigned nr = archive->nr_counters;

	if (!nr)
		return;
	for (unsigned i = 0; i < nr && !archive->err; i++) {
		write_member(archive, i);
		members[i] = i;
	}
	otf2_check(archive, OTF2_GlobalDefWriter_WriteMetricClass(
				    archive->definitions, 0, (uint8_t)nr, members,
				    OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
	for (uint32_t i = 0; i < archive->plan.nr_threads && !archive->err; i++)
		otf2_check(archive,
		           OTF2_GlobalDefWriter_WriteMetricClassRecorder(
				   archive->definitions, 0, archive->plan.location_of_thread[i]));
}
