#include "symbolize/modules/files_aside.h"

#include "base/side_process.h"
#include "symbolize/modules/jitdump_files.h"
#include "symbolize/modules/mount_point.h"
#include "symbolize/modules/target_file.h"
#include "symbolize/modules/target_folders.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_READ    4096
#define MOST_STALLS 2
#define LOCAL_MS    10000 /* a disk that spins up */

struct files_aside {
	struct side_process process; /* fd -1: not started yet, or ended */
	int patience_ms;
	struct mounts dead; /* file systems that do not answer */
	unsigned nr_stalls; /* for which none could be blamed */
};

enum request_type { OPEN, REWRITTEN, READ, CODE, COPY, JITDUMP, FOLDER };

struct request {
	enum request_type type;
	struct module_file said; /* path: the one below */
	bool has_seen;
	struct file_stamp seen;
	size_t size; /* COPY: at most */
	off_t offset;
	int64_t before; /* CODE, with lo and hi */
	uint64_t lo, hi;
	char path[PATH_MAX];
};

struct reply {
	int err;
	struct mapped_file file; /* with the descriptor beside it */
	struct module_code code; /* CODE: the descriptor has its bytes */
	struct stat st;          /* COPY, JITDUMP, FOLDER */
	bool is_so;              /* REWRITTEN */
	ssize_t size;            /* READ */
	char bytes[MAX_READ];
};

/* --- packets with a descriptor ---------------------------------------------------------------- */

union fd_room {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int packet_send(int socket, const void *bytes, size_t size, int fd)
{
	union fd_room room = {0};
	struct iovec piece = {(void *)(uintptr_t)bytes, size};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = room.bytes;
		message.msg_controllen = sizeof(room.bytes);
		room.header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(&room.header), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -EPIPE;
}

/* fd is -1 where none came. */
static int packet_receive(int socket, void *bytes, size_t size, int *fd)
{
	union fd_room room = {0};
	struct iovec piece = {bytes, size};
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = room.bytes,
		.msg_controllen = sizeof(room.bytes),
	};
	struct cmsghdr *header;

	*fd = -1;
	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)size)
		return -EPIPE;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return 0;
}

/* --- the side process ------------------------------------------------------------------------- */

/* The descriptor of a copy to be read from its beginning; or -errno. */
static int copy_of(const void *bytes, size_t size)
{
	int fd = target_file_of_image(bytes, size);

	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static int copy_code(const struct request *request, struct reply *reply)
{
	int err = module_code_read(&reply->code, request->path, &request->said.build_id,
	                           request->before, request->lo, request->hi);

	if (err)
		return err;
	reply->file.fd = copy_of(reply->code.bytes, reply->code.size);
	free(reply->code.bytes);
	return reply->file.fd < 0 ? reply->file.fd : 0;
}

static int copy_file(const struct request *request, struct reply *reply)
{
	int fd = target_file_open(request->path, 0, &reply->st);
	char *bytes = NULL;
	size_t size;

	if (fd < 0)
		return fd;
	if ((uint64_t)reply->st.st_size > request->size) {
		close(fd);
		return -EFBIG;
	}
	bytes = target_file_read(fd, request->size, &size);
	close(fd);
	reply->file.fd = bytes ? copy_of(bytes, size) : -ENOMEM;
	free(bytes);
	return reply->file.fd < 0 ? reply->file.fd : 0;
}

/* The file of which pieces were read last. */
struct open_file {
	int fd; /* -1: none */
	dev_t dev;
	ino_t ino;
};

static void read_piece(const struct request *request, int fd, struct open_file *open,
                       struct reply *reply)
{
	const struct file_stamp *seen = &request->seen;

	reply->size = -1;
	if (open->fd < 0 || open->dev != seen->dev || open->ino != seen->ino) {
		if (open->fd >= 0)
			close(open->fd);
		*open = (struct open_file){target_file_again(fd), seen->dev, seen->ino};
	}
	if (open->fd >= 0 && mapped_file_unchanged(open->fd, seen, &request->said.build_id))
		reply->size = pread(open->fd, reply->bytes, request->size, request->offset);
}

/*
 * To close a file of a file system that does not answer can block, too, and so can the end of a
 * process that has it open. The caller gets a path handle instead.
 */
static int make_handle(int fd)
{
	int handle = target_file_handle(fd);

	close(fd);
	return handle;
}

static int open_jitdump(const struct request *request, struct stat *st)
{
	const struct module_file *said = &request->said;
	int fd = jitdump_open(said, st);

	return fd >= 0 && mount_point_is_foreign(fd, said->pid, said->path) ? make_handle(fd) : fd;
}

static void answer(const struct request *request, int fd, struct open_file *open,
                   struct reply *reply)
{
	const struct file_stamp *seen = request->has_seen ? &request->seen : NULL;

	*reply = (struct reply){.file.fd = -1};
	switch (request->type) {
	case OPEN:
		reply->err = mapped_file_open(&reply->file, &request->said, seen);
		if (!reply->err && reply->file.foreign)
			reply->file.fd = make_handle(reply->file.fd);
		break;
	case REWRITTEN:
		reply->is_so = mapped_file_rewritten(&request->said, &request->seen);
		break;
	case READ:
		read_piece(request, fd, open, reply);
		break;
	case CODE:
		reply->err = copy_code(request, reply);
		break;
	case COPY:
		reply->err = copy_file(request, reply);
		break;
	case JITDUMP:
		reply->file.fd = open_jitdump(request, &reply->st);
		break;
	case FOLDER:
		reply->file.fd = target_folder_open(request->said.pid, &reply->st);
		break;
	}
}

static void answer_requests(void *arg, int socket)
{
	struct request *request = malloc(sizeof(*request));
	struct open_file open = {.fd = -1};
	struct reply reply;
	int fd, err = request ? 0 : -ENOMEM;

	(void)arg;
	while (!err && !packet_receive(socket, request, sizeof(*request), &fd)) {
		request->said.path = request->path;
		answer(request, fd, &open, &reply);
		err = packet_send(socket, &reply, sizeof(reply), reply.file.fd);
		if (reply.file.fd >= 0)
			close(reply.file.fd);
		if (fd >= 0)
			close(fd);
	}
}

/* --- the caller ------------------------------------------------------------------------------- */

struct files_aside *files_aside_new(int patience_ms)
{
	struct files_aside *aside = calloc(1, sizeof(*aside));

	if (aside)
		*aside = (struct files_aside){.process.fd = -1, .patience_ms = patience_ms};
	return aside;
}

void files_aside_free(struct files_aside *aside)
{
	if (!aside)
		return;
	side_process_kill(&aside->process);
	free(aside);
}

/* File systems that the request may have to wait for. */
static struct mounts request_mounts(const struct request *request)
{
	struct mounts mounts = {0};

	if (request->type == READ) { /* it is open already */
		mounts_add(&mounts, request->seen.dev);
		return mounts;
	}
	mounts_on_way(&mounts, 0, request->path);
	if (request->said.pid > 0)
		mounts_on_way(&mounts, request->said.pid, request->path);
	return mounts;
}

static bool is_dead(const struct files_aside *aside, const struct request *request)
{
	struct mounts mounts;

	if (!aside->dead.nr || aside->nr_stalls >= MOST_STALLS)
		return aside->nr_stalls >= MOST_STALLS;
	mounts = request_mounts(request);
	return mounts_meet(&mounts, &aside->dead);
}

/* Waits longer for a file on a local disk: a local disk may be slow, but it does answer. */
static int await_reply(struct files_aside *aside, const struct request *request)
{
	struct mounts mounts;

	if (side_process_wait(&aside->process, aside->patience_ms, false))
		return 0;
	mounts = request_mounts(request);
	if (!mounts.nr && side_process_wait(&aside->process, LOCAL_MS, false))
		return 0;
	if (mounts.nr && aside->dead.nr < MOUNTS_MAX)
		mounts_add(&aside->dead, mounts.devs[mounts.nr - 1]);
	else
		aside->nr_stalls++;
	return -ETIMEDOUT;
}

static int ask(struct files_aside *aside, const struct request *request, int fd,
               struct reply *reply)
{
	int err = is_dead(aside, request) ? -ETIMEDOUT : 0;

	if (!err && aside->process.fd < 0)
		err = side_process_start(&aside->process, answer_requests, NULL, NULL, 0);
	if (err)
		return err;
	err = packet_send(aside->process.fd, request, sizeof(*request), fd);
	if (!err)
		err = await_reply(aside, request);
	if (!err)
		err = packet_receive(aside->process.fd, reply, sizeof(*reply), &reply->file.fd);
	if (err)
		side_process_kill(&aside->process);
	return err;
}

static struct request make_request(enum request_type type, const struct module_file *said,
                                   const struct file_stamp *seen)
{
	struct request request = {.type = type, .said = *said, .has_seen = seen != NULL};

	if (seen)
		request.seen = *seen;
	strncpy(request.path, said->path, sizeof(request.path) - 1);
	return request;
}

int files_aside_open(struct files_aside *aside, struct mapped_file *file,
                     const struct module_file *said, const struct file_stamp *seen)
{
	const struct request request = make_request(OPEN, said, seen);
	struct reply reply;
	int err = ask(aside, &request, -1, &reply);

	file->fd = -1;
	if (err == -EAGAIN) /* no further process is permitted */
		return mapped_file_open(file, said, seen);
	if (err)
		return err;
	*file = reply.file;
	return reply.err ? reply.err : reply.file.fd < 0 ? -ENOENT : 0;
}

bool files_aside_rewritten(struct files_aside *aside, const struct module_file *said,
                           const struct file_stamp *seen)
{
	const struct request request = make_request(REWRITTEN, said, seen);
	struct reply reply;

	return !ask(aside, &request, -1, &reply) && reply.is_so;
}

ssize_t files_aside_read(struct files_aside *aside, const char *path, int fd,
                         const struct file_stamp *stamp, const struct build_id *id, void *to,
                         size_t size, off_t offset)
{
	const struct module_file said = {.path = path, .build_id = *id};
	struct request request = make_request(READ, &said, stamp);
	struct reply reply;

	request.size = size < MAX_READ ? size : MAX_READ;
	request.offset = offset;
	if (ask(aside, &request, fd, &reply) || reply.size > (ssize_t)request.size)
		return -1;
	if (reply.size > 0)
		memcpy(to, reply.bytes, (size_t)reply.size);
	return reply.size;
}

static int take_code(struct module_code *code, const struct reply *reply)
{
	char *bytes = target_file_read(reply->file.fd, MODULE_CODE_MAX, &code->size);

	code->bytes = (uint8_t *)bytes;
	code->machine = reply->code.machine;
	code->changed = reply->code.changed;
	return bytes ? 0 : -ENOMEM;
}

int files_aside_code(struct files_aside *aside, struct module_code *code, const char *path,
                     const struct build_id *id, int64_t before, uint64_t lo, uint64_t hi)
{
	const struct module_file said = {.path = path, .build_id = *id};
	struct request request = make_request(CODE, &said, NULL);
	struct reply reply;
	int err;

	*code = (struct module_code){0};
	request.before = before;
	request.lo = lo;
	request.hi = hi;
	err = ask(aside, &request, -1, &reply);
	if (err == -EAGAIN)
		return module_code_read(code, path, id, before, lo, hi);
	if (err || reply.err)
		return err ? err : reply.err;
	err = take_code(code, &reply);
	close(reply.file.fd);
	return err;
}

int files_aside_copy(struct files_aside *aside, const char *path, size_t max, struct stat *st)
{
	const struct module_file said = {.path = path};
	struct request request = make_request(COPY, &said, NULL);
	struct reply reply;
	int err;

	request.size = max;
	err = ask(aside, &request, -1, &reply);
	if (err == -EAGAIN)
		return target_file_open(path, 0, st);
	if (err || reply.err)
		return err ? err : reply.err;
	*st = reply.st;
	return reply.file.fd;
}

static int ask_to_open(struct files_aside *aside, enum request_type type,
                       const struct module_file *said, struct stat *st)
{
	const struct request request = make_request(type, said, NULL);
	struct reply reply;
	int err = ask(aside, &request, -1, &reply);

	if (err)
		return err;
	*st = reply.st;
	return reply.file.fd < 0 ? -ENOENT : reply.file.fd;
}

int files_aside_jitdump(struct files_aside *aside, const struct module_file *said, struct stat *st)
{
	return ask_to_open(aside, JITDUMP, said, st);
}

int files_aside_folder(struct files_aside *aside, pid_t pid, struct stat *st)
{
	const struct module_file said = {.path = "/tmp", .pid = pid};

	return ask_to_open(aside, FOLDER, &said, st);
}
