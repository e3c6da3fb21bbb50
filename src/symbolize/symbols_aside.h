/*
 * Names that a side process reads. A file system that stopped answering blocks that process, which
 * is then left behind, and not whoever wants the names.
 */
#ifndef SYMBOLIZE_SYMBOLS_ASIDE_H
#define SYMBOLIZE_SYMBOLS_ASIDE_H

#include "base/side_process.h"
#include "symbolize/modules/mount_point.h"
#include "symbolize/symbols.h"

struct symbols_aside {
	symbolizer_go_on_fn *go_on; /* or NULL */
	void *arg;
	struct side_process process; /* fd -1: not started yet, or ended */
	struct mounts dead;          /* file systems that do not answer */
	unsigned nr_stalls;          /* for which none could be blamed */
	struct source *sources;      /* of the symbol at hand */
	char *bytes;                 /* of answers, as far as they came */
	size_t used, room;
};

struct symbols_aside *symbols_aside_new(symbolizer_go_on_fn *go_on, void *arg);
void symbols_aside_free(struct symbols_aside *aside);

/* Whether the file lies where an earlier one could not be read, so that it is not even tried. */
bool symbols_aside_skips(const struct symbols_aside *aside, struct symbolizer *symbolizer,
                         const struct module *module);

/*
 * Does what symbolizer_module() does, in the side process, and adds to the symbolizer's statistics.
 * Returns -EAGAIN, with nothing done, if no further process can be started.
 */
int symbols_aside_module(struct symbols_aside *aside, struct symbolizer *symbolizer,
                         struct module *module, const uint32_t *offsets, size_t n, symbol_fn *fn,
                         void *arg);

/*
 * Does the same as symbolizer_source_files(). A file system that does not answer is not asked
 * again.
 */
int symbols_aside_files(struct symbols_aside *aside, struct symbolizer *symbolizer,
                        const char *const *paths, size_t n, source_identity_fn *fn, void *arg);

/* --- what the side process needs of the symbolizer -------------------------------------------- */

/* Counters and limits of a symbolizer. */
struct symbolizer_counts {
	struct symbolizer_stats stats;
	uint64_t maps_left; /* bytes that may still be read of what processes say of their code */
};

struct module_table *symbolizer_modules(const struct symbolizer *symbolizer);
struct symbolizer_counts *symbolizer_counts(struct symbolizer *symbolizer);
/* symbolizer_module() in this process, without asking whether a file is wanted. */
int symbolizer_look_up(struct symbolizer *symbolizer, struct module *module,
                       const uint32_t *offsets, size_t n, symbol_fn *fn, void *arg);
/* Identifies one source file in this process. */
void symbolizer_look_at_file(struct symbolizer *symbolizer, const char *path,
                             struct source_identity *identity);

#endif
