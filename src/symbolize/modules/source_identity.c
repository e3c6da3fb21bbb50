#include "symbolize/modules/source_identity.h"
#include "symbolize/modules/target_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* libiberty has this function, but its package has no header for it. */
extern void *md5_buffer(const char *text, size_t size, void *md5);

uint64_t source_changed(const struct stat *st)
{
	return st->st_mtim.tv_sec < 0
	               ? 0
	               : (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

static void set_time(struct source_identity *identity, const struct stat *st)
{
	identity->known |= SOURCE_HAS_TIME;
	identity->size = (uint64_t)st->st_size;
	identity->changed = source_changed(st);
}

static void set_hash(struct source_identity *identity, const char *text, size_t size)
{
	identity->known |= SOURCE_HAS_HASH;
	identity->hash = XXH3_64bits(text, size);
}

/* A hash could tell what a short text is that others may not read, and a trace is passed on. */
static bool may_hash(const struct stat *st, size_t left)
{
	return (uint64_t)st->st_size <= left && (geteuid() || st->st_mode & S_IROTH);
}

int source_identity_read(struct source_identity *identity, const char *path, size_t *left)
{
	struct stat st;
	int fd = path[0] == '/' ? target_file_open(path, 0, &st) : -EINVAL;
	char *text = NULL;
	size_t size;

	*identity = (struct source_identity){0};
	if (fd < 0)
		return fd;
	set_time(identity, &st);
	if (may_hash(&st, *left < SOURCE_MAX_SIZE ? *left : SOURCE_MAX_SIZE))
		text = target_file_read(fd, (size_t)st.st_size, &size);
	if (text) {
		*left -= size;
		set_hash(identity, text, size);
	}
	free(text);
	close(fd);
	return 0;
}

void source_identity_of_text(struct source_identity *identity, const struct stat *st,
                             const char *text, size_t size)
{
	*identity = (struct source_identity){.known = SOURCE_HAS_MD5};
	set_time(identity, st);
	set_hash(identity, text, size);
	md5_buffer(text, size, identity->md5);
}

/* Text decides where both sides know it: copies of a file have their own times. */
static bool agrees(const struct source_identity *a, const struct source_identity *b)
{
	const uint32_t both = a->known & b->known;

	if (both & SOURCE_HAS_MD5)
		return !memcmp(a->md5, b->md5, sizeof(a->md5));
	if (both & SOURCE_HAS_HASH)
		return a->hash == b->hash && a->size == b->size;
	if (both & SOURCE_HAS_TIME)
		return a->size == b->size && a->changed == b->changed;
	return true;
}

void source_identity_join(struct source_identity *identity, const struct source_identity *other)
{
	const uint32_t fresh = other->known & ~identity->known;

	if (!agrees(identity, other))
		identity->known |= SOURCE_DIFFERS;
	if (fresh & SOURCE_HAS_MD5)
		memcpy(identity->md5, other->md5, sizeof(identity->md5));
	if (fresh & SOURCE_HAS_HASH)
		identity->hash = other->hash;
	if (fresh & (SOURCE_HAS_HASH | SOURCE_HAS_TIME))
		identity->size = other->size;
	if (fresh & SOURCE_HAS_TIME ||
	    (other->known & SOURCE_HAS_TIME && other->changed < identity->changed))
		identity->changed = other->changed;
	identity->known |= other->known;
}

bool source_identity_matches(const struct source_identity *identity,
                             const struct source_identity *file)
{
	return !(identity->known & SOURCE_DIFFERS) && agrees(identity, file);
}
