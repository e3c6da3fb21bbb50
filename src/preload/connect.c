/* How a process meets the recorder, and what a fork undoes. */
#include "preload/comms.h"
#include "preload/omp_regions.h"
#include "preload/region_names.h"
#include "preload/requests.h"
#include "preload/scale.h"
#include "preload/sites.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_S 2 /* for a recorder that is busy, once a process */

/* --- connecting ------------------------------------------------------------------------------- */

/* Whether a signal cut something short that is to be tried again. They may come for ever. */
static bool was_cut_short(uint64_t until)
{
	return errno == EINTR && ring_ticks(RING_CLOCK_MONOTONIC) < until;
}

static uint64_t patience_ends(void)
{
	return ring_ticks(RING_CLOCK_MONOTONIC) + PATIENCE_S * (uint64_t)1000000000;
}

/* Returns the length of the recorder's name, which may be no name; 0: there is none. */
static size_t put_address(struct sockaddr_un *address, const char *name_and_key)
{
	const char *colon = name_and_key ? strchr(name_and_key, ':') : NULL;
	size_t length = colon ? (size_t)(colon - name_and_key) : 0;

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (length > sizeof(address->sun_path) - 1)
		return 0;
	memcpy(address->sun_path + 1, name_and_key, length);
	return length;
}

static socklen_t address_size(size_t length)
{
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

/* Once connected, the socket takes from the recorder alone; then it gets a name to be answered at.
 */
static bool ask(int fd, const struct sockaddr_un *recorder, size_t length, const char *key)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	const struct sockaddr any = {.sa_family = AF_UNIX};
	uint64_t until = patience_ends();
	ssize_t sent, size = (ssize_t)strlen(key);
	const int yes = 1;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)recorder, address_size(length)) ||
	    bind(fd, &any, sizeof(any.sa_family)) ||
	    setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)))
		return false;
	do
		sent = send(fd, key, (size_t)size, MSG_NOSIGNAL);
	while (sent < 0 && was_cut_short(until));
	return sent == size;
}

static int ask_recorder(const char *name_and_key)
{
	struct sockaddr_un address;
	size_t length = put_address(&address, name_and_key);
	int fd;

	if (!length)
		return -1;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ask(fd, &address, length, name_and_key + length + 1))
		return fd;
	close(fd);
	return -1;
}

/* The name of a recorder that is gone may be a stranger's. 65534 is who has no number here. */
static bool is_recorder(const struct ucred *who)
{
	return who->uid == 0 || who->uid == getuid() || who->uid == geteuid() || who->uid == 65534;
}

/* The descriptor that came with a message, if it came from a recorder; or -1. */
static int take_descriptor(struct msghdr *message)
{
	struct ucred who = {.uid = (uid_t)-1};
	struct cmsghdr *got;
	int received = -1;

	for (got = CMSG_FIRSTHDR(message); got; got = CMSG_NXTHDR(message, got))
		if (got->cmsg_type == SCM_RIGHTS && got->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(&received, CMSG_DATA(got), sizeof(received));
		else if (got->cmsg_type == SCM_CREDENTIALS)
			memcpy(&who, CMSG_DATA(got), sizeof(who));
	if (received < 0 || is_recorder(&who))
		return received;
	close(received);
	return -1;
}

static int receive_descriptor(int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	uint64_t until = patience_ends();
	ssize_t size;

	do
		size = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (size < 0 && was_cut_short(until));
	return size == 1 ? take_descriptor(&message) : -1;
}

/* Nobody can take away from it what would be a fault to touch then. */
static bool is_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat memory;

	return seals >= 0 && seals & F_SEAL_SHRINK && !fstat(fd, &memory) &&
	       memory.st_size >= (off_t)ring_memory_size();
}

static struct ring_process *map_memory(int fd)
{
	struct ring_process *shared = MAP_FAILED;

	if (is_sealed(fd))
		shared = mmap(NULL, ring_memory_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return NULL;
	if (shared->version == RING_VERSION)
		return shared;
	munmap(shared, ring_memory_size());
	return NULL;
}

/* From another network no message arrives; but of mapped code the kernel tells, with its name. */
static void tell_unheard(void)
{
	int fd = (int)syscall(SYS_memfd_create, RING_UNHEARD, MFD_CLOEXEC);
	void *page;

	if (fd < 0)
		return;
	page = mmap(NULL, PROCESS_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (page != MAP_FAILED)
		munmap(page, PROCESS_PAGE);
	close(fd);
}

/* Where none came it was refused, which the recorder knows. */
static struct ring_process *map_received(int memory_fd)
{
	struct ring_process *shared;

	if (memory_fd < 0)
		return NULL;
	shared = map_memory(memory_fd);
	close(memory_fd);
	if (!shared)
		tell_unheard();
	return shared;
}

static struct ring_process *meet_recorder(const char *name_and_key)
{
	struct ring_process *shared;
	int socket_fd;

	if (!name_and_key)
		return NULL;
	socket_fd = ask_recorder(name_and_key);
	if (socket_fd < 0) {
		tell_unheard();
		return NULL;
	}
	shared = map_received(receive_descriptor(socket_fd));
	close(socket_fd);
	return shared;
}

/* When this process began. */
static uint64_t loaded;

/* --- beginning and forking -------------------------------------------------------------------- */

/* The rings stay the parent's. A child that makes calls gets its own. */
static void forked(void)
{
	struct ring_process *shared = process.met;

	pthread_mutex_init(&process.lock, NULL);
	loaded = ring_ticks(RING_CLOCK_MONOTONIC);
	if (!process.starting)
		return;
	this_thread.inside = INSIDE_OWN;
	process.shared = process.met = NULL;
	if (shared)
		munmap(shared, ring_memory_size());
	process.starting = process.started = process.rings_in_vain = false;
	process.in_vain = 0;
	comm_forked();
	requests_forked();
	regions_forked();
	omp_forked();
	sites_forked();
	thread_stop(&this_thread);
	memset(&this_thread, 0, sizeof(this_thread));
}

/* Whether this is a child of the process that met the recorder. */
static bool is_child(void)
{
	return __atomic_load_n(&process.met, __ATOMIC_ACQUIRE) && !process.shared;
}

/*
 * The parent's other threads may have changed their memory at any moment of the fork: nothing of it
 * is freed.
 */
void process_look(struct thread *thread)
{
	if (is_child()) {
		thread->scratch = NULL;
		forked();
	}
	thread->of = process.shared;
}

/*
 * Other destructors may make calls as well. Those that ask for it have another turn, so often; in
 * the last one the thread's calls have been made, but for those of others who wait as long.
 */
static void thread_ended(void *arg)
{
	struct thread *thread = arg;

	if (++thread->turns < PTHREAD_DESTRUCTOR_ITERATIONS &&
	    !pthread_setspecific(process.key, thread))
		return;
	thread->inside = INSIDE_OWN;
	scale_end(thread);
	thread_stop(thread);
	if (thread->ring)
		__atomic_store_n(&thread->ring->state, RING_ENDED, __ATOMIC_RELEASE);
	thread->ring = NULL;
	thread->calls = false;
	thread->ended = true;
	thread->inside = 0;
}

/*
 * A program of another C library than ours loads us as well, and must not miss a function: glibc's
 * pthread_atfork() is linked into its callers and calls the first of these, musl has the second.
 *
 * Not later than now: while a thread meets the recorder another one may fork, and what holds a lock
 * of ours must not ask for that of forks, which a thread has while it is in fork(), and gets
 * signals.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                             void *library) __attribute__((weak));
#pragma weak pthread_atfork

/* Where the recorder is. A program may clear its environment before it makes its first call. */
static char recorder[256];

static const char *find_recorder(void)
{
	return *recorder ? recorder : getenv(RING_VARIABLE);
}

__attribute__((constructor)) static void keep_recorder(void)
{
	const char *told = getenv(RING_VARIABLE);

	if (told && strlen(told) < sizeof(recorder))
		memcpy(recorder, told, strlen(told) + 1);
	loaded = ring_ticks(RING_CLOCK_MONOTONIC);
}

__attribute__((constructor)) static void hear_of_forks(void)
{
	if (__register_atfork)
		__register_atfork(NULL, NULL, forked, NULL);
	else if (pthread_atfork)
		pthread_atfork(NULL, NULL, forked);
}

static void connect_process(void)
{
	struct ring_process *shared = meet_recorder(find_recorder());

	if (shared && !process.have_key)
		process.have_key = !pthread_key_create(&process.key, thread_ended);
	if (shared) {
		process.clock = shared->clock;
		process.ahead = shared->ahead;
		process.next_request += !process.next_request;
		shared->pid = (uint32_t)getpid();
		shared->loaded = loaded;
		madvise(&process, offsetof(struct process, met), MADV_WIPEONFORK);
		__atomic_store_n(&process.shared, shared, __ATOMIC_RELEASE);
		/* Pairs with is_child(): who sees that sees what shared is as well. */
		__atomic_store_n(&process.met, shared, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&process.started, true, __ATOMIC_RELEASE);
}

/* --- waiting for the recorder ----------------------------------------------------------------- */

#define LOOK_NS 100000000 /* whether it lives */

/* The kernel takes the name away from a recorder that has ended, however it ended. */
static bool recorder_lives(void)
{
	struct sockaddr_un address;
	size_t length = put_address(&address, find_recorder());
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool lives = true;

	if (fd < 0)
		return true;
	if (connect(fd, (const struct sockaddr *)&address, address_size(length)))
		lives = errno != ECONNREFUSED;
	close(fd);
	return lives;
}

void process_hold(void)
{
	const struct timespec patience = {.tv_nsec = LOOK_NS};
	struct ring_process *shared = process.shared;
	int errnum = errno;

	/* Pairs with the recorder's release. */
	while (__atomic_load_n(&shared->hold, __ATOMIC_ACQUIRE) && !process_left_alone(shared) &&
	       recorder_lives()) {
		__atomic_store_n(&shared->held, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &shared->hold, FUTEX_WAIT, 1, &patience, NULL, 0);
	}
	__atomic_store_n(&shared->held, 0, __ATOMIC_RELEASE);
	errno = errnum;
}

/* A thread that is to be cancelled would end where it waits here, and keep the lock. */
bool process_start(void)
{
	int errnum = errno, cancelling;

	if (is_child())
		forked();
	process.starting = true;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
	pthread_mutex_lock(&process.lock);
	if (!process.started)
		connect_process();
	pthread_mutex_unlock(&process.lock);
	pthread_setcancelstate(cancelling, NULL);
	errno = errnum;
	return process.shared;
}
