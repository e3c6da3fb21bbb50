#include "output/text/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

#define HOUR 3600e9 /* ns */

static bool continues(const char *at, unsigned nr)
{
	for (unsigned i = 1; i <= nr; i++)
		if (((unsigned char)at[i] & 0xc0) != 0x80)
			return false;
	return true;
}

unsigned text_decode(const char *at, uint32_t *character)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	unsigned char first = (unsigned char)*at;
	unsigned more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;

	if (first < 0x80) {
		*character = first;
		return 1;
	}
	if (first < 0xc2 || first > 0xf4 || !continues(at, more))
		return 0;
	*character = first & (0x3f >> more);
	for (unsigned i = 1; i <= more; i++)
		*character = *character << 6 | ((unsigned char)at[i] & 0x3f);
	if (*character < least[more] || *character > 0x10ffff ||
	    (*character >= 0xd800 && *character < 0xe000))
		return 0;
	return more + 1;
}

/* Controls, and marks that change what is seen of their neighbours. */
static bool harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

/* Letters of East Asia take two columns, marks above others none; what is not known, one. */
static unsigned width_of(uint32_t character)
{
	int width = character < 0x80 ? 1 : wcwidth((wchar_t)character);

	return width < 0 ? 1 : (unsigned)width;
}

/* One character as it is shown, and the columns it takes; returns the bytes it had. */
static unsigned shown(const char *at, char piece[16], unsigned *columns)
{
	uint32_t character;
	unsigned size = text_decode(at, &character);

	if (!size || (harmful(character) && character < 0x80)) {
		*columns = (unsigned)sprintf(piece, "\\x%02x", (unsigned char)*at);
		return 1;
	}
	if (harmful(character)) {
		*columns = (unsigned)sprintf(piece, "\\u{%x}", character);
		return size;
	}
	memcpy(piece, at, size);
	piece[size] = 0;
	*columns = width_of(character);
	return size;
}

static unsigned columns_of(const char *name)
{
	unsigned total = 0, columns;
	char piece[16];

	while (*name) {
		name += shown(name, piece, &columns);
		total += columns;
	}
	return total;
}

/* Whether it is shown as it is, a column for each byte, as nearly all names; its size. */
static bool is_plain(const char *name, size_t *size)
{
	const char *at = name;

	while (*at >= 0x20 && *at < 0x7f)
		at++;
	*size = (size_t)(at - name);
	return !*at;
}

unsigned text_put(FILE *to, const char *name, unsigned width)
{
	unsigned total, used = 0, columns;
	char piece[16];
	size_t size;

	if (to && is_plain(name, &size) && (!width || size <= width)) {
		fwrite_unlocked(name, 1, size, to);
		return (unsigned)size;
	}
	total = columns_of(name);
	if (!to || !width || total <= width)
		width = total;
	if (!to)
		return total;
	while (*name) {
		name += shown(name, piece, &columns);
		if (used + columns > width - (total > width)) {
			fputs("…", to);
			return used + 1;
		}
		fputs(piece, to);
		used += columns;
	}
	return used;
}

void text_put_padded(FILE *to, const char *name, unsigned width)
{
	unsigned used = text_put(to, name, 0);

	if (used < width)
		fprintf(to, "%*s", (int)(width - used), "");
}

int text_field(const char *text, unsigned columns)
{
	size_t unseen = strlen(text) - columns_of(text);

	return (int)(columns + unseen);
}

/* --- commands --------------------------------------------------------------------------------- */

static bool plain(const char *argument, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!text_is_word(argument[i]) && !strchr("%+,-./:=@", argument[i]))
			return false;
	return size > 0;
}

static void put_argument(FILE *to, const char *argument, size_t size, bool whole)
{
	const char *quote = whole || plain(argument, size) ? "" : "'";
	char piece[16];
	unsigned columns;

	fputs(quote, to);
	for (const char *end = argument + size; argument < end;) {
		if (*argument == '\'' && !whole) {
			fputs("'\\''", to);
			argument++;
			continue;
		}
		argument += shown(argument, piece, &columns);
		fputs(piece, to);
	}
	fputs(quote, to);
}

void text_put_command(FILE *to, const char *command, size_t left, bool scope)
{
	for (;; scope = false) {
		size_t size = strcspn(command, "\x1f");

		if (size >= left && command[left]) {
			if (left)
				put_argument(to, command, left, scope);
			fputs("…", to);
			return;
		}
		put_argument(to, command, size, scope);
		if (!command[size])
			return;
		fputc(' ', to);
		command += size + 1;
		left -= size + 1;
	}
}

/* --- quantities ------------------------------------------------------------------------------- */

/* Four digits in all behind a unit that is not the first, or as many behind the point as said. */
static void scaled(char text[TEXT_SIZE], double value, double step, const char *const *units,
                   unsigned nr, int digits)
{
	unsigned i = 0;

	while (i + 1 < nr && value >= (i ? 0.99995 : 0.9995) * step) {
		value /= step;
		i++;
	}
	if (digits < 0)
		digits = value < 9.9995 ? 3 : value < 99.995 ? 2 : 1;
	snprintf(text, TEXT_SIZE, "%.*f%s", i ? digits : 0, value, units[i]);
}

static void put_quantity(char text[TEXT_SIZE], double value, enum trace_unit unit,
                         const char *const *counts)
{
	static const char *const times[] = {" ns", " µs", " ms", " s"};

	if (unit == TRACE_NS)
		scaled(text, value, 1000, times, 4, -1);
	else if (value < 99999.5)
		snprintf(text, TEXT_SIZE, "%.0f", value);
	else
		scaled(text, value, 1000, counts, 7, -1);
}

void text_quantity(char text[TEXT_SIZE], double value, enum trace_unit unit)
{
	static const char *const counts[] = {"",          " thousand",    " million",    " billion",
	                                     " trillion", " quadrillion", " quintillion"};
	uint64_t seconds = (uint64_t)((value + 5e8) / 1e9);

	if (unit != TRACE_NS || value < HOUR)
		put_quantity(text, value, unit, counts);
	else
		snprintf(text, TEXT_SIZE, "%" PRIu64 " h %u min %u s", seconds / 3600,
		         (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
}

void text_cell(char text[TEXT_SIZE], double value, enum trace_unit unit)
{
	static const char *const counts[] = {"", "k", "M", "G", "T", "P", "E"};

	if (unit != TRACE_NS || value < HOUR)
		put_quantity(text, value, unit, counts);
	else
		snprintf(text, TEXT_SIZE, "%.*f h", value < 99.9995 * HOUR ? 3 : 1, value / HOUR);
}

void text_fixed(char text[TEXT_SIZE], double value, int digits, bool sign)
{
	if (fabs(value) * 2 < pow(10, -digits))
		value = 0; /* which has no minus */
	snprintf(text, TEXT_SIZE, sign ? "%+.*f" : "%.*f", digits, value);
}

void text_bytes(char text[TEXT_SIZE], uint64_t bytes)
{
	static const char *const units[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};

	if (bytes == 1)
		snprintf(text, TEXT_SIZE, "1 byte");
	else
		scaled(text, (double)bytes, 1024, units, 5, 1);
}

/* Only nothing is 0 %, and only all is 100 %. */
const char *text_share(char text[TEXT_SIZE], uint64_t part, uint64_t whole)
{
	double share = percent((double)part, whole);
	int digits = part && share < 1 ? 2 : 1;
	double least = digits == 2 ? 0.01 : 0.1;

	for (; digits < 9 && part && part != whole; digits++, least /= 10)
		if (share >= least && fabs(100 - share) >= least)
			break;
	snprintf(text, TEXT_SIZE, "%.*f %%", digits, share);
	return text;
}

void text_period(char text[TEXT_SIZE], uint64_t period, enum trace_unit unit)
{
	size_t size = 0;

	if (unit == TRACE_NS || period != 1) {
		text_quantity(text, (double)period, unit);
		size = strlen(text);
	}
	if (unit != TRACE_NS)
		snprintf(text + size, TEXT_SIZE - size, "%s",
		         period == 1 ? "time" : " occurrences");
}

void text_rate(char text[TEXT_SIZE], uint64_t period, enum trace_unit unit)
{
	double hz = period ? 1e9 / (double)period : 0;

	if (unit == TRACE_NS)
		snprintf(text, TEXT_SIZE, hz < 99.95 ? "%#.3g Hz" : "%.0f Hz", hz);
	else
		snprintf(text, TEXT_SIZE, "1 in %llu", (unsigned long long)period);
}

static bool is_metric(const char *condition, const char *metric)
{
	condition += strspn(condition, " \t");
	return !strncmp(condition, metric, strlen(metric)) &&
	       !text_is_word(condition[strlen(metric)]);
}

void text_condition_value(char text[TEXT_SIZE], const char *condition, double value)
{
	if (!isfinite(value))
		snprintf(text, TEXT_SIZE, "%g", value);
	else if (is_metric(condition, "share") || is_metric(condition, "mpi"))
		snprintf(text, TEXT_SIZE, "%.1f %%", 100 * value);
	else if (is_metric(condition, "rss") && value >= 0 && value < 1e18)
		text_bytes(text, (uint64_t)value);
	else if (is_metric(condition, "time"))
		text_quantity(text, value * 1e9, TRACE_NS);
	else if (is_metric(condition, "rate"))
		snprintf(text, TEXT_SIZE, "%.4g/s", value);
	else
		snprintf(text, TEXT_SIZE, "%.4g", value);
}

const char *text_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *text_bar(unsigned eighths)
{
	static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

	return bars[eighths < 8 ? eighths : 8];
}
