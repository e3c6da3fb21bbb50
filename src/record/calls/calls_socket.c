#include "record/calls/calls_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libgen.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static int make_key(char key[RING_KEY_SIZE + 1])
{
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -errno;
	snprintf(key, RING_KEY_SIZE + 1, "%016llx%016llx", (unsigned long long)random[0],
	         (unsigned long long)random[1]);
	return 0;
}

/*
 * Lets the kernel drop what comes without the key: anybody on the node may send, and would keep the
 * recorder busy, and who is to be recorded from being heard.
 */
static int demand_key(int fd, const char *key)
{
	enum { NR_WORDS = RING_KEY_SIZE / 4 };
	struct sock_filter code[2 + 2 * NR_WORDS + 2], *at = code;
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	uint8_t left = 2 * NR_WORDS + 1; /* instructions to the last one */
	uint32_t word;

	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0);
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RING_KEY_SIZE, 0, left);
	for (uint32_t i = 0; i < NR_WORDS; i++) {
		memcpy(&word, key + 4 * i, sizeof(word));
		left -= 2;
		*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4 * i);
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(word), 0,
		                                     left);
	}
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	*at = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

int calls_socket_open(struct calls_socket *s)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + 1 + RING_KEY_SIZE;
	const int yes = 1;
	int err = make_key(s->name);

	if (!err)
		err = make_key(s->key);
	s->fd = err ? -1 : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return err ? err : -errno;
	memcpy(address.sun_path + 1, s->name, RING_KEY_SIZE);
	if (!setsockopt(s->fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) &&
	    !demand_key(s->fd, s->key) && !bind(s->fd, (struct sockaddr *)&address, size))
		return 0;
	err = -errno;
	calls_socket_close(s);
	return err;
}

void calls_socket_close(struct calls_socket *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* --- the environment -------------------------------------------------------------------------- */

static bool is_variable(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(entry, name, length) && entry[length] == '=';
}

static const char *find_variable(char **environment, const char *name)
{
	for (; *environment; environment++)
		if (is_variable(*environment, name))
			return *environment + strlen(name) + 1;
	return NULL;
}

/* Keeps libraries that are preloaded already: they come after ours. */
static int print_preload(char *text, const char *variable, const char *already, const char *path)
{
	if (!already || !*already || strstr(already, path))
		return sprintf(text, "%s=%s", variable, already && *already ? already : path);
	return sprintf(text, "%s=%s:%s", variable, path, already);
}

char **calls_socket_environment(const struct calls_socket *s, char **environment,
                                const struct call_library *library, const char *path)
{
	const char *variable = library->variable, *already = find_variable(environment, variable);
	size_t size = strlen(variable) + sizeof("=:") + strlen(path) +
	              (already ? strlen(already) : 0) + sizeof(RING_VARIABLE "=:") +
	              2 * RING_KEY_SIZE + sizeof(RING_OPENMP_VARIABLE "=") +
	              (s->openmp ? strlen(s->openmp) : 0);
	size_t nr = 0, kept = 0;
	char **variables, *text;

	while (environment[nr])
		nr++;
	variables = malloc((nr + 4) * sizeof(*variables) + size);
	if (!variables)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		if (!is_variable(environment[i], variable) &&
		    !is_variable(environment[i], RING_VARIABLE) &&
		    !is_variable(environment[i], RING_OPENMP_VARIABLE))
			variables[kept++] = environment[i];
	text = variables[kept++] = (char *)&variables[nr + 4];
	text += print_preload(text, variable, already, path) + 1;
	variables[kept++] = text;
	text += sprintf(text, RING_VARIABLE "=%s:%s", s->name, s->key) + 1;
	if (s->openmp) {
		variables[kept++] = text;
		sprintf(text, RING_OPENMP_VARIABLE "=%s", s->openmp);
	}
	variables[kept] = NULL;
	return variables;
}

/* --- who asks --------------------------------------------------------------------------------- */

int calls_socket_next(const struct calls_socket *s, struct calls_asker *asker)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control = {0};
	struct ucred who;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {
		.msg_name = &asker->address,
		.msg_namelen = sizeof(asker->address),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t size = recvmsg(s->fd, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = size < 0 ? NULL : CMSG_FIRSTHDR(&message);

	if (size < 0)
		return -1;
	if (!header || header->cmsg_type != SCM_CREDENTIALS)
		return 0;
	memcpy(&who, CMSG_DATA(header), sizeof(who));
	asker->pid = who.pid;
	asker->address_size = message.msg_namelen;
	return who.pid > 0 && (who.uid == geteuid() || geteuid() == 0);
}

bool calls_socket_answer(const struct calls_socket *s, struct calls_asker *asker, int memory)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {"", 1};
	struct msghdr message = {
		.msg_name = &asker->address,
		.msg_namelen = asker->address_size,
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = memory < 0 ? NULL : &control,
		.msg_controllen = memory < 0 ? 0 : sizeof(control),
	};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &memory, sizeof(memory));
	return sendmsg(s->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* --- the library ------------------------------------------------------------------------------ */

static int try(char path[PATH_MAX], const char *folder, const char *below, const char *library)
{
	if (snprintf(path, PATH_MAX, "%s/%s%s", folder, below, library) >= PATH_MAX)
		return -ENAMETOOLONG;
	return access(path, R_OK) ? -ENOENT : 0;
}

int preload_path(char path[PATH_MAX], const struct call_library *library)
{
	char self[PATH_MAX], *folder;
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int err;

	if (size < 0)
		return -errno;
	self[size] = '\0';
	folder = dirname(self);
	err = try(path, folder, "", library->library);
	if (err)
		err = try(path, folder, "../lib/adaptrace/", library->library);
	if (!err && strpbrk(path, ": \t\n"))
		err = -EINVAL;
	return err;
}
