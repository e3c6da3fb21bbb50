/*
 * Machine code from the file of a module, long after it ran: only of a file that is what was
 * recorded, by its build-id, or where it has none by not having been changed since.
 */
#ifndef SYMBOLIZE_MODULES_MODULE_CODE_H
#define SYMBOLIZE_MODULES_MODULE_CODE_H

#include "symbolize/modules/module.h"

/* No function is larger. Of one that claims to be, the beginning is read. */
#define MODULE_CODE_MAX (1u << 20)

struct module_code {
	uint8_t *bytes;
	size_t size;
	unsigned machine; /* EM_X86_64 */
	uint64_t changed; /* when the file was last written to, ns since 1970 */
};

/*
 * Reads the code at [lo, hi) of a file. before: seconds since 1970; without a build-id a file must
 * be older. 0, -ESTALE: it is another file now; -ENOENT or why else it cannot be opened; -ENODATA:
 * it has no code there. To be freed: bytes.
 */
int module_code_read(struct module_code *code, const char *path, const struct build_id *build_id,
                     int64_t before, uint64_t lo, uint64_t hi);

#endif
