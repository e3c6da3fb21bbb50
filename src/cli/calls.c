#include "cli/calls_put.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

/* A thread that makes a million calls a second, no two alike, fills its ring in 40 ms. */
#define ROUND_NS      10000000
#define MIN_ROUND_NS  2500000
#define MAX_ROUND_NS  20000000
#define IDLE_ROUND_NS 100000000
#define MAX_ASKING    64 /* at once */

struct calls {
	struct calls_put put;
	int socket_fd, timer_fd, poll_fd;
	char name[RING_KEY_SIZE + 1]; /* of the socket */
	char key[RING_KEY_SIZE + 1];
	char **environment;
	char *preload, *variable; /* the strings in it that are ours */
	struct calls_clock clock;
	struct calls_names names;
	bool begun;
	struct calls_process *processes[CALLS_MAX_PROCESSES];
	unsigned nr_alive;
	long round_ns;
	uint64_t drained; /* when the last round began, or there was nobody, ns */
	uint64_t nr_processes, refused, lost_ended, malformed_ended;
	unsigned floor; /* as the targets know it */
	int refused_error;
	uint32_t closed;
	uint32_t instrument;
};

/* --- opening ---------------------------------------------------------------------------------- */

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

static int socket_open(struct calls *calls)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + 1 + RING_KEY_SIZE;
	const int yes = 1;
	int err = make_key(calls->name);

	if (!err)
		err = make_key(calls->key);
	if (err)
		return err;
	memcpy(address.sun_path + 1, calls->name, RING_KEY_SIZE);
	calls->socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (calls->socket_fd < 0 ||
	    setsockopt(calls->socket_fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) ||
	    demand_key(calls->socket_fd, calls->key) ||
	    bind(calls->socket_fd, (struct sockaddr *)&address, size))
		return -errno;
	return 0;
}

static int watch(struct calls *calls, int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(calls->poll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

struct calls *calls_open(void)
{
	struct calls *calls = calloc(1, sizeof(*calls));
	int error;

	if (!calls)
		return NULL;
	calls->socket_fd = calls->timer_fd = -1;
	calls->round_ns = ROUND_NS;
	calls->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	error = calls->poll_fd < 0 ? -errno : socket_open(calls);
	if (!error) {
		calls->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		error = calls->timer_fd < 0 ? -errno : watch(calls, calls->timer_fd, calls);
	}
	if (!error)
		error = watch(calls, calls->socket_fd, NULL);
	if (!error) {
		calls_clock_init(&calls->clock);
		return calls;
	}
	calls_close(calls);
	errno = -error;
	return NULL;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void calls_close(struct calls *calls)
{
	if (!calls)
		return;
	for (unsigned i = 0; i < calls->nr_alive; i++)
		calls_process_free(calls->processes[i]);
	if (calls->begun)
		calls_names_fini(&calls->names);
	close_if_open(calls->socket_fd);
	close_if_open(calls->timer_fd);
	close_if_open(calls->poll_fd);
	free(calls->environment);
	free(calls->preload);
	free(calls->variable);
	free(calls);
}

int calls_poll_fd(const struct calls *calls)
{
	return calls->poll_fd;
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

/* What is preloaded already stays, behind ours. */
static char *preload_string(const char *already, const char *library)
{
	char *string;

	if (!already || !*already || strstr(already, library))
		already = already && strstr(already, library) ? already : NULL;
	else if (asprintf(&string, "LD_PRELOAD=%s:%s", library, already) > 0)
		return string;
	if (asprintf(&string, "LD_PRELOAD=%s", already ? already : library) > 0)
		return string;
	return NULL;
}

char **calls_environment(struct calls *calls, char **environment, const char *library)
{
	size_t nr = 0, kept = 0;

	while (environment[nr])
		nr++;
	calls->environment = calloc(nr + 3, sizeof(*calls->environment));
	calls->preload = preload_string(find_variable(environment, "LD_PRELOAD"), library);
	if (asprintf(&calls->variable, RING_VARIABLE "=%s:%s", calls->name, calls->key) < 0)
		calls->variable = NULL;
	if (!calls->environment || !calls->preload || !calls->variable) {
		errno = ENOMEM;
		return NULL;
	}
	for (size_t i = 0; i < nr; i++)
		if (!is_variable(environment[i], "LD_PRELOAD") &&
		    !is_variable(environment[i], RING_VARIABLE))
			calls->environment[kept++] = environment[i];
	calls->environment[kept++] = calls->preload;
	calls->environment[kept] = calls->variable;
	return calls->environment;
}

/* --- processes -------------------------------------------------------------------------------- */

static void set_timer(struct calls *calls)
{
	long ns = !calls->nr_alive            ? 0
	          : calls->floor == NR_LEVELS ? IDLE_ROUND_NS
	                                      : calls->round_ns;
	const struct itimerspec time = {{0, ns}, {0, ns}};

	timerfd_settime(calls->timer_fd, 0, &time, NULL);
}

/* Who asks. */
struct asker {
	struct ucred who;
	struct sockaddr_un address;
	socklen_t address_size;
};

/* fd: -1: it is refused. */
static bool answer(const struct calls *calls, struct asker *asker, int fd)
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
		.msg_control = fd < 0 ? NULL : &control,
		.msg_controllen = fd < 0 ? 0 : sizeof(control),
	};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(calls->socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

#define NOW UINT64_MAX

/* Calls that have not returned lasted until then. */
static void end_process(struct calls *calls, unsigned i, uint64_t time)
{
	struct calls_process *process = calls->processes[i];
	uint64_t now;

	calls_process_look(process);
	calls_clock_read(&calls->clock);
	now = ring_ticks(RING_CLOCK_MONOTONIC);
	calls_process_end(process, time < now ? time : now, &calls->put.sink);
	calls->lost_ended += calls_process_lost(process);
	calls->malformed_ended += process->malformed;
	calls_process_free(process);
	calls->processes[i] = calls->processes[--calls->nr_alive];
	calls_put_forget(&calls->put);
}

/* A process that comes again has executed another program: what it was is over. */
static void end_earlier(struct calls *calls, pid_t pid, uint64_t time)
{
	for (unsigned i = 0; i < calls->nr_alive; i++)
		if (calls->processes[i]->pid == pid && calls->processes[i]->since < time) {
			end_process(calls, i, time);
			return;
		}
}

static void refuse(struct calls *calls, struct asker *asker, int error)
{
	calls->refused++;
	calls->refused_error = error;
	answer(calls, asker, -1);
}

static void welcome(struct calls *calls, struct asker *asker)
{
	struct calls_process *process;
	pid_t pid = asker->who.pid;
	int memory = -1;

	end_earlier(calls, pid, NOW);
	if (calls->nr_alive == CALLS_MAX_PROCESSES) {
		refuse(calls, asker, 0);
		return;
	}
	process = calls_process_new(pid, &calls->names, &calls->clock, &memory);
	if (!process) {
		refuse(calls, asker, -errno);
		return;
	}
	calls_process_close(process, calls->closed);
	process->shared->patience = calls->put.config.patience;
	process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process->pidfd >= 0 && !watch(calls, process->pidfd, process) &&
	    answer(calls, asker, memory)) {
		if (!calls->nr_alive)
			calls->drained = ring_ticks(RING_CLOCK_MONOTONIC);
		calls->processes[calls->nr_alive++] = process;
		calls->nr_processes++;
		set_timer(calls);
	} else {
		refuse(calls, asker, -errno);
		calls_process_free(process);
	}
	close(memory);
}

/* The next who asks. 1, 0: it has no business here, -1: there is none. */
static int next_asker(const struct calls *calls, struct asker *asker)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control = {0};
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
	ssize_t size = recvmsg(calls->socket_fd, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = size < 0 ? NULL : CMSG_FIRSTHDR(&message);

	if (size < 0)
		return -1;
	if (!header || header->cmsg_type != SCM_CREDENTIALS)
		return 0;
	memcpy(&asker->who, CMSG_DATA(header), sizeof(asker->who));
	asker->address_size = message.msg_namelen;
	return asker->who.pid > 0 && (asker->who.uid == geteuid() || geteuid() == 0);
}

static void take_processes(struct calls *calls)
{
	struct asker asker;
	int got = 0;

	for (unsigned i = 0; i < MAX_ASKING && got >= 0; i++) {
		got = next_asker(calls, &asker);
		if (got > 0)
			welcome(calls, &asker);
	}
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* Tells the targets what is wanted no more. */
static void follow_floor(struct calls *calls)
{
	unsigned floor = hmb_floor(calls->put.config.hmb, calls->put.config.kind);

	if (floor == calls->floor)
		return;
	calls->floor = floor;
	if (floor == NR_LEVELS)
		calls->closed = UINT32_MAX >> (32 - NR_CALL_CLASSES);
	else if (calls->put.config.policy == TRACE_POLICY_CLASS)
		calls->closed = (1U << floor) - 1;
	for (unsigned i = 0; i < calls->nr_alive; i++)
		calls_process_close(calls->processes[i], calls->closed);
	set_timer(calls);
}

/*
 * Each look takes a CPU from a rank for which others wait, so it should be worth it; but no ring
 * may overflow meanwhile. fill is that of the fullest ring, in 1024ths.
 */
static void adapt_round(struct calls *calls, unsigned fill)
{
	long ns = calls->round_ns;

	if (fill > 400 && ns > MIN_ROUND_NS)
		ns /= 2;
	else if (fill < 100 && ns < MAX_ROUND_NS)
		ns *= 2;
	if (ns == calls->round_ns)
		return;
	calls->round_ns = ns;
	set_timer(calls);
}

static void read_all(struct calls *calls)
{
	unsigned fill = 0, most = 0;

	calls->drained = ring_ticks(RING_CLOCK_MONOTONIC);
	for (unsigned i = 0; i < calls->nr_alive; i++) {
		calls_process_look(calls->processes[i]);
		fill = calls_process_fill(calls->processes[i]);
		most = fill > most ? fill : most;
	}
	adapt_round(calls, most);
	calls_clock_read(&calls->clock);
	calls_put_forget(&calls->put);
	for (unsigned i = 0; i < calls->nr_alive; i++)
		calls_process_read(calls->processes[i], ring_ticks(RING_CLOCK_MONOTONIC),
		                   &calls->put.sink);
	follow_floor(calls);
}

static void end_named(struct calls *calls, const struct calls_process *process)
{
	for (unsigned i = 0; i < calls->nr_alive; i++)
		if (calls->processes[i] == process) {
			end_process(calls, i, NOW);
			follow_floor(calls);
			return;
		}
}

void calls_drain(struct calls *calls)
{
	struct epoll_event events[16];
	uint64_t expirations;
	bool read_now = false, knock = false;
	int nr = epoll_wait(calls->poll_fd, events, 16, 0);

	/* Who comes gets memory that who goes has left, so who goes is first. */
	for (int i = 0; i < nr; i++) {
		if (!events[i].data.ptr)
			knock = true;
		else if (events[i].data.ptr != calls)
			end_named(calls, events[i].data.ptr);
		else if (read(calls->timer_fd, &expirations, sizeof(expirations)) > 0)
			read_now = true;
	}
	if (knock)
		take_processes(calls);
	if (read_now)
		read_all(calls);
}

uint64_t calls_drained(const struct calls *calls)
{
	return calls->nr_alive ? calls->drained : UINT64_MAX;
}

int calls_begin(struct calls *calls, const struct calls_config *config)
{
	struct trace_instrument instrument = {
		.event = config->kind,
		.policy = config->policy,
		.share = config->share,
		.from = ring_ticks(RING_CLOCK_MONOTONIC),
	};

	calls_put_begin(&calls->put, config);
	calls_names_init(&calls->names, config->tables);
	calls->begun = true;
	calls->instrument = tables_add_instrument(config->tables, &instrument);
	return calls->instrument == UINT32_MAX ? -ENOMEM : 0;
}

void calls_executed(struct calls *calls, pid_t pid, uint64_t time)
{
	end_earlier(calls, pid, time);
	follow_floor(calls);
}

void calls_end(struct calls *calls)
{
	while (calls->nr_alive)
		end_process(calls, calls->nr_alive - 1, NOW);
	follow_floor(calls);
}

static uint64_t nr_lost(const struct calls *calls)
{
	uint64_t lost = calls->lost_ended + calls->put.unknown_threads;

	for (unsigned i = 0; i < calls->nr_alive; i++)
		lost += calls_process_lost(calls->processes[i]);
	return lost;
}

void calls_progress(struct calls *calls)
{
	struct trace_instrument *instrument =
		tables_instrument(calls->put.config.tables, calls->instrument);

	if (!instrument)
		return;
	/* Once some went, at no time are all there. */
	instrument->to = calls->floor ? instrument->from : ring_ticks(RING_CLOCK_MONOTONIC);
	instrument->lost = nr_lost(calls);
}

uint64_t calls_nr_processes(const struct calls *calls)
{
	return calls->nr_processes;
}

uint64_t calls_refused(const struct calls *calls, int *error)
{
	*error = calls->refused_error;
	return calls->refused;
}

uint64_t calls_malformed(const struct calls *calls)
{
	uint64_t malformed = calls->malformed_ended;

	for (unsigned i = 0; i < calls->nr_alive; i++)
		malformed += calls->processes[i]->malformed;
	return malformed;
}
