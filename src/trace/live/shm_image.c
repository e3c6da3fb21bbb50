#include "trace/live/shm_image.h"

#include "trace/live/control_socket.h"
#include "trace/live/image_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

/* In the mode of an image whose trace has been written. */
#define MODE_SAVED S_ISVTX

char *shm_image_absolute(const char *path)
{
	char *for_dir = strdup(path), *for_base = strdup(path), *folder = NULL, *absolute = NULL;

	if (for_dir && for_base)
		folder = realpath(dirname(for_dir), NULL);
	if (folder && asprintf(&absolute, "%s/%s", folder, basename(for_base)) < 0)
		absolute = NULL;
	free(folder);
	free(for_dir);
	free(for_base);
	return absolute ? absolute : strdup(path);
}

static char *image_name_of(uid_t owner, const char *trace_path, const char *suffix)
{
	char *absolute = shm_image_absolute(trace_path), *name = NULL;

	if (absolute &&
	    asprintf(&name, SHM_IMAGE_FOLDER "/adaptrace-%u-%016llx%s", owner,
	             (unsigned long long)XXH3_64bits(absolute, strlen(absolute)), suffix) < 0)
		name = NULL;
	free(absolute);
	return name;
}

static char *image_name(const char *trace_path, const char *suffix)
{
	return image_name_of(geteuid(), trace_path, suffix);
}

/*
 * Holders of the lock. A recorder locks the whole file. A process that recovers a leftover locks
 * all but the first byte.
 */
enum holder { RECORDER, RECOVERY };

/*
 * Locks belong to the open file, so that they are seen within one process, too. -EBUSY: a recorder
 * has it, -EALREADY: a recovery.
 */
static int image_lock(int fd, enum holder holder)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = holder};
	int err;

	if (!fcntl(fd, F_OFD_SETLK, &lock))
		return 0;
	err = -errno;
	if (err != -EAGAIN && err != -EACCES)
		return err;
	if (!fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK && lock.l_start == RECOVERY)
		return -EALREADY;
	return -EBUSY;
}

/* Returns the user whose recorders give images such a name. */
static uid_t owner_in(const char *name)
{
	unsigned owner;

	return sscanf(name, SHM_IMAGE_FOLDER "/adaptrace-%u-", &owner) == 1 ? owner : geteuid();
}

/* A file of that name which is its owner's alone to read. Root may open those of others. */
static int own_open(const char *name, int flags)
{
	const uid_t owner = geteuid() ? geteuid() : owner_in(name);

	int fd = open(name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), err = 0;
	struct stat stat;

	if (fd < 0)
		return errno == ELOOP || errno == EISDIR || errno == ENXIO ? -EACCES : -errno;
	if (fstat(fd, &stat))
		err = -errno;
	else if (!S_ISREG(stat.st_mode) || stat.st_uid != owner || stat.st_mode & 077)
		err = -EACCES;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Whether the file still has the name; -ENOENT: it has gone, or is another's. */
static int check_name(const char *name, int fd)
{
	struct stat named, open;

	if (stat(name, &named) || fstat(fd, &open))
		return -errno;
	return named.st_dev == open.st_dev && named.st_ino == open.st_ino ? 0 : -ENOENT;
}

/* One whose recorder is dead; locked. */
static int leftover_open(const char *name)
{
	int fd = own_open(name, O_RDWR), err;

	if (fd < 0)
		return fd;
	err = image_lock(fd, RECOVERY);
	if (!err) /* it may have been recovered or put aside before we had the lock */
		err = check_name(name, fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static bool is_locked(int fd)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = RECOVERY};

	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type == F_WRLCK;
}

/* One whose recorder lives. */
static int living_open(const char *name)
{
	int fd = own_open(name, O_RDONLY);

	if (fd < 0 || is_locked(fd))
		return fd;
	close(fd);
	return -ENOENT;
}

/* A file beyond the limit would be a signal, not an error. */
static bool size_allowed(size_t size)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

/* Returns a locked file without a name, or -errno. */
static int create_file(void)
{
	int fd = open(SHM_IMAGE_FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return -errno;
	fchmod(fd, S_IRUSR | S_IWUSR); /* whatever the umask is: recover asks for that */
	err = image_lock(fd, RECORDER);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Maps the file as the image's memory. A child may live longer, and uses none of it. */
static int map_new(struct shm_image *image, int fd)
{
	void *memory;

	if (ftruncate(fd, (off_t)image->size))
		return -errno;
	memory = mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	madvise(memory, image->size, MADV_DONTFORK);
	image->memory = memory;
	return 0;
}

static int image_create_file(struct shm_image *image)
{
	int err = -EFBIG;

	if (!size_allowed(image->size))
		return err;
	image->fd = create_file();
	err = image->fd < 0 ? image->fd : map_new(image, image->fd);
	if (err && image->fd >= 0)
		close(image->fd);
	if (err)
		image->fd = -1;
	return err;
}

/*
 * Older kernels return EINTR to a process that is stopped or frozen meanwhile and continues.
 */
static int allocate(int fd, size_t offset, size_t size)
{
	int err;

	do
		err = posix_fallocate(fd, (off_t)offset, (off_t)size);
	while (err == EINTR);
	return -err;
}

static int create_stub(struct shm_image *image)
{
	image->fd = create_file();
	return image->fd < 0 ? image->fd : allocate(image->fd, 0, SHM_IMAGE_STUB);
}

static int create_memory(struct shm_image *image)
{
	int err;

	image->memory_fd = memfd_create("adaptrace-image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (image->memory_fd < 0)
		return -errno;
	image->elsewhere = true;
	fchmod(image->memory_fd, S_IRUSR | S_IWUSR);
	err = map_new(image, image->memory_fd);
	if (err)
		return err;
	return fcntl(image->memory_fd, F_ADD_SEALS, IMAGE_MEMORY_SEALS) ? -errno : 0;
}

int shm_image_create_elsewhere(struct shm_image *image, size_t size, const char *trace_path)
{
	int err = size_allowed(size) ? 0 : -EFBIG;

	*image = (struct shm_image){.size = size, .fd = -1, .name = image_name(trace_path, "")};
	if (!image->name)
		err = -ENOMEM;
	if (!err)
		err = create_stub(image);
	if (!err)
		err = create_memory(image);
	if (err)
		shm_image_close(image);
	return err;
}

/* Whoever reads it checks it: what fails is seen there. */
void shm_image_write_stub(const struct shm_image *image, const void *from, size_t size, size_t at)
{
	ssize_t written = pwrite(image->fd, from, size, (off_t)at);

	(void)written;
}

bool shm_image_is_stub(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && stat.st_size == SHM_IMAGE_STUB;
}

static int image_create_anonymous(struct shm_image *image)
{
	void *memory = mmap(NULL, image->size, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	madvise(memory, image->size, MADV_DONTFORK);
	image->memory = memory;
	return 0;
}

int shm_image_create(struct shm_image *image, size_t size, const char *trace_path)
{
	*image = (struct shm_image){.size = size, .fd = -1};
	if (trace_path && !image_create_file(image)) {
		image->name = image_name(trace_path, "");
		if (image->name)
			return 0;
		shm_image_close(image);
		*image = (struct shm_image){.size = size, .fd = -1};
	}
	return image_create_anonymous(image);
}

size_t shm_image_room(const struct shm_image *image)
{
	struct statvfs shm;

	/* A file system without a limit has no blocks. */
	if (image->fd < 0 || image->elsewhere || fstatvfs(image->fd, &shm) || !shm.f_blocks)
		return SIZE_MAX;
	return (size_t)shm.f_bavail * shm.f_frsize;
}

uint64_t shm_image_taken(const struct shm_image *image)
{
	struct stat stat;

	return fstat(image->fd, &stat) ? 0 : (uint64_t)stat.st_blocks * 512;
}

static int memory_fd(const struct shm_image *image)
{
	return image->elsewhere ? image->memory_fd : image->fd;
}

int shm_image_reserve(struct shm_image *image, size_t offset, size_t size)
{
	if (offset > image->size || size > image->size - offset)
		return -ENOSPC;
	return image->fd >= 0 && size ? allocate(memory_fd(image), offset, size) : 0;
}

int shm_image_release(struct shm_image *image, size_t offset, size_t size)
{
	int err;

	if (offset > image->size || size > image->size - offset)
		return -EINVAL;
	if (image->fd < 0)
		err = madvise(image->memory + offset, size, MADV_DONTNEED);
	else
		err = fallocate(memory_fd(image), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		                (off_t)offset, (off_t)size);
	return err ? -errno : 0;
}

static bool is_saved(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && stat.st_mode & MODE_SAVED;
}

void shm_image_mark_saved(const struct shm_image *image)
{
	if (image->fd >= 0)
		fchmod(image->fd, S_IRUSR | S_IWUSR | MODE_SAVED);
}

bool shm_image_drop_empty(const char *name)
{
	int fd = leftover_open(name);
	bool is_empty = fd >= 0 && (shm_image_is_stub(fd) || is_saved(fd));

	if (is_empty) {
		control_socket_remove(name);
		unlink(name);
	}
	if (fd >= 0)
		close(fd);
	return is_empty;
}

/* Puts the leftover of that name aside, unless its recorder lives. -ENOENT: there is none. */
static int leftover_keep(const char *name)
{
	char old[PATH_MAX];
	int fd, err = 0;

	if (shm_image_drop_empty(name))
		return -ENOENT;
	fd = leftover_open(name);
	if (fd < 0)
		return fd;
	snprintf(old, sizeof(old), "%s.old", name);
	if (rename(name, old))
		err = -errno;
	close(fd);
	return err;
}

static int image_link(const struct shm_image *image)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", image->fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, image->name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

void shm_image_publish(struct shm_image *image)
{
	int err;

	if (image->fd < 0)
		return;
	err = image_link(image);
	if (err == -EEXIST) {
		err = leftover_keep(image->name);
		image->kept_leftover = !err;
		if (!err || err == -ENOENT)
			err = image_link(image);
	}
	if (!err)
		return;
	image->name_taken = err == -EBUSY || err == -EALREADY ? err : 0;
	free(image->name);
	image->name = NULL;
}

static int image_map(struct shm_image *image, int protection, int flags)
{
	const int fd = memory_fd(image);
	struct stat stat;
	void *memory;

	if (fstat(fd, &stat))
		return -errno;
	if (stat.st_size <= 0)
		return -EBADMSG;
	image->size = (size_t)stat.st_size;
	memory = mmap(NULL, image->size, protection, flags | MAP_NORESERVE, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	image->memory = memory;
	return 0;
}

static const char *const suffixes[] = {"", ".old"};

int shm_image_peek(const char *name, enum shm_image_holder *holder)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = own_open(name, O_RDONLY);

	if (fd < 0)
		return fd;
	*holder = SHM_IMAGE_NOBODY;
	if (!fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK)
		*holder = lock.l_start == RECOVERY ? SHM_IMAGE_RECOVERY : SHM_IMAGE_RECORDER;
	/* A recorder that ends takes the name away before it gives the lock back. */
	if (!check_name(name, fd))
		return fd;
	close(fd);
	return -ENOENT;
}

bool shm_image_held(const char *trace_path, enum shm_image_holder wanted)
{
	bool held = false;

	for (unsigned i = 0; !held && i < 2; i++) {
		char *name = image_name(trace_path, suffixes[i]);
		enum shm_image_holder holder;
		int fd = name ? shm_image_peek(name, &holder) : -ENOMEM;

		held = fd >= 0 && holder == wanted &&
		       (holder != SHM_IMAGE_NOBODY || !shm_image_drop_empty(name));
		if (fd >= 0)
			close(fd);
		free(name);
	}
	return held;
}

bool shm_image_is_named(const char *name, const char *trace_path)
{
	bool is = false;

	for (unsigned i = 0; !is && i < 2; i++) {
		char *right = image_name_of(owner_in(name), trace_path, suffixes[i]);

		is = right && !strcmp(name, right);
		free(right);
	}
	return is;
}

char *shm_image_found(const char *trace_path)
{
	struct stat stat;

	for (unsigned i = 0; i < 2; i++) {
		char *name = image_name(trace_path, suffixes[i]);

		if (name && !lstat(name, &stat))
			return name;
		free(name);
	}
	return NULL;
}

int shm_image_open(struct shm_image *image, const char *trace_path)
{
	int err = -ENOENT, first = 0;

	*image = (struct shm_image){.fd = -1};
	/* While a new recorder writes this trace, an older leftover can be had all the same. */
	for (unsigned i = 0; i < 2 && image->fd < 0; i++) {
		free(image->name);
		image->name = image_name(trace_path, suffixes[i]);
		if (!image->name)
			return -ENOMEM;
		image->fd =
			shm_image_drop_empty(image->name) ? -ENODATA : leftover_open(image->name);
		if (!i)
			first = image->fd;
	}
	err = image->fd < 0 ? (first == -ENOENT ? image->fd : first)
	                    : image_map(image, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	if (err)
		shm_image_close(image);
	return err;
}

int shm_image_watch(struct shm_image *image, const char *trace_path)
{
	char *name = image_name(trace_path, "");
	int err = name ? shm_image_watch_file(image, name) : -ENOMEM;

	if (!name)
		*image = (struct shm_image){.fd = -1};
	free(name);
	return err;
}

static int fetch_memory(struct shm_image *image)
{
	if (!shm_image_is_stub(image->fd))
		return 0;
	image->memory_fd = image_memory_fetch(image->name, image->fd);
	image->elsewhere = image->memory_fd >= 0;
	return image->elsewhere ? 0 : image->memory_fd;
}

int shm_image_watch_file(struct shm_image *image, const char *name)
{
	int err;

	*image = (struct shm_image){.fd = -1, .name = strdup(name)};
	if (!image->name)
		return -ENOMEM;
	image->fd = living_open(image->name);
	err = image->fd < 0 ? image->fd : fetch_memory(image);
	if (!err)
		err = image_map(image, PROT_READ, MAP_SHARED);
	if (err)
		shm_image_close(image);
	return err;
}

bool shm_image_is_alive(const struct shm_image *image, bool *named)
{
	*named = !check_name(image->name, image->fd);
	return is_locked(image->fd);
}

void shm_image_close(struct shm_image *image)
{
	if (image->memory)
		munmap(image->memory, image->size);
	if (image->fd >= 0)
		close(image->fd);
	if (image->elsewhere)
		close(image->memory_fd);
	free(image->name);
	*image = (struct shm_image){.fd = -1};
}

/* Others may have put the file aside, or a newer one in its place. */
void shm_image_unlink(struct shm_image *image)
{
	if (image->name && !check_name(image->name, image->fd)) {
		control_socket_remove(image->name);
		unlink(image->name);
	}
	free(image->name);
	image->name = NULL;
}
