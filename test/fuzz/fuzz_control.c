/* Fuzzing of the packets of the control socket, as requests and as answers. */

#include <assert.h>
#include <string.h>

#include "trace/live/control_packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_request request;
	struct control_answer answer;
	char packet[CONTROL_PACKET_MAX];

	if (!control_request_parse((const char *)data, size, &request)) {
		assert(request.command < NR_CONTROL_COMMANDS);
		assert(memchr(request.text, '\0', sizeof(request.text)));
		assert(control_request_print(&request, packet));
	}
	if (control_answer_parse((const char *)data, size, &answer))
		assert(memchr(answer.error, '\0', sizeof(answer.error)));
	return 0;
}
