/* Reports that are shown instead of the rows of adaptrace top, as lines that can be scrolled. */
#ifndef OUTPUT_SCREEN_TEXT_VIEW_H
#define OUTPUT_SCREEN_TEXT_VIEW_H

#include "output/screen/top_model.h"

#include <stddef.h>

enum text_view_type {
	TEXT_VIEW_TREE,
	TEXT_VIEW_CALLS,
	TEXT_VIEW_RANKS,
	TEXT_VIEW_CALLERS, /* of a function */
	TEXT_VIEW_CODE,    /* of a function */
	TEXT_VIEW_HELP,
};

struct text_view {
	enum text_view_type type;
	char *function;
	char *text, **lines; /* NULL: no view is open */
	size_t nr, first;
	unsigned left; /* columns that are out of sight */
	uint64_t due;  /* when it is made anew, ns of the clock */
};

/*
 * Opens a view, wide enough for so many columns. function: its full name, for views of one. Returns
 * NULL, or one line that says why there is nothing to show; then no view is open.
 */
const char *text_view_open(struct text_view *view, const struct top_model *model,
                           enum text_view_type type, const char *function, unsigned columns);
/* Makes it anew, now and then, of what was recorded meanwhile. It stays where it is scrolled to. */
void text_view_refresh(struct text_view *view, const struct top_model *model, unsigned columns);
void text_view_close(struct text_view *view);

#endif
