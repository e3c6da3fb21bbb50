/* Output stream that compresses its bytes into another stream. */
#ifndef OUTPUT_TEXT_GZIP_H
#define OUTPUT_TEXT_GZIP_H

#include <stdio.h>

/*
 * Returns NULL with errno on failure. Closing the stream completes the compressed data; `to` stays
 * open.
 */
FILE *gzip_open(FILE *to);

/* Closes the stream. Returns err if it is not 0, else 0 or the error of writing. */
int gzip_close(FILE *file, int err);

#endif
