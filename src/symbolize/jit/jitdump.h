/*
 * Jitdump files: what a process says of code that it made at run time, with source lines.
 *
 *     header | records: code load (address, size, name, the code itself), code move, debug info …
 *
 * A process maps a page of its jit-PID.dump to make itself heard: the mapping's record tells where
 * the file is. Memory is used again for other code; as frames have no time, the last load that
 * covers an address names it.
 */
#ifndef SYMBOLIZE_JIT_JITDUMP_H
#define SYMBOLIZE_JIT_JITDUMP_H

#include "symbolize/modules/module.h"
#include "symbolize/elf/symbol.h"

/*
 * Answers from the file. 0, -ENOENT: it names no code, -ENOMEM, or what the query's fn returned.
 * left is how many bytes may still be read; -EFBIG: that is not enough.
 */
int jitdump_lookup(int fd, const struct jit_query *query, uint64_t *left);

#endif
