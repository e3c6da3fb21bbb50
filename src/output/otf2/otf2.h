/*
 * Converter to OTF2, the Open Trace Format of Score-P, Vampir, Scalasca and TAU. The manual page
 * adaptrace-convert(1) has the table that maps a trace to OTF2.
 */
#ifndef OUTPUT_OTF2_OTF2_H
#define OUTPUT_OTF2_OTF2_H

#include "output/convert/convert.h"

#include <stdbool.h>

/* Writes the archive traces.otf2 into an empty folder. 0 or -errno. */
int otf2_write(struct conversion *conversion, const char *folder);
/* Whether a file of a folder belongs to an OTF2 archive. */
bool otf2_knows(const char *path);

#endif
