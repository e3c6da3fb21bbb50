#include "trace/trace_file.h"

#include "base/array.h"
#include "base/frame.h"

#include <string.h>

#define NODE_SHIFT 4 /* NODE_UNIT */

/* --- entries ---------------------------------------------------------------------------------- */

uint32_t trace_nr(const struct trace *trace, enum trace_section section)
{
	return trace->sections[section].nr;
}

uint32_t trace_nr_events(const struct trace *trace)
{
	return trace->nr_events;
}

const struct trace_run *trace_run(const struct trace *trace)
{
	return &trace->run;
}

bool trace_is_renamed(const struct trace *trace)
{
	return trace->renamed[0];
}

const char *trace_string(const struct trace *trace, uint32_t offset)
{
	const struct section *strings = &trace->sections[TRACE_STRINGS];
	const char *at = (const char *)strings->at;

	/* Ends of strings would be many long names in a small file. */
	return at + (offset < strings->nr && offset && !at[offset - 1] ? offset : 0);
}

const char *trace_command_name(const struct trace *trace, uint32_t comm)
{
	const char *name = trace_string(trace, comm);

	return *name ? name : "[unknown]";
}

uint32_t trace_window_event(const struct trace *trace, const struct trace_window *window)
{
	return window->event < TRACE_MAX_KINDS ? trace->numbers[window->event] : window->event;
}

const struct trace_event *trace_kind(const struct trace *trace, uint32_t index)
{
	const struct trace_choice *choice = &trace->choice;

	if (choice->found && index == trace_window_event(trace, &choice->window))
		return &choice->event;
	if (choice->found && choice->has_calls && index == choice->calls)
		return &choice->call_event;
	return index < TRACE_MAX_KINDS
	               ? section_entry(&trace->sections[TRACE_EVENTS], trace->kinds[index])
	               : NULL;
}

const struct trace_event *trace_event_of_run(const struct trace *trace, uint32_t index)
{
	return index < trace->nr_events
	               ? section_entry(&trace->sections[TRACE_EVENTS], trace->kinds[index])
	               : NULL;
}

const struct trace_event *trace_event(const struct trace *trace, uint32_t index)
{
	return index < trace->nr_events ? trace_kind(trace, index) : NULL;
}

uint32_t trace_find_event(const struct trace *trace, const char *name)
{
	uint32_t nr_begun = 0, begun = TRACE_ALL_EVENTS;
	size_t length = strlen(name);
	const struct trace_event *event;

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++) {
		const char *known = trace_string(trace, event->name);

		if (!strcmp(known, name))
			return i;
		if (!strncmp(known, name, length) && known[length] == ':') {
			nr_begun++;
			begun = i;
		}
	}
	return nr_begun == 1 ? begun : TRACE_ALL_EVENTS;
}

const struct trace_stream *trace_stream(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_STREAMS], index);
}

const struct trace_counter *trace_counter(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_COUNTERS], index);
}

const struct trace_action *trace_action(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_ACTIONS], index);
}

const struct trace_gap *trace_gap(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_GAPS], index);
}

const struct trace_condition *trace_condition(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_CONDITIONS], index);
}

const char *trace_action_text(const struct trace *trace, const struct trace_action *action)
{
	const char *name = trace_string(trace, action->action);

	return strcmp(name, TRACE_MARK) && strcmp(name, TRACE_CONDITION)
	               ? name
	               : trace_string(trace, action->text);
}

const char *trace_unit_name(enum trace_unit unit)
{
	return unit == TRACE_NS ? "ns" : "count";
}

uint64_t trace_period(const struct trace_event *event, uint32_t shift)
{
	return trace_scaled(event->base_period, shift);
}

bool trace_names_scope(const struct trace_run *run)
{
	return run->flags & TRACE_RUN_WIDE || (run->flags & TRACE_RUN_ATTACHED && !run->pid);
}

uint64_t trace_since_start(const struct trace_run *run, uint64_t time)
{
	return time > run->start ? time - run->start : 0;
}

uint64_t trace_wall(const struct trace_run *run)
{
	return trace_since_start(run, run->end);
}

int trace_exit_signal(const struct trace_run *run)
{
	return run->flags & TRACE_RUN_KILLED ? run->exit_status - 128 : 0;
}

struct trace_losses trace_losses(const struct trace *trace, uint32_t event)
{
	const struct trace_stream *stream;
	struct trace_losses losses = {0};

	for (uint32_t i = 0; (stream = trace_stream(trace, i)); i++) {
		if (event != TRACE_ALL_EVENTS && stream->event != event)
			continue;
		losses.lost += stream->lost;
		losses.throttled += stream->throttled;
	}
	return losses;
}

uint32_t trace_nr_cpus(const struct trace *trace)
{
	const struct trace_stream *stream;
	uint32_t nr = 0;

	for (uint32_t i = 0; (stream = trace_stream(trace, i)); i++)
		if (stream->cpu < TRACE_MAX_CPUS && stream->cpu >= nr)
			nr = stream->cpu + 1;
	return nr;
}

const struct trace_module *trace_module(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_MODULES], index);
}

const struct trace_thread *trace_thread(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_THREADS], index);
}

const struct trace_command *trace_command(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_COMMANDS], index);
}

const struct trace_reduction *trace_reduction(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_REDUCTIONS], index);
}

const struct trace_symbol *trace_symbol(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_SYMBOLS], index);
}

const struct trace_source_file *trace_source_file(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_SOURCE_FILES], index);
}

const struct trace_source *trace_source(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_SOURCES], index);
}

static bool ends_before(const struct trace_symbol *symbol, uint32_t module, uint32_t offset)
{
	return symbol->module < module || (symbol->module == module && symbol->hi <= offset);
}

uint32_t trace_find_symbol(const struct trace *trace, uint64_t frame)
{
	const uint32_t module = frame_module(frame), offset = frame_offset(frame);
	const uint32_t found =
		(uint32_t)PARTITION(trace_nr(trace, TRACE_SYMBOLS), i,
	                            ends_before(trace_symbol(trace, (uint32_t)i), module, offset));
	const struct trace_symbol *symbol = trace_symbol(trace, found);

	return symbol && symbol->module == module && symbol->lo <= offset ? found : UINT32_MAX;
}

/* --- stacks ----------------------------------------------------------------------------------- */

static const struct node_home *find_home(const struct trace *trace, uint32_t node)
{
	uint32_t at = node >> (trace->bin_shift - NODE_SHIFT);

	return at < trace->nr_homes && trace->homes[at].number != UINT32_MAX ? &trace->homes[at]
	                                                                     : NULL;
}

/* Returns the node at this offset of a bin that is cut into sub-bins, or NULL. */
static const unsigned char *find_in_sub(const struct trace *trace, const unsigned char *whole,
                                        size_t at)
{
	size_t start = at >> trace->sub_shift << trace->sub_shift;
	const struct bin *bin = (const void *)(whole + start);

	return bin->size_shift == trace->sub_shift && at - start >= trace_first_node(trace, bin)
	               ? whole + at
	               : NULL;
}

static const unsigned char *find_node(const struct trace *trace, uint32_t node)
{
	const struct node_home *home = find_home(trace, node);
	size_t at = (size_t)node * NODE_UNIT & (((size_t)1 << trace->bin_shift) - 1);
	const unsigned char *whole;

	if (!home)
		return NULL;
	whole = section_entry(&trace->sections[TRACE_BINS], home->number);
	if (home->first == NODES_APART)
		return find_in_sub(trace, whole, at);
	return at >= home->first ? whole + at : NULL;
}

bool trace_node(const struct trace *trace, uint32_t node, uint64_t *frame, uint32_t *parent)
{
	const unsigned char *at = find_node(trace, node);
	struct node found;

	if (!at)
		return false;
	memcpy(&found, at, sizeof(found));
	*frame = found.frame;
	*parent = found.parent;
	return true;
}

void trace_node_prefetch(const struct trace *trace, uint32_t node)
{
	const unsigned char *at = find_node(trace, node);

	if (at)
		__builtin_prefetch(at);
}

uint32_t trace_node_number(const struct trace *trace, uint32_t node)
{
	unsigned shift = trace->bin_shift - NODE_SHIFT;
	const struct node_home *home = find_home(trace, node);

	return home ? home->number << shift | (node & ((1U << shift) - 1)) : UINT32_MAX;
}

uint64_t trace_node_limit(const struct trace *trace)
{
	return (uint64_t)trace->sections[TRACE_BINS].nr << (trace->bin_shift - NODE_SHIFT);
}

size_t trace_stack(const struct trace *trace, const struct trace_sample *sample, uint64_t *frames,
                   size_t max)
{
	uint32_t node = sample->context;
	uint64_t frame = sample->leaf;
	size_t depth = 0;

	for (;;) {
		if (depth < max)
			frames[depth] = frame;
		depth++;
		if (node == NODE_NONE)
			return depth;
		if (depth + 1 >= TRACE_MAX_STACK || !trace_node(trace, node, &frame, &node)) {
			frame = FRAME_TRUNCATED;
			node = NODE_NONE;
		}
	}
}

#define OUTSIDE_OR_IDLE "[outside or idle]"

static bool thread_is_called(const struct trace *trace, uint32_t index, const char *comm)
{
	const struct trace_thread *thread = trace_thread(trace, index);

	return thread && thread->flags & TRACE_THREAD_FOLDED &&
	       trace_run(trace)->flags & TRACE_RUN_WIDE &&
	       !strcmp(trace_string(trace, thread->comm), comm);
}

bool trace_command_is_idle(const struct trace *trace, const struct trace_command *command)
{
	return trace_run(trace)->flags & TRACE_RUN_WIDE && command->flags & TRACE_THREAD_EXACT &&
	       !strcmp(trace_string(trace, command->comm), TRACE_IDLE);
}

bool trace_tells_idle(const struct trace *trace)
{
	const struct trace_command *command;

	for (uint32_t i = 0; (command = trace_command(trace, i)); i++)
		if (trace_command_is_idle(trace, command))
			return true;
	return false;
}

/* Clocks that do not tick on idle CPUs are what the kernel's account goes with. */
bool trace_thread_is_idle(const struct trace *trace, uint32_t thread)
{
	return thread_is_called(trace, thread, TRACE_IDLE) ||
	       (thread_is_called(trace, thread, OUTSIDE_OR_IDLE) && !trace_tells_idle(trace));
}

bool trace_has_idle(const struct trace *trace)
{
	for (uint32_t i = 0; trace_thread(trace, i); i++)
		if (trace_thread_is_idle(trace, i))
			return true;
	return false;
}

const char *trace_idle_name(const struct trace *trace)
{
	for (uint32_t i = 0; trace_thread(trace, i); i++)
		if (thread_is_called(trace, i, OUTSIDE_OR_IDLE) && !trace_tells_idle(trace))
			return "outside or idle";
	return "idle";
}
