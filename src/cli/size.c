#include "cli/size.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int size_parse(const char *text, size_t *size)
{
	unsigned long long value;
	unsigned shift;
	char *end;
	int letter;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	letter = toupper((unsigned char)*end);
	shift = letter == 'K' ? 10 : letter == 'M' ? 20 : letter == 'G' ? 30 : 0;
	end += shift > 0;
	if (*end && strcmp(end, "B") != 0 && !(shift && !strcmp(end, "iB")))
		return -EINVAL;
	if (errno || value > SIZE_MAX >> shift)
		return -ERANGE;
	*size = (size_t)value << shift;
	return 0;
}
