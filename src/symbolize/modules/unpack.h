/* Compressed sections of a module's file. */
#ifndef SYMBOLIZE_MODULES_UNPACK_H
#define SYMBOLIZE_MODULES_UNPACK_H

#include "symbolize/modules/file_blocks.h"

#include <stdbool.h>
#include <stdint.h>

/* Inflates what zlib made, at [offset, offset + packed) of the file. False: not to size bytes. */
bool image_unpack(struct image_cache *images, struct module *module, uint64_t offset,
                  uint64_t packed, uint8_t *to, uint32_t size);

#endif
