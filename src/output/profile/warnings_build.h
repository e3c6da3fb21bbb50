/* Helpers that emit warnings. Only the files that implement warnings.h include this header. */
#ifndef OUTPUT_PROFILE_WARNINGS_BUILD_H
#define OUTPUT_PROFILE_WARNINGS_BUILD_H

#include "output/profile/warnings.h"
#include "base/frame.h"

/* Smallest share that is worth a warning. */
#define WORTH_SAYING 0.005

#define NAMELESS_SHARE 0.05 /* so much without names is worth a word */

/* Reason for which the kernel stopped observing a process. */
#define WENT_UNOBSERVED                                                                            \
	"executed a setuid or unreadable program, which the kernel does not let inherited events " \
	"observe"

struct warner {
	warning_fn *fn;
	void *arg;
};

/* Emits warnings about the whole recording where a part of it is shown. */
struct warner_of_whole {
	struct warner part;
	const struct selection *selection;
};

/* Returns what emits such warnings; it refers to `whole`. */
struct warner warner_of_whole(const struct warner_of_whole *whole);

__attribute__((format(printf, 2, 3))) void warn(const struct warner *warner, const char *format,
                                                ...);

static inline double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Whether the module is code that is in no file, such as jit code. */
static inline bool module_is_made(const struct trace_module *module)
{
	return module->type == MODULE_ANON;
}

#endif
