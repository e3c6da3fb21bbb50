#include "output/views/report_profile.h"

#include <errno.h>

struct profile *report_profile(const struct trace *trace, uint32_t event,
                               const struct view_query *query, struct profile_view *view)
{
	struct profile_config config = {
		.event = event,
		.keys = query->no_inline ? 0 : PROFILE_INLINED,
		.selection = query->selection,
		.scale = true,
		.self_alone = query->self_alone,
		.sampled_alone = query->sampled_alone,
	};
	struct profile *profile;
	int err = 0;

	*view = (struct profile_view){
		.function = query->function,
		.direction = query->direction,
		.max_depth = query->max_depth ? query->max_depth : UINT32_MAX,
	};
	for (unsigned k = 0; k < query->nr_keys; k++)
		config.keys |= query->keys[k];
	if (query->per_thread)
		config.keys |= PROFILE_BY_THREAD;
	profile = profile_new(trace, &config);
	if (profile && query->direction != PROFILE_ALL)
		err = profile_view_make(profile, view);
	if (!err)
		return profile;
	profile_free(profile);
	errno = -err;
	return NULL;
}
