/*
 * debuginfod: debug files from a server. It is asked by its own library, where that is installed,
 * at the addresses in DEBUGINFOD_URLS; answers are kept in the user's cache.
 */
#ifndef SYMBOLIZE_ELF_DEBUGINFOD_H
#define SYMBOLIZE_ELF_DEBUGINFOD_H

#include "symbolize/modules/module.h"

#include <stdbool.h>

/* Whether the library is there. */
bool debuginfod_present(void);

/* A descriptor of what a server takes for the debug file with a build-id; or -errno. */
int debuginfod_fetch(const struct build_id *id);

#endif
