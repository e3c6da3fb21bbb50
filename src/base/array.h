/*
 * Arrays that grow: entry by entry, where the number of entries says how many there is room for, or
 * to any size, where that is kept beside them. And the order of entries, and the search in it.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define ARRAY_LEAST 16 /* a power of two, as is all room for entries that are added one by one */

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

/* How much room to make where there is not as much as is wanted. */
static inline size_t array_more(size_t room, size_t wanted)
{
	size_t more = room ? 2 * room : ARRAY_LEAST;

	return wanted < more ? more : wanted;
}

/*
 * Room for this many entries in an array that has room for so many, 0 of none yet; what is added is
 * not initialized. 0, or -ENOMEM, and all is as it was.
 */
#define ARRAY_RESERVE(array, room, wanted)                                                         \
	({                                                                                         \
		const size_t array_wanted = (wanted), array_room = array_more(room, array_wanted); \
		__typeof__(array) array_grown = NULL;                                              \
		const bool array_full = array_wanted > ((array) ? (room) : 0);                     \
                                                                                                   \
		if (array_full)                                                                    \
			array_grown = reallocarray(array, array_room, sizeof(*(array)));           \
		if (array_grown) {                                                                 \
			(array) = array_grown;                                                     \
			(room) = (__typeof__(room))array_room;                                     \
		}                                                                                  \
		array_full && !array_grown ? -ENOMEM : 0;                                          \
	})

/* How two values are ordered, as qsort() wants it. Where they are equal, ?: goes on to others. */
#define ORDER(x, y)                                               \
	({                                                        \
		const __typeof__(x) order_x = (x), order_y = (y); \
                                                                  \
		(order_x > order_y) - (order_x < order_y);        \
	})

/* Sorts an array of nr entries; NULL: of none. With: an argument for the comparison. */
#define ARRAY_SORT(array, nr, compare) \
	((nr) ? qsort(array, nr, sizeof(*(array)), compare) : (void)0)
#define ARRAY_SORT_WITH(array, nr, compare, arg) \
	((nr) ? qsort_r(array, nr, sizeof(*(array)), compare, arg) : (void)0)
/* The entry of a sorted array that is equal to a key, or NULL. */
#define ARRAY_FIND(array, nr, key, compare)                                                  \
	((__typeof__(&(array)[0]))((nr) ? bsearch(key, array, nr, sizeof(*(array)), compare) \
	                                : NULL))

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
