#include "trace/live/control_packet.h"

#include <ctype.h>
#include <float.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PACKET_VERSION 1
#define MAX_DEPTH      2
#define BYTES_MAX      9007199254740991.0 /* that a double has without rounding */

/* The members of requests beside "v" and "ctl". */
enum member {
	TEXT = 1,
	RECORDING = 2,
	SECONDS = 4,
	PERCENT = 8,
	VALUE = 16,
	PATH = 32,
	HZ = 64,
	BYTES = 128,
	CHANGE = 256,
	ANYWAY = 512
};

static const struct command {
	const char *name;
	unsigned members;  /* that it may have */
	unsigned required; /* that it must have */
} commands[NR_CONTROL_COMMANDS] = {
	[CONTROL_MARK] = {"mark", TEXT, TEXT},
	[CONTROL_PAUSE] = {"pause", RECORDING | SECONDS, 0},
	[CONTROL_RESUME] = {"resume", SECONDS, 0},
	[CONTROL_STOP] = {"stop", 0, 0},
	[CONTROL_RESET] = {"reset", 0, 0},
	[CONTROL_OVERHEAD] = {"overhead", PERCENT, PERCENT},
	[CONTROL_CALLS] = {"calls", TEXT, TEXT},
	[CONTROL_CONDITION] = {"condition", TEXT | VALUE | PATH, TEXT | VALUE},
	[CONTROL_DETAIL] = {"detail", SECONDS | HZ, SECONDS},
	[CONTROL_MEMORY] = {"memory", BYTES, BYTES},
	[CONTROL_EVENT] = {"event", CHANGE | TEXT | ANYWAY, CHANGE | TEXT},
	[CONTROL_LEASE] = {"lease", SECONDS | HZ, SECONDS | HZ},
	[CONTROL_IMAGE] = {"image", 0, 0},
};

const char *control_command_name(enum control_command command)
{
	return commands[command].name;
}

static const char *const changes[NR_CONTROL_CHANGES] = {
	[CONTROL_ONLY] = "only",
	[CONTROL_ADD] = "add",
	[CONTROL_DROP] = "drop",
};

const char *control_change_name(enum control_change change)
{
	return changes[change];
}

enum control_change control_change_find(const char *name)
{
	enum control_change change = 0;

	while (change < NR_CONTROL_CHANGES && strcmp(name, changes[change]) != 0)
		change++;
	return change;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Returns the object that the packet consists of, or NULL. */
static struct json_object *read_object(const char *packet, size_t size)
{
	struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
	struct json_object *object = NULL;

	if (!tokener || !size || size > CONTROL_PACKET_MAX)
		goto out;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, packet, (int)size);
	if (json_tokener_get_error(tokener) == json_tokener_success &&
	    json_tokener_get_parse_end(tokener) == size &&
	    json_object_is_type(object, json_type_object))
		goto out;
	json_object_put(object);
	object = NULL;
out:
	if (tokener)
		json_tokener_free(tokener);
	return object;
}

/* Copies a string that has no control characters and is not too long. */
static bool take_text(struct json_object *value, char *to, size_t max)
{
	const char *text = json_object_get_string(value);
	size_t size = (size_t)json_object_get_string_len(value);

	if (!json_object_is_type(value, json_type_string) || size > max)
		return false;
	for (size_t i = 0; i < size; i++)
		if (iscntrl((unsigned char)text[i]))
			return false;
	memcpy(to, text, size);
	to[size] = '\0';
	return true;
}

static bool take_number(struct json_object *value, double least, double max, double *to)
{
	if (!json_object_is_type(value, json_type_double) &&
	    !json_object_is_type(value, json_type_int))
		return false;
	*to = json_object_get_double(value);
	return isfinite(*to) && *to >= least && *to <= max;
}

/* Returns the member that it took, or 0. */
static unsigned take_member(const char *key, struct json_object *value,
                            struct control_request *request)
{
	if (!strcmp(key, "text") && take_text(value, request->text, CONTROL_TEXT_MAX))
		return TEXT;
	if (!strcmp(key, "seconds") &&
	    take_number(value, CONTROL_SECONDS_MIN, CONTROL_SECONDS_MAX, &request->seconds))
		return SECONDS;
	if (!strcmp(key, "percent") && take_number(value, 0, 100, &request->percent))
		return PERCENT;
	if (!strcmp(key, "value") && take_number(value, -DBL_MAX, DBL_MAX, &request->value))
		return VALUE;
	if (!strcmp(key, "file") && take_text(value, request->file, CONTROL_FILE_MAX))
		return PATH;
	if (!strcmp(key, "hz") && take_number(value, CONTROL_HZ_MIN, CONTROL_HZ_MAX, &request->hz))
		return HZ;
	if (!strcmp(key, "bytes") && take_number(value, 0, BYTES_MAX, &request->bytes))
		return BYTES;
	if (!strcmp(key, "change") && json_object_is_type(value, json_type_string)) {
		request->change = control_change_find(json_object_get_string(value));
		return request->change < NR_CONTROL_CHANGES ? CHANGE : 0;
	}
	if (!strcmp(key, "recording") && json_object_is_type(value, json_type_boolean)) {
		request->recording = json_object_get_boolean(value);
		return RECORDING;
	}
	if (!strcmp(key, "anyway") && json_object_is_type(value, json_type_boolean)) {
		request->anyway = json_object_get_boolean(value);
		return ANYWAY;
	}
	return 0;
}

static bool find_command(struct json_object *object, enum control_command *command)
{
	struct json_object *name = json_object_object_get(object, "ctl");

	if (!json_object_is_type(name, json_type_string))
		return false;
	for (unsigned i = 0; i < NR_CONTROL_COMMANDS; i++)
		if (!strcmp(json_object_get_string(name), commands[i].name)) {
			*command = i;
			return true;
		}
	return false;
}

static bool has_version(struct json_object *object)
{
	struct json_object *version = json_object_object_get(object, "v");

	return json_object_is_type(version, json_type_int) &&
	       json_object_get_int(version) == PACKET_VERSION;
}

static const char *refusal(const char *key)
{
	return !strcmp(key, "text") || !strcmp(key, "file")
	               ? "a text is too long, or has control characters"
	               : "a member of the request is unknown or out of range";
}

static const char *read_members(struct json_object *object, struct control_request *request)
{
	const struct command *command = &commands[request->command];
	unsigned members = 0, member;

	json_object_object_foreach(object, key, value)
	{
		if (!strcmp(key, "v") || !strcmp(key, "ctl"))
			continue;
		member = take_member(key, value, request);
		if (!(member & command->members))
			return refusal(key);
		members |= member;
	}
	return command->required & ~members ? "a member of the request is missing" : NULL;
}

const char *control_request_parse(const char *packet, size_t size, struct control_request *request)
{
	struct json_object *object = read_object(packet, size);
	const char *wrong;

	*request = (struct control_request){0};
	if (!object)
		return "the request is no JSON object of at most 4096 bytes";
	if (!has_version(object))
		wrong = "the request is of another version; use the adaptrace of the recorder";
	else if (!find_command(object, &request->command))
		wrong = "the recorder does not know this command";
	else
		wrong = read_members(object, request);
	json_object_put(object);
	return wrong;
}

static void take_line(struct json_object *value, const char *otherwise,
                      char line[CONTROL_ERROR_MAX + 1])
{
	const char *text = json_object_get_string(value);

	snprintf(line, CONTROL_ERROR_MAX + 1, "%s", text ? text : otherwise);
	for (char *c = line; *c; c++)
		*c = iscntrl((unsigned char)*c) ? '?' : *c;
}

bool control_answer_parse(const char *packet, size_t size, struct control_answer *answer)
{
	struct json_object *object = read_object(packet, size), *ok;
	bool is_answer;

	*answer = (struct control_answer){0};
	ok = object ? json_object_object_get(object, "ok") : NULL;
	is_answer = json_object_is_type(ok, json_type_boolean);
	if (is_answer) {
		answer->ok = json_object_get_boolean(ok);
		answer->time = json_object_get_uint64(json_object_object_get(object, "time_ns"));
	}
	if (is_answer && !answer->ok)
		take_line(json_object_object_get(object, "error"), "no reason was given",
		          answer->error);
	if (is_answer && answer->ok)
		take_line(json_object_object_get(object, "note"), "", answer->note);
	json_object_put(object);
	return is_answer;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Frees the object. */
static size_t print_object(struct json_object *object, char packet[CONTROL_PACKET_MAX])
{
	size_t size = 0;
	const char *text = json_object_to_json_string_length(
		object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &size);

	if (text && size <= CONTROL_PACKET_MAX)
		memcpy(packet, text, size);
	else
		size = 0;
	json_object_put(object);
	return size;
}

static void add_members(struct json_object *object, const struct control_request *request)
{
	const unsigned members = commands[request->command].members;

	if (members & CHANGE)
		json_object_object_add(
			object, "change",
			json_object_new_string(control_change_name(request->change)));
	if (members & TEXT)
		json_object_object_add(object, "text", json_object_new_string(request->text));
	if (members & RECORDING)
		json_object_object_add(object, "recording",
		                       json_object_new_boolean(request->recording));
	if (members & ANYWAY && request->anyway)
		json_object_object_add(object, "anyway", json_object_new_boolean(true));
	if (members & PERCENT)
		json_object_object_add(object, "percent", json_object_new_double(request->percent));
	if (members & VALUE)
		json_object_object_add(object, "value", json_object_new_double(request->value));
	if (members & PATH && *request->file)
		json_object_object_add(object, "file", json_object_new_string(request->file));
	if (members & BYTES)
		json_object_object_add(object, "bytes",
		                       json_object_new_int64((int64_t)request->bytes));
	if (members & SECONDS && request->seconds > 0)
		json_object_object_add(object, "seconds", json_object_new_double(request->seconds));
	if (members & HZ && request->hz > 0)
		json_object_object_add(object, "hz", json_object_new_double(request->hz));
}

size_t control_request_print(const struct control_request *request, char packet[CONTROL_PACKET_MAX])
{
	struct json_object *object = json_object_new_object();

	if (!object)
		return 0;
	json_object_object_add(object, "v", json_object_new_int(PACKET_VERSION));
	json_object_object_add(object, "ctl",
	                       json_object_new_string(control_command_name(request->command)));
	add_members(object, request);
	return print_object(object, packet);
}

size_t control_answer_print(const struct control_answer *answer, char packet[CONTROL_PACKET_MAX])
{
	struct json_object *object = json_object_new_object();

	if (!object)
		return 0;
	json_object_object_add(object, "ok", json_object_new_boolean(answer->ok));
	if (answer->ok)
		json_object_object_add(object, "time_ns", json_object_new_uint64(answer->time));
	else
		json_object_object_add(object, "error", json_object_new_string(answer->error));
	if (answer->ok && *answer->note)
		json_object_object_add(object, "note", json_object_new_string(answer->note));
	return print_object(object, packet);
}

/* {"mark":"text"} is short for {"ctl":"mark","text":"text"}. */
static void complete_line(struct json_object *object)
{
	struct json_object *text;

	if (json_object_object_get_ex(object, "mark", &text)) {
		json_object_object_add(object, "text", json_object_get(text));
		json_object_object_del(object, "mark");
		json_object_object_add(object, "ctl", json_object_new_string("mark"));
	}
	json_object_object_add(object, "v", json_object_new_int(PACKET_VERSION));
}

size_t control_request_of_line(const char *line, size_t size, char packet[CONTROL_PACKET_MAX])
{
	struct json_object *object = read_object(line, size);

	if (!object)
		return 0;
	complete_line(object);
	if (json_object_object_get_ex(object, "ctl", NULL))
		return print_object(object, packet);
	json_object_put(object);
	return 0;
}
