/* Converts a trace to all formats, whatever comes of it. Behind cases.h. */
#ifndef TEST_CONVERT_ALL_H
#define TEST_CONVERT_ALL_H

#include <errno.h>

#include "base/new_folder.h"
#include "output/convert/convert.h"

/* archive: the name of a folder that is not left. enter_leave: of every other format. */
static inline void convert_all(const struct trace *trace, const char *scratch, const char *archive,
                               FILE *to, bool enter_leave)
{
	const struct converter *converter;
	struct new_folder new;

	for (unsigned i = 0; (converter = converter_at(i)); i++) {
		struct conversion conversion = {
			.trace = trace, .scratch = scratch, .enter_leave = enter_leave && i % 2};

		if (converter->to_file) {
			converter->to_file(&conversion, to);
		} else if (converter->to_folder) {
			assert_int_equal(new_folder_open(&new, archive, false, converter->known),
			                 0);
			converter->to_folder(&conversion, new.temporary);
			new_folder_close(&new, -ECANCELED);
		}
	}
}

#endif
