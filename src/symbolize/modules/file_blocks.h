/*
 * Bytes of the files of modules, read in blocks into a cache of fixed size.
 *
 * Files are never mapped: their owner may truncate them at any moment, and an access to a mapping
 * would then kill the profiler. A copied block cannot change while it is parsed.
 */
#ifndef SYMBOLIZE_MODULES_FILE_BLOCKS_H
#define SYMBOLIZE_MODULES_FILE_BLOCKS_H

#include "symbolize/modules/module.h"
#include <stdbool.h>
#include <stdint.h>

struct file_blocks;

/* Returns NULL with errno on failure. */
struct file_blocks *file_blocks_new(struct module_table *modules);
void file_blocks_free(struct file_blocks *cache);

/*
 * Copies up to size bytes from an offset in the module's file. Returns how many bytes were copied.
 */
size_t file_blocks_read(struct file_blocks *cache, struct module *module, uint64_t offset, void *to,
                        size_t size);

/*
 * Inflates a section that zlib compressed, at [offset, offset + packed) of the file. Returns false
 * if it does not inflate to size bytes.
 */
bool file_blocks_unpack(struct file_blocks *blocks, struct module *module, uint64_t offset,
                        uint64_t packed, uint8_t *to, uint32_t size);

#endif
