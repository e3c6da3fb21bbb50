/* What a part of a call did, in a few words: "8 bytes with 1, tag 10". */
#ifndef OUTPUT_CALL_TEXT_H
#define OUTPUT_CALL_TEXT_H

#include "output/call_stream.h"

#include <stdio.h>

/* Nothing in it needs to be escaped. */
void call_part_text(FILE *to, const struct call_part *part);
/* The value that a program gave, of a CALL_VALUE. */
double call_part_value(const struct call_part *part);
/* The same at this point, if it is one. */
bool call_point_value(const struct call_moment *moment, double *value);

#endif
