#include "output/views/report_profile.h"

#include <errno.h>

struct profile *report_profile(const struct trace *trace, uint32_t event,
                               const struct report_options *options, struct profile_view *view)
{
	struct profile_config config = {
		.event = event,
		.keys = options->no_inline ? 0 : PROFILE_INLINED,
		.selection = options->selection,
		.scale = true,
		.self_alone = options->self_alone,
		.sampled_alone = options->sampled_alone,
	};
	struct profile *profile;
	int err = 0;

	*view = (struct profile_view){
		.function = options->function,
		.direction = options->direction,
		.max_depth = options->max_depth ? options->max_depth : UINT32_MAX,
	};
	for (unsigned k = 0; k < options->nr_keys; k++)
		config.keys |= options->keys[k];
	if (options->per_thread)
		config.keys |= PROFILE_BY_THREAD;
	profile = profile_new(trace, &config);
	if (profile && options->direction != PROFILE_ALL)
		err = profile_view_make(profile, view);
	if (!err)
		return profile;
	profile_free(profile);
	errno = -err;
	return NULL;
}
