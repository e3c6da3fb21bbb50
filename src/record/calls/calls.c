#include "base/clock.h"
#include "record/calls/calls_put.h"
#include "record/calls/calls_socket.h"
#include "record/tasks/process_fd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/*
 * A thread that makes a million calls a second, no two alike, fills its ring in 40 ms. All rounds
 * are among the intervals of pace.h.
 */
#define IDLE_ROUND_NS 100000000
#define MAX_ROUND_NS  (IDLE_ROUND_NS / 4)
#define ROUND_NS      (IDLE_ROUND_NS / 8)
#define MIN_ROUND_NS  (IDLE_ROUND_NS / 32)
#define MAX_ASKING    64 /* at once */

struct calls {
	struct calls_put put;
	struct calls_socket socket;
	int timer_fd, poll_fd;
	struct calls_clock clock;
	struct calls_names names;
	bool begun;
	bool holds; /* processes sleep at the end of MPI_Init */
	struct calls_process *processes[CALLS_MAX_PROCESSES];
	unsigned nr_alive;
	uint64_t round_ns;
	uint64_t drained; /* when the last round began, or there was nobody, ns */
	uint64_t nr_processes, refused, unheard, lost_ended, malformed_ended;
	unsigned floor; /* as the targets know it, unless the last seconds are kept */
	int refused_error;
	uint32_t closed, unwanted; /* classes: that are dropped, and that nobody wants */
	struct calls_limits limits;
	uint64_t cost, untimed_ended;
	uint32_t instrument;
};

/* --- opening ---------------------------------------------------------------------------------- */

static int watch(struct calls *calls, int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(calls->poll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

struct calls *calls_open(void)
{
	struct calls *calls = calloc(1, sizeof(*calls));
	int err;

	if (!calls)
		return NULL;
	calls->socket.fd = calls->timer_fd = -1;
	calls->round_ns = ROUND_NS;
	calls->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = calls->poll_fd < 0 ? -errno : calls_socket_open(&calls->socket);
	if (!err) {
		calls->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		err = calls->timer_fd < 0 ? -errno : watch(calls, calls->timer_fd, calls);
	}
	if (!err)
		err = watch(calls, calls->socket.fd, NULL);
	if (!err) {
		calls_clock_init(&calls->clock);
		return calls;
	}
	calls_close(calls);
	errno = -err;
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
	if (calls->begun)
		calls_iterations_fini(&calls->put.iterations);
	calls_socket_close(&calls->socket);
	close_if_open(calls->timer_fd);
	close_if_open(calls->poll_fd);
	free(calls);
}

char **calls_environment(struct calls *calls, char **environment,
                         const struct call_library *library, const char *path, const char *openmp)
{
	calls->socket.openmp = openmp;
	return calls_socket_environment(&calls->socket, environment, library, path);
}

int calls_poll_fd(const struct calls *calls)
{
	return calls->poll_fd;
}

/* --- processes -------------------------------------------------------------------------------- */

/* Returns the lowest level of which targets are to record calls. */
static unsigned wanted_floor(const struct calls *calls)
{
	return calls_kept(calls) ? 0 : calls->floor;
}

/* At multiples of the interval, so that the recorders of all ranks wake at the same instants. */
static void set_timer(struct calls *calls)
{
	uint64_t interval = wanted_floor(calls) == NR_LEVELS ? IDLE_ROUND_NS : calls->round_ns;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct itimerspec time = {0};

	if (calls->nr_alive)
		time = (struct itimerspec){clock_timespec(interval),
		                           clock_timespec(now - now % interval + interval)};
	timerfd_settime(calls->timer_fd, TFD_TIMER_ABSTIME, &time, NULL);
}

#define NOW UINT64_MAX

/* Calls that have not returned lasted until then. */
static void end_process(struct calls *calls, unsigned i, uint64_t time)
{
	struct calls_process *process = calls->processes[i];
	uint64_t now;

	calls_process_look_last(process);
	calls_clock_read(&calls->clock);
	now = ring_ticks(RING_CLOCK_MONOTONIC);
	calls_process_end(process, time < now ? time : now, &calls->put.sink);
	calls_process_close(process, RING_GONE);
	calls->cost += calls_process_thin(process, &calls->limits, now, true);
	calls->untimed_ended += calls_process_untimed(process);
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

static void refuse(struct calls *calls, struct calls_asker *asker, int err)
{
	calls->refused++;
	calls->refused_error = err;
	calls_socket_answer(&calls->socket, asker, -1);
}

static void welcome(struct calls *calls, struct calls_asker *asker)
{
	struct calls_process *process;
	pid_t pid = asker->pid;
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
	calls_process_close(process, calls->closed | calls->unwanted);
	process->shared->patience = calls->put.config.patience;
	process->shared->keep = calls->put.config.keep;
	process->shared->levels = calls->put.config.policy == TRACE_POLICY_ITERATIONS;
	calls_process_hold(process, calls->holds);
	process->pidfd = process_fd_open(pid);
	if (process->pidfd >= 0 && !watch(calls, process->pidfd, process) &&
	    calls_socket_answer(&calls->socket, asker, memory)) {
		if (!calls->nr_alive)
			calls->drained = ring_ticks(RING_CLOCK_MONOTONIC);
		calls->processes[calls->nr_alive++] = process;
		calls->nr_processes++;
		set_timer(calls);
	} else {
		refuse(calls, asker, process->pidfd < 0 ? process->pidfd : -errno);
		calls_process_free(process);
	}
	close(memory);
}

static void take_processes(struct calls *calls)
{
	struct calls_asker asker;
	int got = 0;

	for (unsigned i = 0; i < MAX_ASKING && got >= 0; i++) {
		got = calls_socket_next(&calls->socket, &asker);
		if (got > 0)
			welcome(calls, &asker);
	}
}

/* --- rounds ----------------------------------------------------------------------------------- */

uint32_t calls_closed(const struct calls_config *config, unsigned floor)
{
	uint32_t closed = config->polls ? 0 : RING_NO_POLLS;

	if (floor == NR_LEVELS)
		return closed | UINT32_MAX >> (32 - NR_CALL_CLASSES);
	return config->policy == TRACE_POLICY_CLASS ? closed | ((1U << floor) - 1) : closed;
}

static void tell_processes(struct calls *calls)
{
	for (unsigned i = 0; i < calls->nr_alive; i++)
		calls_process_close(calls->processes[i], calls->closed | calls->unwanted);
}

/* Tells the targets what is wanted no more. */
static void tell_floor(struct calls *calls)
{
	calls->closed = calls_closed(&calls->put.config, wanted_floor(calls));
	tell_processes(calls);
	set_timer(calls);
}

static void follow_floor(struct calls *calls)
{
	unsigned floor = hmb_floor(calls->put.config.hmb, calls->put.config.kind);

	if (floor == calls->floor)
		return;
	calls->floor = floor;
	tell_floor(calls);
}

/*
 * Each round gives the targets a new instant, because their clocks drift, and the floor, which
 * falls when the recording is reset.
 */
static void want_moments(struct calls *calls)
{
	unsigned floor =
		calls_policy_has_moments(calls->put.config.policy) ? wanted_floor(calls) : 0;

	for (unsigned i = 0; i < calls->nr_alive; i++)
		calls_process_want_moments(calls->processes[i], floor);
}

/*
 * The policy `all` promises all calls while there is room for them. Iterations are told apart by
 * their times.
 */
static void thin(struct calls *calls)
{
	const struct calls_config *config = &calls->put.config;
	const bool iterations = config->keep || config->policy == TRACE_POLICY_ITERATIONS;

	calls->limits.nothing = wanted_floor(calls) == NR_LEVELS;
	calls->limits.share =
		iterations || (config->policy == TRACE_POLICY_ALL && calls->floor < NR_LEVELS)
			? 0
			: config->most_cost;
	for (unsigned i = 0; i < calls->nr_alive; i++)
		calls->cost += calls_process_thin(calls->processes[i], &calls->limits,
		                                  calls->drained, false);
}

void calls_set_most_cost(struct calls *calls, double most_cost)
{
	calls->put.config.most_cost = most_cost;
}

uint64_t calls_cost(const struct calls *calls)
{
	return calls->cost;
}

void calls_hold(struct calls *calls)
{
	calls->holds = true;
}

void calls_release(struct calls *calls)
{
	calls->holds = false;
	for (unsigned i = 0; i < calls->nr_alive; i++)
		calls_process_hold(calls->processes[i], false);
}

struct calls_held calls_held(const struct calls *calls)
{
	struct calls_held held = {0, true};

	for (unsigned i = 0; i < calls->nr_alive && calls->holds; i++) {
		bool is_held = calls_process_is_held(calls->processes[i]);

		held.nr += is_held;
		held.all &= is_held;
	}
	return held;
}

void calls_want(struct calls *calls, uint32_t wanted)
{
	calls->unwanted = ~wanted & UINT32_MAX >> (32 - NR_CALL_CLASSES);
	tell_processes(calls);
}

/*
 * Each look takes a CPU from a rank for which others wait, so it should be worth it; but no ring
 * may overflow meanwhile. fill is that of the fullest ring, in 1024ths.
 */
static void adapt_round(struct calls *calls, unsigned fill)
{
	uint64_t ns = calls->round_ns;

	if (fill > 400 && ns > MIN_ROUND_NS)
		ns /= 2;
	else if (fill < 100 && ns < MAX_ROUND_NS)
		ns *= 2;
	if (ns == calls->round_ns)
		return;
	calls->round_ns = ns;
	set_timer(calls);
}

/*
 * The record of an exec comes later than the first calls behind it, and may come after the end of a
 * short program. Until then its threads are the recorder's.
 */
static bool awaits_exec(const struct calls *calls, const struct calls_process *process)
{
	struct task *task = tasks_of_claim(calls->put.config.tasks, process->pid, process->pid);

	return task && task->process->awaits_exec;
}

void calls_read(struct calls *calls)
{
	unsigned fill, most = 0;

	calls->drained = ring_ticks(RING_CLOCK_MONOTONIC);
	for (unsigned i = 0; i < calls->nr_alive; i++) {
		calls_process_look(calls->processes[i]);
		fill = calls_process_fill(calls->processes[i]);
		most = fill > most ? fill : most;
	}
	adapt_round(calls, most);
	calls_put_round(&calls->put, ring_ticks(RING_CLOCK_MONOTONIC));
	calls_clock_read(&calls->clock);
	for (unsigned i = 0; i < calls->nr_alive; i++)
		if (!awaits_exec(calls, calls->processes[i]))
			calls_process_read(calls->processes[i], ring_ticks(RING_CLOCK_MONOTONIC),
			                   &calls->put.sink);
	follow_floor(calls);
	want_moments(calls);
	thin(calls);
}

static void end_if_ended(struct calls *calls, const struct calls_process *process)
{
	for (unsigned i = 0; i < calls->nr_alive; i++)
		if (calls->processes[i] == process && !awaits_exec(calls, process) &&
		    process_fd_ended(process->pidfd, process->pid)) {
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

	/* Remove ended processes first: new ones may reuse their slots. */
	for (int i = 0; i < nr; i++) {
		if (!events[i].data.ptr)
			knock = true;
		else if (events[i].data.ptr != calls)
			end_if_ended(calls, events[i].data.ptr);
		else if (read(calls->timer_fd, &expirations, sizeof(expirations)) > 0)
			read_now = true;
	}
	if (knock)
		take_processes(calls);
	if (read_now)
		calls_read(calls);
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
	calls->closed = calls_closed(config, 0);
	calls->limits.price = calls_price_measure(calls->clock.source);
	calls->instrument = tables_add_instrument(config->tables, &instrument);
	return calls->instrument == UINT32_MAX ? -ENOMEM : 0;
}

void calls_keep(struct calls *calls, const struct halves *halves, uint64_t time)
{
	calls_put_keep(&calls->put, halves, time);
	tell_floor(calls);
	want_moments(calls);
}

const struct halves *calls_kept(const struct calls *calls)
{
	return calls->put.kept.hmb ? &calls->put.kept : NULL;
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

static uint64_t nr_untimed(const struct calls *calls)
{
	uint64_t untimed = calls->untimed_ended;

	for (unsigned i = 0; i < calls->nr_alive; i++)
		untimed += calls_process_untimed(calls->processes[i]);
	return untimed;
}

static void read_sums(struct calls *calls)
{
	calls_clock_read(&calls->clock);
	calls_put_forget(&calls->put);
	for (unsigned i = 0; i < calls->nr_alive; i++)
		if (!awaits_exec(calls, calls->processes[i]))
			calls_process_sum(calls->processes[i], ring_ticks(RING_CLOCK_MONOTONIC),
			                  &calls->put.sink);
}

void calls_progress(struct calls *calls)
{
	struct trace_instrument *instrument =
		tables_instrument(calls->put.config.tables, calls->instrument);

	if (!instrument)
		return;
	read_sums(calls);
	/* Once some went, at no time are all there. */
	instrument->untimed = nr_untimed(calls);
	instrument->to = calls->floor || instrument->untimed || calls->put.iterations.dropped
	                         ? instrument->from
	                         : ring_ticks(RING_CLOCK_MONOTONIC);
	instrument->lost = nr_lost(calls);
	calls_put_missing(&calls->put,
	                  instrument->lost + instrument->untimed + calls->put.iterations.dropped);
}

int calls_prepare_restart(struct calls *calls)
{
	int err = 0;

	calls_read(calls);
	for (unsigned i = 0; i < calls->nr_alive && !err; i++)
		err = calls_process_prepare_restart(calls->processes[i]);
	return err;
}

void calls_restart(struct calls *calls)
{
	struct trace_instrument *instrument =
		tables_instrument(calls->put.config.tables, calls->instrument);
	const uint64_t ticks = ring_ticks(calls->clock.source);
	const uint64_t now = ring_ticks(RING_CLOCK_MONOTONIC);

	calls_names_restart(&calls->names);
	tables_run(calls->put.config.tables)->unsummed_calls = 0;
	calls_put_restart(&calls->put, now);
	calls->lost_ended = calls->untimed_ended = 0;
	for (unsigned i = 0; i < calls->nr_alive; i++)
		calls_process_restart(calls->processes[i], ticks, now);
	if (instrument)
		instrument->from = instrument->to = now;
	calls_read(calls);
}

uint64_t calls_nr_processes(const struct calls *calls)
{
	return calls->nr_processes;
}

uint64_t calls_refused(const struct calls *calls, int *err)
{
	*err = calls->refused_error;
	return calls->refused;
}

void calls_mapped(struct calls *calls, const char *name)
{
	calls->unheard += !strncmp(name, "/memfd:" RING_UNHEARD, strlen("/memfd:" RING_UNHEARD));
}

uint64_t calls_unheard(const struct calls *calls)
{
	return calls->unheard;
}

bool calls_refused_comms(const struct calls *calls)
{
	return calls->names.refused_comms;
}

uint64_t calls_malformed(const struct calls *calls)
{
	uint64_t malformed = calls->malformed_ended;

	for (unsigned i = 0; i < calls->nr_alive; i++)
		malformed += calls->processes[i]->malformed;
	return malformed;
}
