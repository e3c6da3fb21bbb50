/*
 * Arrays that grow entry by entry, where the number of entries says how many there is room for; and
 * the search in ordered ones.
 */
#ifndef SYMBOLIZE_ARRAY_H
#define SYMBOLIZE_ARRAY_H

#include <errno.h>
#include <stdlib.h>

#define ARRAY_LEAST 16 /* a power of two, as is all room */

/*
 * An array of nr entries of a size (NULL: of none yet) with room for one more: it may have moved.
 * NULL: no memory, and the array is as it was. To be asked before each entry is added, the first
 * one included; the last ones may be dropped without asking.
 */
static inline void *array_grow(void *array, size_t nr, size_t size)
{
	if (nr < ARRAY_LEAST ? nr : nr & (nr - 1))
		return array;
	return reallocarray(array, nr < ARRAY_LEAST ? ARRAY_LEAST : 2 * nr, size);
}

/* Adds an entry to an array of nr; 0, or -ENOMEM, and all is as it was. */
#define ARRAY_ADD(array, nr, ...)                                                        \
	({                                                                               \
		__typeof__(array) array_grown = array_grow(array, nr, sizeof(*(array))); \
                                                                                         \
		if (array_grown) {                                                       \
			(array) = array_grown;                                           \
			(array)[(nr)++] = (__VA_ARGS__);                                 \
		}                                                                        \
		array_grown ? 0 : -ENOMEM;                                               \
	})

/*
 * The same room, of one that is emptied and filled again and again: most is how many entries it had
 * when it had most of them, 0 to begin with.
 */
static inline void *array_reach(void *array, size_t nr, size_t *most, size_t size)
{
	void *grown = nr < *most ? array : array_grow(array, nr, size);

	if (grown && nr == *most)
		++*most;
	return grown;
}

/*
 * The partition point of an array of nr: how many entries it begins with for which a condition on
 * `entry`, a pointer, holds. It must hold for none behind them.
 */
#define ARRAY_PARTITION(array, nr, entry, ...)                                                \
	({                                                                                    \
		size_t array_from = 0, array_to = (nr);                                       \
                                                                                              \
		while (array_from < array_to) {                                               \
			const size_t array_middle = array_from + (array_to - array_from) / 2; \
			const __typeof__(*(array)) *entry = &(array)[array_middle];           \
                                                                                              \
			if (__VA_ARGS__)                                                      \
				array_from = array_middle + 1;                                \
			else                                                                  \
				array_to = array_middle;                                      \
		}                                                                             \
		array_from;                                                                   \
	})

#endif
