#ifndef BASE_HEX_DIGIT_H
#define BASE_HEX_DIGIT_H

/* Returns the value of a lower-case hexadecimal digit, or -1. */
static inline int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
