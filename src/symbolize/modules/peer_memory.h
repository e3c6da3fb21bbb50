/*
 * The memory of other processes, which may let their readers wait: for a page of a file that a
 * program of theirs serves (FUSE), or one that they themselves will fill in (userfaultfd). Then
 * only SIGKILL ends the wait. So a thread of its own reads, and whoever asked goes on without.
 */
#ifndef SYMBOLIZE_MODULES_PEER_MEMORY_H
#define SYMBOLIZE_MODULES_PEER_MEMORY_H

#include <sys/types.h>
#include <sys/uio.h>

#define PEER_MEMORY_MOST   (64 << 10) /* bytes at once */
#define PEER_MEMORY_PIECES 16

struct peer_memory;

/* Its thread begins with the first read. NULL: no memory. */
struct peer_memory *peer_memory_new(void);
void peer_memory_free(struct peer_memory *memory);

/*
 * Reads pieces of a process, one behind the other. How many bytes there were, or -errno; -EAGAIN:
 * they do not come soon. Where that is up to the process, nothing is read for some time then, so
 * that none costs us more than a small share of our time.
 */
ssize_t peer_memory_read(struct peer_memory *memory, pid_t pid, const struct iovec *pieces,
                         unsigned nr, void *to);

#endif
