/*
 * OTF2, the Open Trace Format of Score-P, Vampir, Scalasca and TAU. The page adaptrace-convert(1)
 * has the table of what becomes what.
 */
#ifndef OUTPUT_OTF2_OTF2_H
#define OUTPUT_OTF2_OTF2_H

#include "output/convert/convert.h"

#include <stdbool.h>

/* Writes the archive traces.otf2 into an empty folder. 0 or -errno. */
int otf2_write(struct conversion *conversion, const char *folder);
/* Whether a file of a folder is one of an archive's. */
bool otf2_knows(const char *path);

#endif
