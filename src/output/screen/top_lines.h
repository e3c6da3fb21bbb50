/* The lines of adaptrace top as UTF-8 text, whatever draws them. */
#ifndef OUTPUT_SCREEN_TOP_LINES_H
#define OUTPUT_SCREEN_TOP_LINES_H

#include "output/screen/top_model.h"

/* Each prints one line without its end, for a terminal of so many columns. */
void top_line_run(FILE *to, const struct top_model *model, unsigned columns);
void top_line_load(FILE *to, const struct top_model *model, unsigned columns);
void top_line_titles(FILE *to, const struct top_model *model, unsigned columns);
void top_line_row(FILE *to, const struct top_model *model, const struct top_row *row,
                  unsigned columns);

#endif
