#include "output/text/gzip.h"
#include "base/new_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

#define LEVEL       4 /* a third of the time of the default, and hardly larger */
#define GZIP_WINDOW (15 + 16)
#define OUT_SIZE    (64 << 10)

struct gzip {
	FILE *to;
	z_stream stream;
	unsigned char out[OUT_SIZE];
};

/* Passes on what the compressor has, until it has room to spare. */
static int drain(struct gzip *gzip, int flush)
{
	do {
		size_t size;

		gzip->stream.next_out = gzip->out;
		gzip->stream.avail_out = OUT_SIZE;
		if (deflate(&gzip->stream, flush) == Z_STREAM_ERROR)
			return -EIO;
		size = OUT_SIZE - gzip->stream.avail_out;
		if (fwrite(gzip->out, 1, size, gzip->to) != size)
			return errno ? -errno : -EIO;
	} while (!gzip->stream.avail_out);
	return 0;
}

static ssize_t write_cookie(void *cookie, const char *bytes, size_t size)
{
	struct gzip *gzip = cookie;
	int err;

	if (size > INT_MAX)
		size = INT_MAX;
	gzip->stream.next_in = (const unsigned char *)bytes;
	gzip->stream.avail_in = (unsigned)size;
	err = drain(gzip, Z_NO_FLUSH);
	errno = -err;
	return err ? 0 : (ssize_t)size; /* 0 is an error to stdio */
}

static int close_cookie(void *cookie)
{
	struct gzip *gzip = cookie;
	int err = drain(gzip, Z_FINISH);

	deflateEnd(&gzip->stream);
	free(gzip);
	errno = -err;
	return err ? -1 : 0;
}

FILE *gzip_open(FILE *to)
{
	static const cookie_io_functions_t functions = {.write = write_cookie,
	                                                .close = close_cookie};
	struct gzip *gzip = calloc(1, sizeof(*gzip));
	FILE *file = NULL;

	if (!gzip)
		return NULL;
	gzip->to = to;
	if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		goto out;
	file = fopencookie(gzip, "w", functions);
	if (file) {
		setvbuf(file, NULL, _IOFBF, OUT_SIZE);
		return file;
	}
	deflateEnd(&gzip->stream);
out:
	free(gzip);
	errno = ENOMEM;
	return NULL;
}

int gzip_close(FILE *file, int err)
{
	if (!err)
		err = new_file_flush(file);
	if (fclose(file) && !err)
		err = errno ? -errno : -EIO;
	return err;
}
