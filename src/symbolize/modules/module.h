/* Modules: the files and regions that code lives in. */
#ifndef SYMBOLIZE_MODULES_MODULE_H
#define SYMBOLIZE_MODULES_MODULE_H

#include "base/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define BUILD_ID_MAX 20

struct build_id {
	uint8_t size; /* 0: none known */
	uint8_t bytes[BUILD_ID_MAX];
};

/* A loadable segment: file bytes [offset, offset + size) appear at [vaddr, vaddr + size). */
struct segment {
	uint64_t offset, vaddr, size;
};

#define MODULE_MAX_SEGMENTS 8

struct module {
	uint16_t id;
	bool named;     /* an address in it was looked up: a frame may have its number */
	bool mapped;    /* for module_table_forget() */
	bool is_static; /* a program that is loaded without shared libraries */
	enum module_type type;
	char *path; /* as the target sees it, or "[kernel]", "[vdso]", "[vdso32]", "[anon]" */
	struct build_id build_id;
	dev_t dev; /* MODULE_FILE: identity, with ino */
	ino_t ino;
	uint64_t area; /* the high half of its addresses; of the vdso a number */
	pid_t pid;     /* MODULE_ANON: whose; a perf map or jitdump is found by it. MODULE_FILE: the
	                  latest to map it; debug files of its container are found by it */
	uid_t uid;     /* MODULE_ANON: the owner of the process, who alone may name its code */
	pid_t ns_pid;  /* MODULE_ANON: pid as the process itself knows it, in its container */
	const struct target_folder *folder; /* MODULE_ANON: its /tmp; NULL: ours */
	unsigned nr_segments; /* executable PT_LOADs by ascending offset; 0: no readable ELF file */
	struct segment segments[MODULE_MAX_SEGMENTS];
	void *unwind; /* the unwinder's: its rules for this module; see unwind.h */
	int fd;       /* the table's; may be closed and opened again: ask module_fd() */
};

/*
 * The table of all modules of a run, and of all runs of one trace. Numbers are given in order of
 * appearance and never change; a module lives as long as the table, unless it is forgotten. At most
 * 65,535: what comes later is module 0, and counted.
 */
struct module_table;

/* NULL with errno. */
struct module_table *module_table_new(void);
void module_table_free(struct module_table *table);
/* Number 0 included: numbers are below it. */
size_t module_table_count(const struct module_table *table);
uint64_t module_table_refused(const struct module_table *table);

/*
 * A long run maps ever new files and code, most of which no sample meets. Whether so many came that
 * it is time to forget these; and that, of all files and code without a file that are not named,
 * once `mapped` is set in those that are in some space. Their numbers are given again when there
 * are no others left.
 */
bool module_table_is_crowded(const struct module_table *table);
void module_table_forget(struct module_table *table);

/* The address, in the file or of the code without one, of an offset in a frame. */
static inline uint64_t module_address(const struct module *module, uint32_t offset)
{
	return module->area << 32 | offset;
}

/* NULL when there is no such module. */
struct module *module_table_get(const struct module_table *table, uint16_t id);

/* Where debug files are looked for that are not on this machine's usual ways. */
struct debug_search {
	const char *folder; /* with copies of programs, or a .build-id folder; NULL: none */
	bool ask_server;    /* of debuginfod */
};

/* They must live as long as the table; NULL, as at first: nowhere else. */
void module_table_search(struct module_table *table, const struct debug_search *search);
const struct debug_search *module_table_debug_search(const struct module_table *table);

/* From now on only a module's own file is read, and not debug files that belong to it. */
void module_table_only_own_files(struct module_table *table);
bool module_table_has_only_own_files(const struct module_table *table);

/* The descriptors of all files that the table has open; free them. NULL: no memory. */
int *module_table_files(const struct module_table *table, size_t *nr);

/*
 * Lets a side process open files, and read those that another machine or a process serves, from now
 * on. A file that is not opened within so many milliseconds counts as unreadable.
 */
int module_table_read_aside(struct module_table *table, int patience_ms);
/* Makes a child's copy of the table read all files itself. */
void module_table_read_directly(struct module_table *table);
/* Whether there is no file of the module because its file system did not answer. */
bool module_is_unanswered(const struct module *module);
/* Whether what was mapped is a file, but no ELF file. */
bool module_is_no_elf(const struct module *module);

/* The description of a file in a mapping record. */
struct module_file {
	const char *path;
	pid_t pid;           /* the path is in its mount namespace */
	uint64_t start, end; /* the mapping: finds the file itself where it was deleted */
	dev_t dev;           /* 0 with build_id: not known */
	ino_t ino;
	uint64_t
		ino_generation; /* tells a file from an earlier one with its number; 0: not known */
	struct build_id build_id;
	const uint64_t *area; /* for a new module; NULL: that of the file's first code */
};

/*
 * Returns the module of a mapped file. The file is opened without blocking, and only if it is a
 * regular file. The same path and build-id give the same module, whether the build-id comes from
 * the record or from the file. Without a build-id, the same file gives the same module until it is
 * written to. The file that is found under the path must be the mapped one: its build-id is
 * compared if the record has one, else its device and inode.
 *
 * A file that cannot be opened still gives a module, but one without segments. If a later mapping
 * of it can be opened, a new module takes its place. Returns NULL if the table is full or there is
 * no memory.
 */
struct module *module_table_file(struct module_table *table, const struct module_file *file);

/* Tells whether the file of a mapping can be opened and is an ELF file. */
bool module_table_is_elf(struct module_table *table, const struct module_file *file);

/* Adds the file systems that names of the module's code may have to wait for: see mount_point.h. */
struct mounts;
void module_mounts(const struct module_table *table, const struct module *module,
                   struct mounts *mounts);

/*
 * Adds a module of a file that is opened when it is needed first, perhaps by a side process.
 * module_table_file() does not find it. Returns NULL if the table is full or there is no memory.
 */
struct module *module_table_unopened(struct module_table *table, const struct module_file *file);

/*
 * Returns the module of the same file for addresses with another high half, which may be the module
 * itself. Returns NULL if the table is full or there is no memory.
 */
struct module *module_table_area(struct module_table *table, struct module *module, uint64_t area);

/*
 * The module of the addresses around addr: kernel, or without a file in process pid. Processes that
 * make code could fill the table: after MODULE_MAX_ANON there is one for all, with pid 0, whose
 * code has no names.
 */
#define MODULE_MAX_ANON 32768
struct module *module_table_kernel(struct module_table *table, uint64_t addr);
/* A piece of the kernel's code that comes or goes: its path is the name of all that is in it. */
struct module *module_table_piece(struct module_table *table, uint64_t start, const char *name);
struct module *module_table_anon(struct module_table *table, pid_t pid, uint64_t addr);
struct module *module_table_vdso(struct module_table *table);
/*
 * Returns the module of the vDSO of 32-bit programs: a copy of the first mapping that can be read.
 */
struct module *module_table_vdso32(struct module_table *table, const struct module_file *file);

/*
 * Returns the kernel code that was loaded and unloaded during the recording; the kernel's modules
 * depend on it. Never NULL.
 */
struct kernel_code *module_table_kernel_code(struct module_table *table);

/* Notes a mapped file if it is one in which a process names its JIT code: see jitdump_files_add().
 */
void module_table_add_jitdump(struct module_table *table, const struct module_file *file);
/* Returns the files in which processes name their JIT code: see jitdump.h. Never NULL. */
struct jitdump_files *module_table_jitdumps(struct module_table *table);

/* Returns the reader of other processes' memory. It lives as long as the table. */
struct peer_memory *module_table_memory(struct module_table *table);

/*
 * Returns a descriptor of the module's file (of a copy of the image for MODULE_VDSO), valid until
 * the next call for any module: only 64 are open at a time, or up to 512 while half of all
 * descriptors are free. A file that is opened again must still be the one that was mapped. Returns
 * -1 with errno if there is none; ESTALE means that another file has taken its place.
 */
int module_fd(struct module_table *table, struct module *module);

/*
 * Does what pread() does with the module's file. Returns -1 if there is no file or it does not
 * answer.
 */
ssize_t module_read(struct module_table *table, struct module *module, void *to, size_t size,
                    off_t offset);

/*
 * Returns the ELF virtual address of a byte of the file, or the offset itself if segments are
 * unknown. The page-aligned start of a mapping may lie below its segment; it is translated with the
 * bias of that segment.
 */
uint64_t module_vaddr(const struct module *module, uint64_t file_offset);

#endif
