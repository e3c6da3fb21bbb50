#include "output/views/call_events.h"

#include "hmb/lambda.h"
#include "hmb/segment.h"
#include "trace/trace_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum traits {
	ASKS = 1,      /* it may find nothing */
	ANY_ORDER = 2, /* which of several requests it completes is chance */
};

/* Tags that never repeat would use up all numbers. From so many on new ones have no tag. */
#define MOST_TAGS (SEGMENT_IDS / 2)

static uint8_t traits_of(const char *name)
{
	uint8_t traits = 0;

	if (!strncmp(name, "MPI_Test", 8) || !strcmp(name, "MPI_Iprobe") ||
	    !strcmp(name, "MPI_Improbe") || !strcmp(name, "MPI_Request_get_status"))
		traits |= ASKS;
	if (!strncmp(name, "MPI_", 4) && (strstr(name, "any") || strstr(name, "some")))
		traits |= ANY_ORDER;
	return traits;
}

int call_regions_init(struct call_regions *regions, const struct trace *trace)
{
	*regions = (struct call_regions){.trace = trace, .nr = trace_nr(trace, TRACE_REGIONS)};
	regions->traits = calloc(regions->nr + 1UL, 1);
	if (!regions->traits)
		return -ENOMEM;
	for (uint32_t i = 0; i < regions->nr; i++)
		regions->traits[i] = traits_of(trace_region_name(trace, i));
	regions->most_members = trace_most_members(trace);
	return 0;
}

void call_regions_fini(struct call_regions *regions)
{
	free(regions->traits);
	*regions = (struct call_regions){0};
}

static uint8_t traits_of_call(const struct call_regions *regions, const struct call *call)
{
	return call->region < regions->nr ? regions->traits[call->region] : 0;
}

static bool found_nothing(const struct call_regions *regions, const struct call *call)
{
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (call->parts[i].type != CALL_TEST_FAILED)
			return false;
	return call->nr_parts || traits_of_call(regions, call) & ASKS;
}

static uint64_t part_key(const struct call_part *part, bool with_tag)
{
	uint64_t key = lambda_mix((uint64_t)part->type << 32 | part->comm);

	key = lambda_mix(key ^ (uint32_t)part->peer);
	return with_tag ? lambda_mix(key ^ (uint32_t)part->tag) : key;
}

/* Parts are added up: requests may be completed in any order. */
static uint64_t call_key(const struct call *call, uint8_t traits, bool with_tag)
{
	uint64_t key = lambda_mix((uint64_t)call->site << 32 | call->region);

	if (traits & ANY_ORDER)
		return key;
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (call->parts[i].type != CALL_TEST_FAILED)
			key += part_key(&call->parts[i], with_tag);
	return key;
}

int call_event(const struct call_regions *regions, struct map64 *numbers, const struct call *call)
{
	uint8_t traits = traits_of_call(regions, call);
	uint64_t key = call_key(call, traits, true);
	uint32_t number;

	if (found_nothing(regions, call))
		return 0;
	if (numbers->nr >= MOST_TAGS && map64_get(numbers, key) == UINT32_MAX)
		key = call_key(call, traits, false);
	if (numbers->nr >= SEGMENT_IDS - 1 && map64_get(numbers, key) == UINT32_MAX)
		return 1 + (int)(key % (SEGMENT_IDS - 1));
	number = map64_number(numbers, key);
	return number == UINT32_MAX ? -ENOMEM : (int)number + 1;
}

bool call_is_wide(const struct call_regions *regions, const struct call *call)
{
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (trace_part_is_wide(regions->trace, &call->parts[i], regions->most_members))
			return true;
	return false;
}
