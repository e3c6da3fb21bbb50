/* What was counted with samples, as metrics of OTF2. */
#include "output/otf2_location.h"

unsigned otf2_nr_counters(const struct archive *archive)
{
	return archive->conversion->enter_leave ? 0 : archive->spool->nr_counters;
}

/*
 * What was counted in the location up to now, as counters are there: at the time of each sample,
 * and before it. Readers take differences. Counters are those of the first event.
 */
void otf2_write_counters(struct location *location, uint64_t time)
{
	struct archive *archive = location->archive;
	const uint64_t *counted = spool_counters(archive->spool);
	unsigned nr = otf2_nr_counters(archive);
	OTF2_MetricValue values[COUNTER_MAX];
	OTF2_Type types[COUNTER_MAX];

	if (!nr || archive->spool->sources[location->sample.source].event)
		return;
	for (unsigned i = 0; i < nr; i++) {
		location->counted[i] += counted[i];
		values[i].unsigned_int = location->counted[i];
		types[i] = OTF2_TYPE_UINT64;
	}
	otf2_check(archive, OTF2_EvtWriter_Metric(location->writer, NULL, time, OTF2_COUNTERS_CLASS,
	                                          (uint8_t)nr, types, values));
}

static void write_members(struct archive *archive, unsigned nr)
{
	uint32_t seconds = otf2_add_string(archive, "s"), number = otf2_add_string(archive, "#");

	for (uint32_t i = 0; i < nr && !archive->error; i++) {
		const struct trace_counter *counter = trace_counter(archive->trace, i);
		uint32_t name = otf2_find_string(archive, counter->name);
		bool time = counter->unit == TRACE_NS;

		otf2_check(archive,
		           OTF2_GlobalDefWriter_WriteMetricMember(
				   archive->definitions, i, name, name, OTF2_METRIC_TYPE_OTHER,
				   OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64,
				   OTF2_BASE_DECIMAL, time ? -9 : 0, time ? seconds : number));
	}
}

/* One class with all counters, recorded by every location itself. */
void otf2_write_counter_definitions(struct archive *archive)
{
	OTF2_MetricMemberRef members[COUNTER_MAX];
	unsigned nr = otf2_nr_counters(archive);

	if (!nr)
		return;
	write_members(archive, nr);
	for (unsigned i = 0; i < nr; i++)
		members[i] = i;
	otf2_check(archive, OTF2_GlobalDefWriter_WriteMetricClass(
				    archive->definitions, OTF2_COUNTERS_CLASS, (uint8_t)nr, members,
				    OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
	for (uint32_t i = 0; i < archive->plan.nr_threads && !archive->error; i++)
		otf2_check(archive, OTF2_GlobalDefWriter_WriteMetricClassRecorder(
					    archive->definitions, OTF2_COUNTERS_CLASS, i));
}
