#include "output/cut_stacks.h"

#include "hmb/arena.h"
#include "symbolize/frame.h"
#include "symbolize/unwind.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * How many callers a node stands for: of a stack that is cut there, and of one that is not. Above
 * CUT_AFTER_NONE it is one more for each, and where Go left the stack SWITCHED besides.
 */
#define NOT_KNOWN      0U
#define ROOTED         1U
#define CUT_AFTER_NONE 2U
#define SWITCHED       (1U << 31)

struct count {
	struct cut_stacks *cuts;
	const struct trace *trace;
	uint32_t *depths; /* by number of a node, one of these; not of where stacks end */
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

/* Go has functions that run others on the stack of the system. */
static bool switches_stack(const struct trace *trace, uint64_t frame)
{
	static const char *const names[] = {"runtime.systemstack", "runtime.mcall",
	                                    "runtime.morestack", "runtime.asmcgocall"};
	uint32_t symbol = trace_find_symbol(trace, frame);
	const char *name =
		symbol == UINT32_MAX ? "" : trace_string(trace, trace_symbol(trace, symbol)->name);

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Of the node where a path becomes known, or ends; *below are the nodes that come before it. */
static uint32_t find_known(const struct count *count, uint32_t node, uint32_t *below)
{
	uint64_t frame = 0, called = 0;

	for (*below = 0; *below < TRACE_MAX_STACK; ++*below, called = frame) {
		uint32_t depth = known_depth(count, node), parent;

		if (depth)
			return depth;
		if (!trace_node(count->trace, node, &frame, &parent))
			return CUT_AFTER_NONE;
		if (parent == NODE_NONE && frame != FRAME_TRUNCATED)
			return ROOTED;
		if (parent == NODE_NONE)
			return CUT_AFTER_NONE |
			       (switches_stack(count->trace, called) ? SWITCHED : 0);
		node = parent;
	}
	return ROOTED;
}

static uint32_t depth_of(const struct count *count, uint32_t node)
{
	uint32_t below, depth = find_known(count, node, &below);
	uint32_t own = depth == ROOTED ? depth : depth + below;
	uint64_t frame;

	for (uint32_t i = 0; i < below; i++) {
		keep_depth(count, node, depth == ROOTED ? depth : own - i);
		if (!trace_node(count->trace, node, &frame, &node))
			break;
	}
	return own;
}

static int count_sample(void *arg, const struct trace_sample *sample)
{
	const struct count *count = arg;
	uint32_t depth = sample->context == NODE_NONE ? ROOTED : depth_of(count, sample->context);
	uint32_t callers = (depth & ~SWITCHED) - CUT_AFTER_NONE;

	count->cuts->samples++;
	if (depth == ROOTED)
		return 0;
	count->cuts->cut++;
	count->cuts->bare += !callers;
	count->cuts->deep += callers + 1 >= UNWIND_MAX_FRAMES;
	count->cuts->switched += (depth & SWITCHED) != 0;
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
