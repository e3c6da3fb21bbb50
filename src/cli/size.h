/* Sizes on the command line. */
#ifndef CLI_SIZE_H
#define CLI_SIZE_H

#include <stddef.h>

/* Reads a size such as 100M; K, M and G are powers of 1024. Returns 0, -EINVAL or -ERANGE. */
int size_parse(const char *text, size_t *size);

#endif
