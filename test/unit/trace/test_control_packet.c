#include "cases.h"
#include "trace/live/control_packet.h"

#include <stdio.h>
#include <string.h>

static const char *parse(const char *packet, struct control_request *request)
{
	return control_request_parse(packet, strlen(packet), request);
}

static void requests_are_read_as_written(void **state)
{
	const struct control_request requests[] = {
		{.command = CONTROL_MARK, .text = "a \"quoted\" text, \xc3\xa4"},
		{.command = CONTROL_PAUSE, .recording = true, .seconds = 600},
		{.command = CONTROL_PAUSE},
		{.command = CONTROL_RESUME, .seconds = 0.5},
		{.command = CONTROL_STOP},
		{.command = CONTROL_CONDITION,
	         .text = "cpu > 1: snapshot",
	         .value = 1.25,
	         .file = "/tmp/a-1.atr"},
		{.command = CONTROL_MEMORY, .bytes = 104857600},
	};
	char packet[CONTROL_PACKET_MAX];
	struct control_request read;

	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		size_t size = control_request_print(&requests[i], packet);

		assert_true(size > 0);
		assert_null(control_request_parse(packet, size, &read));
		assert_memory_equal(&read, &requests[i], sizeof(read));
	}
}

static void answers_are_read_as_written(void **state)
{
	const struct control_answer answers[] = {{.ok = true, .time = UINT64_MAX / 2},
	                                         {.error = "nothing is paused"}};
	char packet[CONTROL_PACKET_MAX];
	struct control_answer read;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		size_t size = control_answer_print(&answers[i], packet);

		assert_true(control_answer_parse(packet, size, &read));
		assert_int_equal(read.ok, answers[i].ok);
		assert_int_equal(read.time, answers[i].time);
		assert_string_equal(read.error, answers[i].error);
	}
}

static void wrong_requests_are_refused(void **state)
{
	static const char *const packets[] = {
		"",
		"stop",
		"[1]",
		"{}",
		"{\"v\":1}",
		"{\"ctl\":\"stop\"}",
		"{\"v\":2,\"ctl\":\"stop\"}",
		"{\"v\":\"1\",\"ctl\":\"stop\"}",
		"{\"v\":1,\"ctl\":\"leap\"}",
		"{\"v\":1,\"ctl\":[\"stop\"]}",
		"{\"v\":1,\"ctl\":\"stop\"} {}",
		"{\"v\":1,\"ctl\":\"stop\",\"text\":\"x\"}",
		"{\"v\":1,\"ctl\":\"stop\",\"file\":\"/etc/passwd\"}",
		"{\"v\":1,\"ctl\":\"mark\"}",
		"{\"v\":1,\"ctl\":\"condition\",\"text\":\"x\"}",
		"{\"v\":1,\"ctl\":\"condition\",\"text\":\"x\",\"value\":1e999}",
		"{\"v\":1,\"ctl\":\"mark\",\"text\":1}",
		"{\"v\":1,\"ctl\":\"mark\",\"text\":\"a\\u0000b\"}",
		"{\"v\":1,\"ctl\":\"mark\",\"text\":\"a\\nb\"}",
		"{\"v\":1,\"ctl\":\"mark\",\"text\":\"\xff\"}",
		"{\"v\":1,\"ctl\":\"pause\",\"recording\":1}",
		"{\"v\":1,\"ctl\":\"memory\"}",
		"{\"v\":1,\"ctl\":\"memory\",\"bytes\":-1}",
		"{\"v\":1,\"ctl\":\"memory\",\"bytes\":1e30}",
		"{\"v\":1,\"ctl\":\"resume\",\"seconds\":0}",
		"{\"v\":1,\"ctl\":\"resume\",\"seconds\":-1}",
		"{\"v\":1,\"ctl\":\"resume\",\"seconds\":NaN}",
		"{\"v\":1,\"ctl\":\"resume\",\"seconds\":1e10}",
		"{\"v\":1,\"ctl\":\"resume\",\"seconds\":\"1\"}",
		"{\"v\":1,\"ctl\":\"pause\",\"x\":{\"y\":{\"z\":1}}}",
	};
	struct control_request request;

	(void)state;
	for (size_t i = 0; i < sizeof(packets) / sizeof(*packets); i++)
		if (!parse(packets[i], &request))
			fail_msg("accepted: %s", packets[i]);
}

static void packets_have_a_bound(void **state)
{
	static char packet[CONTROL_PACKET_MAX + 64];
	struct control_request request;
	int size = snprintf(packet, sizeof(packet), "{\"v\":1,\"ctl\":\"stop\"%*s}",
	                    CONTROL_PACKET_MAX - 20, "");

	(void)state;
	assert_int_equal(size, CONTROL_PACKET_MAX);
	assert_null(control_request_parse(packet, CONTROL_PACKET_MAX, &request));
	assert_non_null(control_request_parse(packet, CONTROL_PACKET_MAX + 1, &request));
}

static void errors_keep_to_a_line(void **state)
{
	static const char packet[] = "{\"ok\":false,\"error\":\"a\\u001b[31m\\nb\"}";
	struct control_answer answer;

	(void)state;
	assert_true(control_answer_parse(packet, strlen(packet), &answer));
	assert_string_equal(answer.error, "a?[31m?b");
	assert_false(control_answer_parse("{\"error\":\"x\"}", 13, &answer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_read_as_written),
		cmocka_unit_test(answers_are_read_as_written),
		cmocka_unit_test(wrong_requests_are_refused),
		cmocka_unit_test(packets_have_a_bound),
		cmocka_unit_test(errors_keep_to_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
