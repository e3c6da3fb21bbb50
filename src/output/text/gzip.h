/* A stream whose bytes arrive compressed in another. */
#ifndef OUTPUT_TEXT_GZIP_H
#define OUTPUT_TEXT_GZIP_H

#include <stdio.h>

/* NULL with errno. Closing it completes the compressed data; `to` stays open. */
FILE *gzip_open(FILE *to);

/* Closes; err, or what went wrong with writing. */
int gzip_close(FILE *file, int err);

#endif
