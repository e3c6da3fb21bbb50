#include "cli/watch/module_line.h"

#include "cli/say.h"
#include "cli/watch/steering.h"
#include "trace/live/control_packet.h"

#include <json-c/json.h>
#include <string.h>

/* Returns the object that the line consists of, or NULL. */
static struct json_object *read_object(const char *line, size_t size)
{
	struct json_tokener *tokener = json_tokener_new_ex(4);
	struct json_object *object = NULL;

	if (!tokener)
		return NULL;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, line, (int)size);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    !json_object_is_type(object, json_type_object)) {
		json_object_put(object);
		object = NULL;
	}
	json_tokener_free(tokener);
	return object;
}

/* {"mark":"text"} is short for {"ctl":"mark","text":"text"}. */
static bool complete(struct json_object *object)
{
	struct json_object *text;

	if (json_object_object_get_ex(object, "mark", &text)) {
		json_object_object_add(object, "text", json_object_get(text));
		json_object_object_del(object, "mark");
		json_object_object_add(object, "ctl", json_object_new_string("mark"));
	}
	json_object_object_add(object, "v", json_object_new_int(1));
	return json_object_object_get_ex(object, "ctl", NULL);
}

bool module_line_do(struct steering *steering, const char *line, size_t size, const char *module)
{
	struct json_object *object = size ? read_object(line, size) : NULL;
	const char *packet;
	bool done = false;
	size_t length;

	if (object && complete(object)) {
		packet = json_object_to_json_string_length(
			object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
		done = packet && length <= CONTROL_PACKET_MAX &&
		       steering_send(steering, packet, length, module);
	}
	json_object_put(object);
	return done;
}
