#include "cli/plain_text.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE (64 << 10)

/* --- the locale ------------------------------------------------------------------------------- */

static const char *locale_name(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return value;
	}
	return "C";
}

/* A locale that is not installed here has its character set in its name alone. */
bool plain_text_wanted(void)
{
	const char *name = locale_name();
	locale_t locale;
	bool is_utf8;

	if (strcasestr(name, "utf-8") || strcasestr(name, "utf8"))
		return false;
	locale = newlocale(LC_CTYPE_MASK, name, NULL);
	if (!locale)
		return true;
	is_utf8 = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
	freelocale(locale);
	return !is_utf8;
}

/* --- signs ------------------------------------------------------------------------------------ */

static const struct sign {
	const char *utf8, *ascii;
	bool takes_space; /* one that follows it may be left out */
} signs[] = {
	{"±", "+-", true}, {"…", "~"}, {"µ", "u"},  {"→", "->"}, {"├", "|"}, {"│", "|"}, {"└", "`"},
	{"─", "-"},        {"×", "x"}, {"≥", ">="}, {"≤", "<="}, {"·", "*"}, {"▸", ">"}, {"▾", "*"},
};

static const struct sign *find_sign(const char *text, size_t size)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (strlen(signs[i].utf8) <= size &&
		    !memcmp(text, signs[i].utf8, strlen(signs[i].utf8)))
			return &signs[i];
	return NULL;
}

/* Columns that a line is too long by, and whether a space may be left out at this point. */
struct line {
	size_t excess;
	bool spare;
	bool lost; /* something found no memory: streams to memory do not always tell of it later */
};

/* Returns the bytes that were dealt with. */
static size_t put_sign(FILE *to, const char *text, size_t size, struct line *line)
{
	const struct sign *sign = find_sign(text, size);

	if (!sign) {
		line->lost |= putc_unlocked(*text, to) == EOF;
		line->spare = false;
		return 1;
	}
	line->lost |= fputs(sign->ascii, to) == EOF;
	line->excess += strlen(sign->ascii) - 1;
	line->spare = sign->takes_space;
	return strlen(sign->utf8);
}

static void put_ascii(FILE *to, char c, struct line *line)
{
	if (c == '\n')
		line->excess = 0;
	if (c == ' ' && line->spare && line->excess) {
		line->excess--;
		return;
	}
	line->lost |= putc_unlocked(c, to) == EOF;
	line->spare = c == ' ';
}

bool plain_text_put(FILE *to, const char *text, size_t size)
{
	struct line line = {0};

	for (size_t i = 0; i < size;) {
		if ((unsigned char)text[i] >= 0x80)
			i += put_sign(to, text + i, size - i, &line);
		else
			put_ascii(to, text[i++], &line);
	}
	return !line.lost;
}

/* --- standard output -------------------------------------------------------------------------- */

/* Bytes of a line that is not complete yet wait for its rest, so that no sign is cut. */
struct output {
	FILE *next; /* standard output as it was, with its bounds */
	char *rest;
	size_t nr;
};

static bool put_lines(FILE *next, const char *text, size_t size)
{
	char *plain = NULL;
	size_t plain_size = 0;
	FILE *memory = open_memstream(&plain, &plain_size);
	bool done, whole;

	if (!memory)
		return false;
	whole = plain_text_put(memory, text, size);
	/* fclose() succeeds even if no memory is left for the text. */
	done = !fclose(memory) && whole && plain &&
	       fwrite(plain, 1, plain_size, next) == plain_size && !fflush(next);
	free(plain);
	return done;
}

/* Text of an output: what waited, and what came, up to the last line feed. */
static ssize_t output_write(void *cookie, const char *text, size_t size)
{
	struct output *output = cookie;
	const char *last = memrchr(text, '\n', size);
	size_t whole = last ? (size_t)(last - text) + 1 : 0;
	char *joined = realloc(output->rest, output->nr + size + 1);

	if (!joined)
		return 0;
	output->rest = joined;
	memcpy(joined + output->nr, text, size);
	if (whole && !put_lines(output->next, joined, output->nr + whole))
		return 0;
	output->nr = (whole ? 0 : output->nr) + size - whole;
	memmove(joined, text + whole, whole ? output->nr : 0);
	return (ssize_t)size;
}

static int output_close(void *cookie)
{
	struct output *output = cookie;
	bool done = !output->nr || put_lines(output->next, output->rest, output->nr);

	free(output->rest);
	free(output);
	return done ? 0 : EOF;
}

int plain_text_start(void)
{
	const cookie_io_functions_t functions = {.write = output_write, .close = output_close};
	struct output *output;
	FILE *stream;

	if (!plain_text_wanted())
		return 0;
	output = calloc(1, sizeof(*output));
	stream = output ? fopencookie(output, "w", functions) : NULL;
	if (!stream) {
		free(output);
		return -ENOMEM;
	}
	setvbuf(stream, NULL, _IOFBF, BUFFER_SIZE);
	fflush(stdout);
	output->next = stdout;
	stdout = stream;
	return 0;
}
