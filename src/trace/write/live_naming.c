#include "trace/write/live_naming.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_FRAMES ((size_t)1 << 22)

struct live_naming {
	struct frame_set *frames;
	size_t nr_named; /* frames that were looked up */
	struct trace_names names;
};

struct live_naming *live_naming_new(void)
{
	struct live_naming *naming = calloc(1, sizeof(*naming));

	if (!naming)
		return NULL;
	naming->frames = frame_set_new();
	if (naming->frames)
		return naming;
	free(naming);
	return NULL;
}

void live_naming_free(struct live_naming *naming)
{
	if (!naming)
		return;
	frame_set_free(naming->frames);
	trace_names_fini(&naming->names);
	free(naming);
}

void live_naming_add(struct live_naming *naming, uint64_t frame)
{
	if (naming->frames->nr < MAX_FRAMES)
		frame_set_add(naming->frames, frame);
}

bool live_naming_is_due(struct live_naming *naming)
{
	return !frame_set_finish(naming->frames) && naming->frames->nr > naming->nr_named;
}

int live_naming_look_up(struct live_naming *naming, struct live_trace *live,
                        const struct name_provider *provider)
{
	struct trace_names names;
	struct live_names given;
	int err = frame_set_finish(naming->frames);

	if (!err)
		err = trace_names_init(&names, provider, naming->frames, LIVE_STRINGS);
	if (err)
		return err;
	given = (struct live_names){names.symbols, names.nr, names.strings.memory,
	                            names.strings.size};
	err = live_trace_name(live, &given);
	if (err) {
		trace_names_fini(&names);
		return err;
	}
	trace_names_fini(&naming->names);
	naming->names = names;
	naming->nr_named = naming->frames->nr;
	return 0;
}
