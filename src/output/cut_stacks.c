#include "output/cut_stacks.h"

#include "hmb/arena.h"
#include "symbolize/frame.h"
#include "symbolize/unwind.h"

#include <errno.h>
#include <stdlib.h>

/* How many callers a node stands for: of a stack that is cut there, and of one that is not. */
enum { NOT_KNOWN, ROOTED, CUT_AFTER_NONE };

struct count {
	struct cut_stacks *cuts;
	const struct trace *trace;
	uint32_t *depths; /* by number of a node: one of these, or more callers than none */
};

static uint32_t known_depth(const struct count *count, uint32_t node)
{
	uint32_t number = trace_node_number(count->trace, node);

	return number == UINT32_MAX ? NOT_KNOWN : count->depths[number];
}

static void keep_depth(const struct count *count, uint32_t node, uint32_t depth)
{
	uint32_t number = trace_node_number(count->trace, node);

	if (number != UINT32_MAX)
		count->depths[number] = depth;
}

/* Of the node where a path becomes known; *below are the nodes that come before it. */
static uint32_t find_known(const struct count *count, uint32_t node, uint32_t *below)
{
	uint64_t frame;

	for (*below = 0; *below < TRACE_MAX_STACK; ++*below) {
		uint32_t depth = known_depth(count, node), parent;

		if (depth)
			return depth;
		if (!trace_node(count->trace, node, &frame, &parent))
			return CUT_AFTER_NONE;
		if (parent == NODE_NONE)
			return frame == FRAME_TRUNCATED ? CUT_AFTER_NONE : ROOTED;
		node = parent;
	}
	return ROOTED;
}

static uint32_t depth_of(const struct count *count, uint32_t node)
{
	uint32_t below, depth = find_known(count, node, &below);
	uint32_t own = depth == ROOTED ? depth : depth + below;
	uint64_t frame;

	for (uint32_t i = 0; i <= below; i++) {
		keep_depth(count, node, depth == ROOTED ? depth : own - i);
		if (!trace_node(count->trace, node, &frame, &node) || node == NODE_NONE)
			break;
	}
	return own;
}

static int count_sample(void *arg, const struct trace_sample *sample)
{
	const struct count *count = arg;
	uint32_t depth = sample->context == NODE_NONE ? ROOTED : depth_of(count, sample->context);

	count->cuts->samples++;
	if (depth == ROOTED)
		return 0;
	count->cuts->cut++;
	count->cuts->bare += depth == CUT_AFTER_NONE;
	count->cuts->deep += depth - CUT_AFTER_NONE + 1 >= UNWIND_MAX_FRAMES;
	return 0;
}

int cut_stacks_count(struct cut_stacks *cuts, const struct trace *trace)
{
	struct count count = {cuts, trace, calloc(trace_node_limit(trace) + 1, sizeof(uint32_t))};
	int err;

	*cuts = (struct cut_stacks){0};
	if (!count.depths)
		return -ENOMEM;
	err = trace_each_sample(trace_walk_unordered(trace, TRACE_ALL_EVENTS), count_sample,
	                        &count);
	free(count.depths);
	return err;
}
