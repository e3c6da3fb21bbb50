/*
 * Modules by what they are known as: a digest of it leads to the number of the module. One module
 * may be known as several things.
 */
#ifndef SYMBOLIZE_MODULES_MODULE_INDEX_H
#define SYMBOLIZE_MODULES_MODULE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

struct module_index {
	struct module_slot *slots; /* open addressing, at most half full */
	size_t nr, nr_slots;       /* nr_slots: a power of two, or 0 */
};

void module_index_fini(struct module_index *index);

/* 0: nothing is known as that. */
uint16_t module_index_get(const struct module_index *index, XXH128_hash_t key);

/*
 * From now on it is this module. A target can have files seen as ever new things: when there are
 * too many, or no memory is left, what is new will not be known when it comes again.
 */
void module_index_put(struct module_index *index, XXH128_hash_t key, uint16_t module);

/* Forgets what leads to other modules than these. False: no memory, and it stays as it was. */
bool module_index_keep(struct module_index *index,
                       bool (*is_kept)(const void *arg, uint16_t module), const void *arg);

#endif
