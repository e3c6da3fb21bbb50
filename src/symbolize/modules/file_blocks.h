/*
 * Images: bytes of the files of modules.
 *
 * They are read in blocks, into a cache of fixed size, and never mapped: whoever owns a file may
 * truncate it at any moment, which must not kill the profiler, and what was copied cannot change
 * while it is looked at.
 */
#ifndef SYMBOLIZE_MODULES_FILE_BLOCKS_H
#define SYMBOLIZE_MODULES_FILE_BLOCKS_H

#include "symbolize/modules/module.h"

struct image_cache;

/* NULL with errno. */
struct image_cache *image_cache_new(struct module_table *modules);
void image_cache_free(struct image_cache *cache);

/* Copies bytes from an offset in the module's file: how many there were, at most size. */
size_t image_read(struct image_cache *cache, struct module *module, uint64_t offset, void *to,
                  size_t size);

#endif
