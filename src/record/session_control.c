#include "record/session_control.h"

#include "record/calls/call_classes.h"
#include "record/event_switch.h"
#include "record/session.h"
#include "record/summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define TARGET_SECONDS 600  /* that a target is paused at most, unless another time is given */
#define MAX_ACTIONS    4096 /* of marks, and of other actions */

typedef struct refusal command_fn(struct session *session, const struct control_request *request,
                                  const struct ucred *peer);

static uint64_t in_ns(double seconds)
{
	return (uint64_t)(seconds * 1e9);
}

/* Marks and conditions: the entry in the trace is all there is to them. */
static struct refusal note(struct session *s, const struct control_request *request,
                           const struct ucred *peer)
{
	(void)s;
	(void)request;
	(void)peer;
	return NOT_REFUSED;
}

/* Whoever looks at the image once the answer is there finds all that came before the pause. */
static void show_all(struct session *s)
{
	session_catch_up(s);
	summary_progress(s);
}

static struct refusal pause_(struct session *s, const struct control_request *request,
                             const struct ucred *peer)
{
	const double seconds =
		request->seconds > 0 || request->recording ? request->seconds : TARGET_SECONDS;
	const struct refusal refusal =
		pause_begin(s, &(struct pause_request){.target = !request->recording,
	                                               .ns = in_ns(seconds),
	                                               .except = peer->pid});

	if (!refusal.why)
		show_all(s);
	return refusal;
}

static struct refusal resume(struct session *s, const struct control_request *request,
                             const struct ucred *peer)
{
	(void)peer;
	return pause_end(s, in_ns(request->seconds));
}

static struct refusal stop(struct session *s, const struct control_request *request,
                           const struct ucred *peer)
{
	(void)request;
	(void)peer;
	s->over = s->stopped = true;
	pause_finish(s);
	tables_state(s->tables)->flags = RECORDING_STOPPED;
	return NOT_REFUSED;
}

static struct refusal reset(struct session *s, const struct control_request *request,
                            const struct ucred *peer)
{
	(void)request;
	(void)peer;
	if (s->pause.flags)
		return REFUSED(EBUSY, "the recording is paused; resume it first");
	switch (session_reset(s)) {
	case 0:
		return NOT_REFUSED;
	case -EAGAIN:
		return REFUSED(EAGAIN, "sampling has not begun yet");
	default:
		return REFUSED(ENOMEM, "there is not enough memory");
	}
}

/* Floors do not fall by a higher limit. */
static struct refusal overhead(struct session *s, const struct control_request *request,
                               const struct ucred *peer)
{
	(void)peer;
	s->guard.max_overhead = request->percent / 100;
	overhead_guard_begin_interval(&s->guard, sampler_now());
	s->windows.dear = 0;
	tables_run(s->tables)->max_overhead = (uint32_t)(request->percent * 10 + 0.5);
	return NOT_REFUSED;
}

/* The kernel follows floors that rose. A larger limit lowers none. */
static struct refusal memory(struct session *s, const struct control_request *request,
                             const struct ucred *peer)
{
	const size_t size = (size_t)request->bytes;

	(void)peer;
	if (size > s->config->budget)
		return REFUSED(E2BIG, "the recording began with less memory, which cannot grow");
	if (hmb_set_limit(s->hmb, size, sampler_now()))
		return control_refuse(ENOSPC, "this buffer needs %zuK at least",
		                      (hmb_least_limit(s->hmb) + 1023) / 1024);
	for (unsigned e = 0; e < s->config->nr_events; e++)
		if (session_has_kind(s, e) &&
		    hmb_floor(s->hmb, s->events[e].kind) > s->sampling.shift[e])
			session_follow_floor(s, e);
	s->buffer_size = hmb_size(s->hmb);
	tables_run(s->tables)->budget = size;
	summary_progress(s);
	return NOT_REFUSED;
}

static struct refusal event(struct session *s, const struct control_request *request,
                            const struct ucred *peer)
{
	return event_switch(s, request, peer->pid);
}

static struct refusal calls(struct session *s, const struct control_request *request,
                            const struct ucred *peer)
{
	uint32_t wanted;

	(void)peer;
	if (!s->calls)
		return REFUSED(ENODATA, "calls are not recorded; record --mpi --calls off begins "
		                        "without them");
	if (call_classes_parse(request->text, &wanted))
		return REFUSED(EINVAL, "no such calls; " CALL_CLASSES_WAY_OUT);
	calls_want(s->calls, wanted);
	return NOT_REFUSED;
}

static struct refusal detail(struct session *s, const struct control_request *request,
                             const struct ucred *peer)
{
	(void)peer;
	return windows_begin(s, in_ns(request->seconds), request->hz);
}

static struct refusal lease(struct session *s, const struct control_request *request,
                            const struct ucred *peer)
{
	(void)peer;
	return windows_lease(s, in_ns(fmin(request->seconds, CONTROL_LEASE_MAX)),
	                     fmin(request->hz, CONTROL_LEASE_HZ));
}

/* Marks and other actions have room apart from each other. */
static bool has_room(struct session *s, enum control_command command)
{
	unsigned *nr = &s->nr_actions[command == CONTROL_MARK];

	if (*nr == MAX_ACTIONS) {
		tables_run(s->tables)->dropped_actions++;
		return false;
	}
	(*nr)++;
	return true;
}

static bool is_pause(enum control_command command)
{
	return command == CONTROL_PAUSE || command == CONTROL_RESUME;
}

/* Returns the index of a string with what the command was given; 0: nothing that has words. */
static uint32_t argument_of(struct session *s, const struct control_request *request)
{
	char text[CONTROL_TEXT_MAX + 16] = "";

	if (request->command == CONTROL_OVERHEAD)
		snprintf(text, sizeof(text), "%g %%", request->percent);
	if (request->command == CONTROL_DETAIL && request->hz > 0)
		snprintf(text, sizeof(text), "%.10g s at %.10g Hz", request->seconds, request->hz);
	else if (request->command == CONTROL_DETAIL)
		snprintf(text, sizeof(text), "%.10g s", request->seconds);
	if (request->command == CONTROL_MEMORY)
		snprintf(text, sizeof(text), "%.0f bytes", request->bytes);
	if (request->command == CONTROL_EVENT)
		snprintf(text, sizeof(text), "%s %s", control_change_name(request->change),
		         request->text);
	if (request->recording && request->seconds > 0)
		snprintf(text, sizeof(text), "the recording alone, for %.10g s", request->seconds);
	else if (is_pause(request->command) && request->seconds > 0)
		snprintf(text, sizeof(text), "for %.10g s", request->seconds);
	else if (request->recording && !*request->text)
		snprintf(text, sizeof(text), "the recording alone");
	if (*text)
		return tables_string(s->tables, text);
	return *request->text ? tables_string(s->tables, request->text) : 0;
}

static void note_condition(struct session *s, const struct control_request *request,
                           const struct trace_action *action)
{
	const struct trace_condition condition = {
		.time = action->time,
		.value = request->value,
		.text = action->text,
		.file = *request->file ? tables_string(s->tables, request->file) : 0,
		.pid = action->pid,
	};

	tables_add_condition(s->tables, &condition);
}

static void note_action(struct session *s, const struct control_request *request,
                        const struct ucred *peer, uint64_t time, int err)
{
	struct trace_action action;

	if (!has_room(s, request->command))
		return;
	action = (struct trace_action){
		.time = time,
		.action = tables_string(s->tables, control_command_name(request->command)),
		.text = argument_of(s, request),
		.pid = peer->pid,
		.uid = peer->uid,
		.result = (uint32_t)err,
	};

	tables_add_action(s->tables, &action);
	if (!err && request->command == CONTROL_CONDITION)
		note_condition(s, request, &action);
}

static void serve(void *arg, const struct control_request *request, const struct ucred *peer,
                  struct control_answer *answer)
{
	static command_fn *const commands[NR_CONTROL_COMMANDS] = {
		[CONTROL_MARK] = note,     [CONTROL_PAUSE] = pause_,
		[CONTROL_RESUME] = resume, [CONTROL_STOP] = stop,
		[CONTROL_RESET] = reset,   [CONTROL_OVERHEAD] = overhead,
		[CONTROL_CALLS] = calls,   [CONTROL_CONDITION] = note,
		[CONTROL_DETAIL] = detail, [CONTROL_MEMORY] = memory,
		[CONTROL_EVENT] = event,   [CONTROL_LEASE] = lease,
	};
	struct session *s = arg;
	struct refusal refusal = REFUSED(ESRCH, "the recording has ended");

	if (!s->over && !s->stopped)
		refusal = commands[request->command](s, request, peer);
	answer->ok = !refusal.why;
	answer->time = sampler_now();
	snprintf(answer->error, sizeof(answer->error), "%s", refusal.why ? refusal.why : "");
	snprintf(answer->note, sizeof(answer->note), "%s", refusal.note ? refusal.note : "");
	/* A lease is renewed each second, and leaves nothing in the trace. */
	if (!s->saved && request->command != CONTROL_LEASE)
		note_action(s, request, peer, answer->time, refusal.err);
}

void session_serve(struct session *s)
{
	control_serve(&s->control, serve, s);
}

/* The action is the recorder's own. A pause of the target has the usual limit of its time. */
void session_expire_pause(struct session *s)
{
	const bool again = s->pause.again;
	const struct control_request request = {
		.command = again ? CONTROL_PAUSE : CONTROL_RESUME,
		.recording = again && !s->pause.again_target,
		.text = "the time of --for is over",
	};
	const struct ucred self = {.pid = getpid(), .uid = getuid(), .gid = getgid()};
	struct refusal refusal;

	if (!pause_has_expired(s))
		return;
	refusal = again ? pause_(s, &request, &self) : resume(s, &request, &self);
	if (!s->saved)
		note_action(s, &request, &self, sampler_now(), refusal.err);
}
