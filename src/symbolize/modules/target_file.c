#include "symbolize/modules/target_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

static int open_again(int fd, int flags)
{
	char self[sizeof("/proc/self/fd/") + 11];
	int again;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	again = open(self, flags | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

int target_file_handle(int fd)
{
	return open_again(fd, O_PATH);
}

bool target_file_is_handle(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_PATH);
}

int target_file_again(int fd)
{
	int copy;

	if (target_file_is_handle(fd))
		return open_again(fd, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return copy < 0 ? -errno : copy;
}

int target_file_open(const char *path, int flags, struct stat *st)
{
	struct stat own;
	int fd = -1, handle, err = 0;

	/* A path handle opens nothing: no pipe waits and no device acts before its type is known.
	 */
	handle = open(path, O_PATH | O_CLOEXEC | flags);
	if (handle < 0)
		return -errno;
	if (!st)
		st = &own;
	if (fstat(handle, st))
		err = -errno;
	else if (!S_ISREG(st->st_mode) || (!st->st_size && !(flags & O_NOFOLLOW)))
		err = -EINVAL;
	if (!err) {
		fd = target_file_again(handle);
		err = fd < 0 ? fd : 0;
	}
	close(handle);
	return err ? err : fd;
}

char *target_file_read(int fd, size_t max, size_t *size)
{
	size_t room = 64 * 1024, used = 0;
	char *text = malloc(room), *more;
	ssize_t got;

	while (text && used < max) {
		got = read(fd, text + used,
		           room - used - 1 < max - used ? room - used - 1 : max - used);
		if (got <= 0)
			break;
		used += (size_t)got;
		if (used + 1 < room)
			continue;
		more = realloc(text, room *= 2);
		if (!more)
			free(text);
		text = more;
	}
	if (!text)
		return NULL;
	text[used] = '\0';
	*size = used;
	return text;
}

/* The numbers in /proc/self/maps come from the same place in the kernel as those in the records. */
static bool mapping_numbers(uintptr_t addr, dev_t *dev, ino_t *ino)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t start, end;
	unsigned maj, min;
	char *line = NULL;
	size_t size = 0;
	uintmax_t number;
	bool found = false;

	while (maps && !found && getline(&line, &size, maps) > 0) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*x %x:%x %ju", &start, &end, &maj,
		           &min, &number) != 5)
			continue;
		found = start <= addr && addr < end;
	}
	if (found) {
		*dev = makedev(maj, min);
		*ino = (ino_t)number;
	}
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

/*
 * Some kernels record a file of overlayfs by the numbers of the layer below, and show those of the
 * overlay everywhere else. The inode is then mostly the same, the device never.
 */
static bool is_overlay(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

bool target_file_maps_as(int fd, const struct stat *st, dev_t dev, ino_t ino)
{
	dev_t map_dev = 0;
	ino_t map_ino = 0;
	void *page;
	bool found;

	if (st->st_dev == dev && st->st_ino == ino)
		return true;
	page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return false;
	found = mapping_numbers((uintptr_t)page, &map_dev, &map_ino);
	munmap(page, 1);
	if (found && map_dev == dev && map_ino == ino)
		return true;
	return st->st_ino == ino && is_overlay(fd);
}

bool target_file_has_generation(int fd, uint64_t generation)
{
	uint32_t found[2]; /* the kernel writes one, a FUSE server as many as the request says */

	return ioctl(fd, FS_IOC_GETVERSION, found) || found[0] == (uint32_t)generation;
}

static size_t vdso_size(const ElfW(Ehdr) * ehdr)
{
	const ElfW(Phdr) *phdr = (const void *)((const char *)ehdr + ehdr->e_phoff);
	size_t size = ehdr->e_shoff + (size_t)ehdr->e_shnum * ehdr->e_shentsize;
	unsigned i;

	for (i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_offset + phdr[i].p_filesz > size)
			size = phdr[i].p_offset + phdr[i].p_filesz;
	return size;
}

int target_file_of_image(const void *image, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	ssize_t done;

	if (fd < 0)
		return -errno;
	done = write(fd, image, size);
	if (done == (ssize_t)size)
		return fd;
	close(fd);
	return done < 0 ? -errno : -EIO;
}

int target_file_vdso(void)
{
	const ElfW(Ehdr) *image = (const void *)getauxval(AT_SYSINFO_EHDR);

	return image ? target_file_of_image(image, vdso_size(image)) : -ENOENT;
}
