#include "record/session_control.h"

#include "record/calls/call_classes.h"
#include "record/session.h"

#include <errno.h>
#include <stdio.h>

#define TARGET_SECONDS 600  /* that a target is paused at most, unless another time is given */
#define MAX_ACTIONS    4096 /* of marks, and of other actions */

/* A command returns NULL, or why it is refused, in a line. */
typedef const char *command_fn(struct session *session, const struct control_request *request,
                               const struct ucred *peer);

static uint64_t in_ns(double seconds)
{
	return (uint64_t)(seconds * 1e9);
}

/* The action is all there is to it. */
static const char *mark(struct session *s, const struct control_request *request,
                        const struct ucred *peer)
{
	(void)s;
	(void)request;
	(void)peer;
	return NULL;
}

static const char *pause_(struct session *s, const struct control_request *request,
                          const struct ucred *peer)
{
	const double seconds =
		request->seconds > 0 || request->recording ? request->seconds : TARGET_SECONDS;

	return pause_begin(s, &(struct pause_request){.target = !request->recording,
	                                              .ns = in_ns(seconds),
	                                              .except = peer->pid});
}

static const char *resume(struct session *s, const struct control_request *request,
                          const struct ucred *peer)
{
	(void)peer;
	return pause_end(s, in_ns(request->seconds));
}

static const char *stop(struct session *s, const struct control_request *request,
                        const struct ucred *peer)
{
	(void)request;
	(void)peer;
	s->over = s->stopped = true;
	pause_finish(s);
	tables_state(s->tables)->flags = RECORDING_STOPPED;
	return NULL;
}

static const char *reset(struct session *s, const struct control_request *request,
                         const struct ucred *peer)
{
	(void)request;
	(void)peer;
	if (s->calls)
		return "calls are recorded, and their sums cannot begin anew";
	if (s->pause.flags)
		return "the recording is paused; resume it first";
	if (session_reset(s))
		return "sampling has not begun yet";
	return NULL;
}

/* The entry of the condition is all there is to it. */
static const char *condition(struct session *s, const struct control_request *request,
                             const struct ucred *peer)
{
	(void)s;
	(void)request;
	(void)peer;
	return NULL;
}

/* Floors do not fall by a higher limit. */
static const char *overhead(struct session *s, const struct control_request *request,
                            const struct ucred *peer)
{
	(void)peer;
	s->guard.max_overhead = request->percent / 100;
	overhead_guard_begin_interval(&s->guard, sampler_now());
	tables_run(s->tables)->max_overhead = (uint32_t)(request->percent * 10 + 0.5);
	return NULL;
}

static const char *calls(struct session *s, const struct control_request *request,
                         const struct ucred *peer)
{
	uint32_t wanted;

	(void)peer;
	if (!s->calls)
		return "calls are not recorded; record --mpi --calls off begins without them";
	if (call_classes_parse(request->text, &wanted))
		return "no such calls; " CALL_CLASSES_WAY_OUT;
	calls_want(s->calls, wanted);
	return NULL;
}

static const char *detail(struct session *s, const struct control_request *request,
                          const struct ucred *peer)
{
	(void)peer;
	return windows_begin(s, in_ns(request->seconds), request->hz);
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

/* Returns the index of a string with what the command was given; 0: nothing that has words. */
static uint32_t argument_of(struct session *s, const struct control_request *request)
{
	char words[64];

	if (request->command == CONTROL_OVERHEAD) {
		snprintf(words, sizeof(words), "%g %%", request->percent);
		return tables_string(s->tables, words);
	}
	if (request->command == CONTROL_DETAIL) {
		int size = snprintf(words, sizeof(words), "%g s", request->seconds);

		if (request->hz > 0)
			snprintf(words + size, sizeof(words) - (size_t)size, " at %g Hz",
			         request->hz);
		return tables_string(s->tables, words);
	}
	if (request->recording)
		return tables_string(s->tables, "the recording alone");
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
                        const struct ucred *peer, const struct control_answer *answer)
{
	struct trace_action action;

	if (!has_room(s, request->command))
		return;
	action = (struct trace_action){
		.time = answer->time,
		.action = tables_string(s->tables, control_command_name(request->command)),
		.text = argument_of(s, request),
		.pid = peer->pid,
		.uid = peer->uid,
		.result = answer->ok ? 0 : EINVAL,
	};

	tables_add_action(s->tables, &action);
	if (answer->ok && request->command == CONTROL_CONDITION)
		note_condition(s, request, &action);
}

static void serve(void *arg, const struct control_request *request, const struct ucred *peer,
                  struct control_answer *answer)
{
	static command_fn *const commands[NR_CONTROL_COMMANDS] = {
		[CONTROL_MARK] = mark,     [CONTROL_PAUSE] = pause_,
		[CONTROL_RESUME] = resume, [CONTROL_STOP] = stop,
		[CONTROL_RESET] = reset,   [CONTROL_OVERHEAD] = overhead,
		[CONTROL_CALLS] = calls,   [CONTROL_CONDITION] = condition,
		[CONTROL_DETAIL] = detail,
	};
	struct session *s = arg;
	const char *refusal = "the recording has ended";

	if (!s->over && !s->stopped)
		refusal = commands[request->command](s, request, peer);
	answer->ok = !refusal;
	answer->time = sampler_now();
	snprintf(answer->error, sizeof(answer->error), "%s", refusal ? refusal : "");
	if (!s->saved)
		note_action(s, request, peer, answer);
}

void session_serve(struct session *s)
{
	control_serve(&s->control, serve, s);
}
