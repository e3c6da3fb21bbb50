#include "output/convert/convert.h"

#include "output/profile/profile.h"
#include "output/views/run_properties.h"

#include <errno.h>
#include <stdlib.h>

void convert_plan(struct conversion *conversion, unsigned walks, uint32_t event)
{
	const struct trace_event *entry;

	conversion->steps = conversion->all_steps = 0;
	for (uint32_t i = 0; (entry = trace_event(conversion->trace, i)); i++)
		if (event == TRACE_ALL_EVENTS || event == i)
			conversion->all_steps += walks * entry->stored;
}

int convert_tick(struct conversion *conversion)
{
	double share = conversion->all_steps
	                       ? (double)conversion->steps / (double)conversion->all_steps
	                       : 0;

	if (!conversion->tick)
		return 0;
	return conversion->tick(conversion->arg, share < 1 ? share : 1);
}

uint64_t convert_process(const struct trace *trace, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(trace, thread);

	return (uint64_t)(uint32_t)trace_rank(trace, thread) << 32 |
	       (entry ? (uint32_t)entry->pid : 0);
}

void convert_process_text(const struct trace *trace, uint32_t thread, uint32_t comm,
                          char text[CONVERT_TEXT_SIZE])
{
	int32_t rank = trace_rank(trace, thread);
	char known[32] = "";

	if (rank >= 0)
		snprintf(known, sizeof(known), "rank %d: ", rank);
	snprintf(text, CONVERT_TEXT_SIZE, "%s%.64s", known, trace_command_name(trace, comm));
}

void convert_thread_text(const struct trace *trace, uint32_t thread, uint32_t event,
                         char text[CONVERT_TEXT_SIZE])
{
	const struct trace_thread *entry = trace_thread(trace, thread);
	const struct trace_event *name = event ? trace_event(trace, event) : NULL;
	char process[CONVERT_TEXT_SIZE] = "[unknown]";

	if (entry)
		convert_process_text(trace, thread, entry->comm, process);
	snprintf(text, CONVERT_TEXT_SIZE, "%.96s %d%s%.64s", process, entry ? entry->tid : 0,
	         name ? ": " : "", name ? trace_string(trace, name->name) : "");
}

struct profile *convert_profile(const struct conversion *conversion)
{
	const struct profile_config config = {
		.event = conversion->event,
		.keys = PROFILE_BY_SYMBOL | PROFILE_BY_MODULE | PROFILE_BY_COMM | PROFILE_INLINED,
		.selection = conversion->selection,
	};
	struct profile *profile = profile_new(conversion->trace, &config);

	if (profile && conversion->counter)
		profile_weigh_by(profile, conversion->counter - 1);
	return profile;
}

const char *convert_weight_name(const struct conversion *conversion)
{
	const struct trace_event *event = trace_event(conversion->trace, conversion->event);
	uint32_t name = event ? event->name : 0;

	if (conversion->counter)
		name = trace_counter(conversion->trace, conversion->counter - 1)->name;
	return trace_string(conversion->trace, name);
}

enum trace_unit convert_weight_unit(const struct conversion *conversion)
{
	const struct trace_event *event = trace_event(conversion->trace, conversion->event);

	if (conversion->counter)
		return trace_counter(conversion->trace, conversion->counter - 1)->unit;
	return event ? event->unit : TRACE_COUNT;
}

char *convert_title(const struct conversion *conversion)
{
	char *command = run_command(conversion->trace), *title = NULL;
	char *part = selection_text(conversion->trace, conversion->selection);

	if (command && part && asprintf(&title, *part ? "%s (%s)" : "%s", command, part) < 0)
		title = NULL;
	free(part);
	free(command);
	return title;
}

int convert_command_json(const struct trace *trace, struct json_writer *json, const char *key)
{
	char *command = run_command(trace);

	if (!command)
		return -ENOMEM;
	json_text(json, key, command);
	free(command);
	return 0;
}
