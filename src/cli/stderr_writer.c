#include "cli/stderr_writer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE_SIZE  16384
#define PROMPT_MS   100  /* a terminal that takes longer is not waited for */
#define PATIENCE_MS 2000 /* at the end, without progress */

/* --- the side process ------------------------------------------------------------------------- */

static void write_all(const char *bytes, size_t size)
{
	struct pollfd writable = {.fd = STDERR_FILENO, .events = POLLOUT};
	ssize_t done;

	while (size) {
		done = write(STDERR_FILENO, bytes, size);
		if (done < 0 && errno == EAGAIN)
			poll(&writable, 1, -1); /* somebody made it non-blocking */
		else if (done < 0)
			return;
		else
			size -= (size_t)done;
		bytes += done > 0 ? done : 0;
	}
}

/* Each message is acknowledged by a byte. */
static void write_messages(void *arg, int fd)
{
	char message[PIECE_SIZE];
	ssize_t size;

	(void)arg;
	while ((size = recv(fd, message, sizeof(message), 0)) > 0) {
		write_all(message, (size_t)size);
		send(fd, "", 1, MSG_NOSIGNAL);
	}
}

/* --- the recorder ----------------------------------------------------------------------------- */

static void count_shown(struct stderr_writer *writer)
{
	char byte;

	while (recv(writer->process.fd, &byte, 1, MSG_DONTWAIT) == 1)
		writer->shown++;
}

bool stderr_writer_is_behind(struct stderr_writer *writer)
{
	if (!writer->stream)
		return false;
	count_shown(writer);
	return writer->shown < writer->sent;
}

static void await_shown(struct stderr_writer *writer, int ms, bool hasty)
{
	uint64_t before;

	do {
		before = writer->shown;
		if (!stderr_writer_is_behind(writer) ||
		    !side_process_wait(&writer->process, ms, hasty))
			return;
		count_shown(writer);
	} while (writer->shown > before);
}

/* A stream that fails would be one more thing to tell of: what is dropped is counted instead. */
static ssize_t put(void *cookie, const char *bytes, size_t size)
{
	struct stderr_writer *writer = cookie;
	bool behind = stderr_writer_is_behind(writer);
	size_t piece;

	for (size_t at = 0; at < size; at += piece) {
		piece = size - at < PIECE_SIZE ? size - at : PIECE_SIZE;
		if (send(writer->process.fd, bytes + at, piece, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
			writer->dropped++;
			break;
		}
		writer->sent++;
	}
	if (!behind)
		await_shown(writer, PROMPT_MS, false);
	return (ssize_t)size;
}

void stderr_writer_open(struct stderr_writer *writer)
{
	static const int keep[] = {STDERR_FILENO};

	*writer = (struct stderr_writer){0};
	if (side_process_start(&writer->process, write_messages, NULL, keep, 1))
		return;
	writer->stream = fopencookie(writer, "w", (cookie_io_functions_t){.write = put});
	if (!writer->stream) {
		side_process_kill(&writer->process);
		return;
	}
	setvbuf(writer->stream, NULL, _IONBF, 0);
	writer->before = stderr;
	stderr = writer->stream;
}

void stderr_writer_close(struct stderr_writer *writer)
{
	if (!writer->stream)
		return;
	await_shown(writer, PATIENCE_MS, true);
	if (writer->dropped) {
		fprintf(stderr,
		        "adaptrace: %llu messages are missing here: no room was left for "
		        "them while output was stopped\n",
		        (unsigned long long)writer->dropped);
		await_shown(writer, PATIENCE_MS, true);
	}
	stderr = writer->before;
	fclose(writer->stream);
	side_process_leave(&writer->process);
	writer->stream = NULL;
}
