#include "base/suggest.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* These let a typo always rank before letters left out. */
#define DISTANCE_PREFIX      50
#define DISTANCE_SUBSEQUENCE 100
#define SHORTEST_PREFIX      2
#define SHORTEST_SUBSEQUENCE 3

void suggest_init(struct suggest *suggest, const char *wanted)
{
	memset(suggest, 0, sizeof(*suggest));
	suggest->wanted = wanted;
}

static bool same(char a, char b)
{
	/* people write '_' for '-' */
	return tolower((unsigned char)a) == tolower((unsigned char)b) || (a == '_' && b == '-') ||
	       (a == '-' && b == '_');
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to insert, delete, replace or swap with their neighbour. */
static unsigned edit_distance(const char *a, unsigned na, const char *b, unsigned nb)
{
	unsigned row[3][SUGGEST_NAME_MAX + 1]; /* the last three, in turn */

	for (unsigned j = 0; j <= nb; j++)
		row[0][j] = j;
	for (unsigned i = 1; i <= na; i++) {
		unsigned *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		now[0] = i;
		for (unsigned j = 1; j <= nb; j++) {
			now[j] = min3(up[j] + 1, now[j - 1] + 1,
			              up[j - 1] + !same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
			    same(a[i - 2], b[j - 1]) && up2[j - 2] + 1 < now[j])
				now[j] = up2[j - 2] + 1;
		}
	}
	return row[na % 3][nb];
}

static bool is_subsequence(const char *wanted, const char *name)
{
	for (; *wanted && *name; name++)
		wanted += same(*wanted, *name);
	return !*wanted;
}

/* UINT_MAX: not near. */
static unsigned distance_of(const char *wanted, const char *name)
{
	unsigned nw = (unsigned)strnlen(wanted, SUGGEST_NAME_MAX);
	unsigned nn = (unsigned)strnlen(name, SUGGEST_NAME_MAX), edits;

	if (nw == SUGGEST_NAME_MAX || nn == SUGGEST_NAME_MAX)
		return UINT_MAX;
	edits = edit_distance(wanted, nw, name, nn);
	if (edits < nw && edits <= 1 + nw / 4)
		return edits;
	if (nw >= SHORTEST_PREFIX && !strncasecmp(wanted, name, nw))
		return DISTANCE_PREFIX + (nn - nw);
	if (nw >= SHORTEST_SUBSEQUENCE && is_subsequence(wanted, name))
		return DISTANCE_SUBSEQUENCE + (nn - nw);
	return UINT_MAX;
}

static bool is_known(const struct suggest *suggest, const char *name)
{
	for (unsigned i = 0; i < suggest->nr; i++)
		if (!strcasecmp(suggest->best[i].name, name))
			return true;
	return false;
}

int suggest_offer(void *arg, const char *name)
{
	struct suggest *suggest = arg;
	unsigned distance = distance_of(suggest->wanted, name);
	unsigned at = suggest->nr;

	if (distance == UINT_MAX || is_known(suggest, name))
		return 0;
	while (at > 0 && suggest->best[at - 1].distance > distance)
		at--;
	if (at == SUGGEST_MAX)
		return 0;
	if (suggest->nr < SUGGEST_MAX)
		suggest->nr++;
	memmove(&suggest->best[at + 1], &suggest->best[at],
	        (suggest->nr - 1 - at) * sizeof(suggest->best[0]));
	snprintf(suggest->best[at].name, SUGGEST_NAME_MAX, "%s", name);
	suggest->best[at].distance = distance;
	return 0;
}

void suggest_print(const struct suggest *suggest, const char *otherwise, char *text, size_t size)
{
	const char *join = "; did you mean ";
	size_t used = 0;

	snprintf(text, size, "%s", suggest->nr ? "" : otherwise);
	for (unsigned i = 0; i < suggest->nr && used < size; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s'%s'%s", join,
		                         suggest->best[i].name, i + 1 == suggest->nr ? "?" : "");
		join = i + 2 == suggest->nr ? " or " : ", ";
	}
}
