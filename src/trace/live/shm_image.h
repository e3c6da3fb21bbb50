/*
 * The memory of a recording that outlives its recorder: a private file in /dev/shm.
 *
 *     /dev/shm/adaptrace-UID-HASH        HASH: of the absolute path of the trace to be written
 *     /dev/shm/adaptrace-UID-HASH.old    what an earlier killed recorder of that trace left
 *
 * The file gets its name when it is locked and laid out, never before. The lock lasts as long as
 * the recorder, so a file that can be locked is a leftover. A new recorder keeps one leftover
 * aside.
 *
 * Where /dev/shm has no room for it, the memory is elsewhere: a sealed memory file, which the
 * control socket hands out (image_memory.h). The file in /dev/shm is then a stub of SHM_IMAGE_STUB
 * bytes, by which the recorder is found, and of which nothing can be recovered.
 */
#ifndef TRACE_LIVE_SHM_IMAGE_H
#define TRACE_LIVE_SHM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHM_IMAGE_FOLDER "/dev/shm"
#define SHM_IMAGE_STUB   8192 /* less than any image */

struct shm_image {
	unsigned char *memory; /* zeroed at first */
	size_t size;
	int fd;             /* holds the lock; -1: anonymous memory, which nobody can recover */
	bool elsewhere;     /* the file is a stub */
	int memory_fd;      /* then the one of the memory */
	char *name;         /* of the file; NULL: it has none */
	bool kept_leftover; /* an earlier recorder's file was put aside */
	int name_taken;     /* -EBUSY: by a recorder that lives, -EALREADY: by one that recovers */
};

/*
 * Reserves address space of this size, in a file where that is possible, else anonymous. Nothing
 * of it may be touched before shm_image_reserve(). 0 or -ENOMEM.
 */
int shm_image_create(struct shm_image *image, size_t size, const char *trace_path);

/* The same in a memory file, with a stub. 0 or -errno. */
int shm_image_create_elsewhere(struct shm_image *image, size_t size, const char *trace_path);
/* Writes into the stub. */
void shm_image_write_stub(const struct shm_image *image, const void *from, size_t size, size_t at);
/* Tells whether a file is a stub. */
bool shm_image_is_stub(int fd);
/* Notes that the trace has been written: a leftover would hold nothing that is not in it. */
void shm_image_mark_saved(const struct shm_image *image);
/*
 * Removes a leftover that holds nothing to be saved: a stub, or an image whose trace has been
 * written. Returns whether it was one.
 */
bool shm_image_drop_empty(const char *name);

/* Bytes that could be reserved now, by anybody. */
size_t shm_image_room(const struct shm_image *image);

/* Bytes of memory that the image's file takes: what was never usable takes none. */
uint64_t shm_image_taken(const struct shm_image *image);

/* Makes [offset, offset + size) usable; 0 or -errno: -ENOSPC when /dev/shm is full. */
int shm_image_reserve(struct shm_image *image, size_t offset, size_t size);

/* Gives the memory of whole pages back: until they are reserved again they may not be touched. */
int shm_image_release(struct shm_image *image, size_t offset, size_t size);

/* Gives the file its name. Where that fails nobody can recover it, but it serves. */
void shm_image_publish(struct shm_image *image);

/*
 * The leftover for this trace path, mapped privately: writes stay in this process. 0, -ENOENT,
 * -EBUSY: its recorder lives, -EALREADY: somebody else has it open like this, -EACCES: another
 * user's or open to others, -ENODATA: its memory was elsewhere, and is gone, -errno.
 */
int shm_image_open(struct shm_image *image, const char *trace_path);

/*
 * Returns the name of an existing file for this trace path, of any owner; free it. Returns NULL if
 * there is none or no memory.
 */
char *shm_image_found(const char *trace_path);

/* The trace path with its folder resolved, which need not exist; to be freed. NULL: no memory. */
char *shm_image_absolute(const char *trace_path);

/* Whether a file with this name in SHM_IMAGE_FOLDER, path included, belongs to this trace path. */
bool shm_image_is_named(const char *name, const char *trace_path);

enum shm_image_holder { SHM_IMAGE_NOBODY, SHM_IMAGE_RECORDER, SHM_IMAGE_RECOVERY };

/* Whether there is a file for this trace path, of the user's own, that this one has. */
bool shm_image_held(const char *trace_path, enum shm_image_holder wanted);

/*
 * Opens a file of that name to be read, and tells who has it locked; itself it locks nothing, so
 * nobody is disturbed. A descriptor, -ENOENT, -EACCES as above, -errno.
 */
int shm_image_peek(const char *name, enum shm_image_holder *holder);

/*
 * The file of a recorder at work, to be read alone, as it changes. 0, -ENOENT: there is none at
 * work, -EACCES as above, -errno.
 */
int shm_image_watch(struct shm_image *image, const char *trace_path);
/* The same by the file's name, which for root may be another user's. */
int shm_image_watch_file(struct shm_image *image, const char *name);

/* Whether the recorder of a watched file is still at work; named: the file still has its name. */
bool shm_image_is_alive(const struct shm_image *image, bool *named);

/* The file stays if it is still named; see shm_image_unlink(). */
void shm_image_close(struct shm_image *image);
/* Takes the name from the file, if it still has it. */
void shm_image_unlink(struct shm_image *image);

#endif
