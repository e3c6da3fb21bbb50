/* A listener at the socket of an image may send something else than the image's memory. */
#include "cases.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/steer/control.h"
#include "trace/live/image_memory.h"
#include "trace/live/shm_image.h"

struct place {
	char folder[64], image[96];
	int stub, listener;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	strcpy(p->folder, "/tmp/adaptrace-test-XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	snprintf(p->image, sizeof(p->image), "%s/image", p->folder);
	p->stub = open(p->image, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(p->stub >= 0);
	assert_int_equal(ftruncate(p->stub, SHM_IMAGE_STUB), 0);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	close(p->stub);
	unlink(p->image);
	control_socket_remove(p->image);
	rmdir(p->folder);
	free(p);
	return 0;
}

static int memory_of(size_t size, unsigned seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static unsigned count_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	unsigned nr = 0;

	assert_non_null(files);
	while (readdir(files))
		nr++;
	closedir(files);
	return nr;
}

/* Answers the one client with these descriptors. */
static void answer(int listener, const int *fds, unsigned nr)
{
	static char packet[] = "{\"ok\":true,\"time_ns\":1}";
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(4 * sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(nr * sizeof(int)),
	                        .cmsg_level = SOL_SOCKET,
	                        .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {packet, sizeof(packet) - 1};
	struct msghdr message = {.msg_iov = &part,
	                         .msg_iovlen = 1,
	                         .msg_control = nr ? &control : NULL,
	                         .msg_controllen = nr ? CMSG_SPACE(nr * sizeof(int)) : 0};
	char request[CONTROL_PACKET_MAX];
	int client;

	while ((client = accept(listener, NULL, NULL)) < 0)
		usleep(1000);
	if (recv(client, request, sizeof(request), 0) <= 0)
		_exit(1);
	if (nr)
		memcpy(CMSG_DATA(&control.header), fds, nr * sizeof(int));
	_exit(sendmsg(client, &message, 0) < 0);
}

/* Fetches from a listener that answers so, and checks that no descriptor is left open. */
static int fetched(struct place *p, const int *fds, unsigned nr)
{
	const unsigned before = count_files();
	int listener = control_socket_listen(p->image), got, status;
	pid_t child = fork();

	assert_true(listener >= 0);
	if (!child)
		answer(listener, fds, nr);
	got = image_memory_fetch(p->image, p->stub);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(listener);
	if (got >= 0)
		close(got);
	assert_int_equal(count_files(), before);
	return got;
}

static void nothing_else_is_taken(void **state)
{
	struct place *p = *state;
	const size_t size = (size_t)1 << 20;
	const int good = memory_of(size, IMAGE_MEMORY_SEALS), unsealed = memory_of(size, 0);
	const int small = memory_of(SHM_IMAGE_STUB, IMAGE_MEMORY_SEALS);
	const int shrinks = memory_of(size, F_SEAL_GROW | F_SEAL_SEAL);
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC), several[] = {good, good, good};

	assert_true(fetched(p, &good, 1) >= 0);
	assert_int_equal(fetched(p, &unsealed, 1), -EBADMSG);
	assert_int_equal(fetched(p, &shrinks, 1), -EBADMSG);
	assert_int_equal(fetched(p, &small, 1), -EBADMSG);
	assert_int_equal(fetched(p, &null, 1), -EBADMSG);
	assert_int_equal(fetched(p, &p->stub, 1), -EBADMSG);
	assert_int_equal(fetched(p, NULL, 0), -EBADMSG);
	fetched(p, several, 3); /* one of them is taken, or none */
	close(good);
	close(unsealed);
	close(small);
	close(shrinks);
	close(null);
}

static void refuse(void *arg, const struct control_request *request, const struct ucred *peer,
                   struct control_answer *to)
{
	(void)arg;
	(void)request;
	(void)peer;
	(void)to;
}

/* A recorder serves one client, which can only read. */
static void serve(struct place *p, int memory)
{
	struct control control;

	if (control_open(&control, p->image, memory))
		_exit(1);
	for (unsigned i = 0; i < 2000; i++) {
		control_serve(&control, refuse, NULL);
		usleep(1000);
	}
	_exit(0);
}

static void a_recorder_hands_its_memory_out(void **state)
{
	struct place *p = *state;
	const int memory = memory_of(1 << 20, IMAGE_MEMORY_SEALS);
	pid_t child;
	int got = -1;

	assert_int_equal(pwrite(memory, "here", 4, 0), 4);
	child = fork();
	if (!child)
		serve(p, memory);
	for (unsigned i = 0; i < 1000 && got < 0; i++) {
		usleep(1000);
		got = image_memory_fetch(p->image, p->stub);
	}
	assert_true(got >= 0);
	assert_int_equal(pwrite(got, "gone", 4, 0), -1);
	assert_int_equal(fcntl(got, F_GETFL) & O_ACCMODE, O_RDONLY);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(got);
	close(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_else_is_taken),
		TEST(a_recorder_hands_its_memory_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
