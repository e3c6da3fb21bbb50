#include "output/text/name_parts.h"

#include "output/text/text.h"

#include <string.h>

size_t name_signs(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t size = strlen(word);

	if (at[0] == '-' && at[1] == '>')
		return 2;
	if (strncmp(at, word, size) != 0 || (at > name && text_is_word(at[-1])))
		return 0;
	if ((at[size] == '(' || at[size] == '[') && at[size + 1])
		return size + 2;
	return size + strspn(at + size, "<>=-");
}

int name_depth_behind(int depth, char c)
{
	if (c == '(' || c == '<')
		return depth + 1;
	return c == ')' || c == '>' ? depth - 1 : depth;
}

const char *name_next_part(const char *name, const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		size_t skip = name_signs(name, at);

		if (skip) {
			at += skip - 1;
			continue;
		}
		depth = name_depth_behind(depth, *at);
		if (!depth && at[0] == ':' && at[1] == ':')
			return at + 2;
	}
	return NULL;
}

const char *name_behind_bracket(const char *at, char open, char close)
{
	int depth = 0;

	for (; *at; at++) {
		depth += *at == open ? 1 : *at == close ? -1 : 0;
		if (!depth)
			return at + 1;
	}
	return NULL;
}

bool name_ends_with(const char *name, size_t size, const char *end)
{
	size_t n = strlen(end);

	return size >= n && !memcmp(name + size - n, end, n);
}
