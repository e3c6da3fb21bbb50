/* The order in which calls are dropped (--events-policy), and the parts of a call that remain. */
#include "record/calls/calls.h"

bool calls_policy_keeps_halves(enum trace_policy policy)
{
	return policy == TRACE_POLICY_ALL || calls_policy_has_moments(policy);
}

bool calls_policy_has_moments(enum trace_policy policy)
{
	return policy == TRACE_POLICY_TIME || policy == TRACE_POLICY_ITERATIONS;
}

unsigned calls_level(enum trace_policy policy, enum call_class class, const struct call *call)
{
	switch (policy) {
	case TRACE_POLICY_CLASS:
		return class;
	case TRACE_POLICY_DEPTH:
		return NR_LEVELS - 1 - (call->depth < NR_LEVELS ? call->depth : NR_LEVELS - 1);
	case TRACE_POLICY_DURATION:
		return 63 - (unsigned)__builtin_clzll((call->leave - call->enter) | 1);
	case TRACE_POLICY_TIME:
	case TRACE_POLICY_ITERATIONS:
		return ring_moment_level(call->enter, call->leave);
	default:
		return 0;
	}
}

static enum call_part_type stripped(enum trace_policy policy, enum call_part_type type)
{
	switch (type) {
	case CALL_COLLECTIVE_POSTED:
		return CALL_COLLECTIVE;
	case CALL_READ_POSTED:
		return CALL_FILE_READ;
	case CALL_WRITE_POSTED:
		return CALL_FILE_WRITE;
	case CALL_COLLECTIVE_DONE:
	case CALL_READ_DONE:
	case CALL_WRITE_DONE:
		return NR_CALL_PARTS;
	default:
		break;
	}
	if (policy == TRACE_POLICY_CLASS)
		return type;
	switch (type) {
	case CALL_SEND_POSTED:
		return CALL_SEND;
	case CALL_RECEIVE_DONE:
		return CALL_RECEIVE;
	case CALL_RECEIVE_POSTED:
	case CALL_SEND_DONE:
	case CALL_TEST_FAILED:
	case CALL_CANCELLED:
		return NR_CALL_PARTS;
	default:
		return type;
	}
}

/*
 * Makes a part independent of the other half of its call. The bytes that a transfer moves are not
 * known when it begins.
 */
static void strip(struct call_part *part, enum call_part_type type)
{
	if (type == part->type)
		return;
	if (part->type == CALL_READ_POSTED || part->type == CALL_WRITE_POSTED)
		part->bytes = part->bytes_in;
	part->request = 0;
	part->type = (uint8_t)type;
}

unsigned calls_strip(enum trace_policy policy, struct call_part *parts, unsigned nr)
{
	unsigned kept = 0;

	if (calls_policy_keeps_halves(policy))
		return nr;
	for (unsigned i = 0; i < nr; i++) {
		enum call_part_type type = stripped(policy, parts[i].type);

		if (type == NR_CALL_PARTS)
			continue;
		parts[kept] = parts[i];
		strip(&parts[kept++], type);
	}
	return kept;
}
