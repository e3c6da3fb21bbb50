#include "cases.h"
#include "random.h"
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
		{.command = CONTROL_EVENT,
	         .change = CONTROL_ADD,
	         .text = "page-faults",
	         .anyway = true},
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
	                                         {.error = "nothing is paused"},
	                                         {.ok = true, .note = "this is its price"}};
	char packet[CONTROL_PACKET_MAX];
	struct control_answer read;

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		size_t size = control_answer_print(&answers[i], packet);

		assert_true(control_answer_parse(packet, size, &read));
		assert_int_equal(read.ok, answers[i].ok);
		assert_int_equal(read.time, answers[i].time);
		assert_string_equal(read.error, answers[i].error);
		assert_string_equal(read.note, answers[i].note);
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

/* A request that is accepted has nothing that the recorder would have to doubt. */
static void check_request(const struct control_request *request)
{
	assert_true(request->command < NR_CONTROL_COMMANDS);
	assert_true(request->change < NR_CONTROL_CHANGES);
	assert_true(request->seconds >= 0 && request->seconds <= CONTROL_SECONDS_MAX);
	assert_true(request->percent >= 0 && request->percent <= 100);
	assert_true(request->hz >= 0 && request->hz <= CONTROL_HZ_MAX);
	assert_true(request->bytes >= 0 && request->bytes < (double)(UINT64_C(1) << 53));
	assert_non_null(memchr(request->text, '\0', sizeof(request->text)));
	assert_non_null(memchr(request->file, '\0', sizeof(request->file)));
}

static void mutated_requests_are_refused_or_in_range(void **state)
{
	static const char *const packets[] = {
		"{\"v\":1,\"ctl\":\"mark\",\"text\":\"phase\"}",
		"{\"v\":1,\"ctl\":\"pause\",\"recording\":true,\"seconds\":0.5}",
		"{\"v\":1,\"ctl\":\"condition\",\"text\":\"x\",\"value\":-1e3,\"file\":\"/x\"}",
		"{\"v\":1,\"ctl\":\"detail\",\"seconds\":2,\"hz\":1000}",
		"{\"v\":1,\"ctl\":\"memory\",\"bytes\":1048576}",
		"{\"v\":1,\"ctl\":\"event\",\"change\":\"only\",\"text\":\"x\",\"anyway\":true}",
	};
	struct control_request request;
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < 60000; i++) {
		const char *from = packets[i % (sizeof(packets) / sizeof(*packets))];
		size_t size = strlen(from);
		char packet[256];

		memcpy(packet, from, size);
		for (uint64_t n = 1 + random_below(&seed, 4); n > 0; n--)
			packet[random_below(&seed, size)] = (char)random_below(&seed, 256);
		size -= random_below(&seed, 8) ? 0 : random_below(&seed, size);
		if (!control_request_parse(packet, size, &request))
			check_request(&request);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_read_as_written),
		cmocka_unit_test(answers_are_read_as_written),
		cmocka_unit_test(wrong_requests_are_refused),
		cmocka_unit_test(packets_have_a_bound),
		cmocka_unit_test(errors_keep_to_a_line),
		cmocka_unit_test(mutated_requests_are_refused_or_in_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
