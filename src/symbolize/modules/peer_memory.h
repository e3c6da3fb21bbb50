/*
 * The memory of other processes. Reading it may block: on a page of a file that a program serves
 * (FUSE), or on one that the process itself will fill in (userfaultfd). Then only SIGKILL ends the
 * wait. So a separate thread reads, and the caller continues without the data.
 */
#ifndef SYMBOLIZE_MODULES_PEER_MEMORY_H
#define SYMBOLIZE_MODULES_PEER_MEMORY_H

#include <sys/types.h>
#include <sys/uio.h>

#define PEER_MEMORY_MOST   (64 << 10) /* bytes at once */
#define PEER_MEMORY_PIECES 16

struct peer_memory;

/* The thread is started by the first read. Returns NULL if there is no memory. */
struct peer_memory *peer_memory_new(void);
void peer_memory_free(struct peer_memory *memory);

/*
 * Reads pieces of a process, one behind the other. Returns the number of bytes or -errno; -EAGAIN
 * if they do not come soon. If the delay is up to the process, its memory is not read for some time
 * then, so that waiting takes only a small share of the recorder's time.
 */
ssize_t peer_memory_read(struct peer_memory *memory, pid_t pid, const struct iovec *pieces,
                         unsigned nr, void *to);

#endif
