/*
 * Growing arrays. array_grow() and ARRAY_ADD() add one entry at a time and derive the room from the
 * number of entries; ARRAY_RESERVE() grows to any size and needs the room in a variable. Sorting
 * and binary search follow.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEAST 16 /* a power of two, as is every size of array_grow() */

/*
 * Makes room for one more entry in an array of nr entries of this size; array may be NULL if nr is
 * 0. Returns the array, which may have moved. NULL: no memory, and the array is unchanged. Call it
 * before each entry is added, the first one included; entries may be dropped from the end without a
 * call.
 */
static inline void *array_grow(void *array, size_t nr, size_t size)
{
	if (nr < ARRAY_LEAST ? nr : nr & (nr - 1))
		return array;
	return reallocarray(array, nr < ARRAY_LEAST ? ARRAY_LEAST : 2 * nr, size);
}

/*
 * Adds an entry to an array of nr entries. Evaluates to 0, or to -ENOMEM with the array unchanged.
 */
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
 * Like array_grow(), for an array that is emptied and filled again and again. *most is the largest
 * number of entries that it ever had, initially 0.
 */
static inline void *array_reach(void *array, size_t nr, size_t *most, size_t size)
{
	void *grown = nr < *most ? array : array_grow(array, nr, size);

	if (grown && nr == *most)
		++*most;
	return grown;
}

/* The new room for an array whose room is less than wanted. */
static inline size_t array_more(size_t room, size_t wanted)
{
	size_t more = room ? 2 * room : ARRAY_LEAST;

	return wanted < more ? more : wanted;
}

/*
 * Makes room for `wanted` entries in an array that has room for `room` of them; the array may be
 * NULL. New entries are not initialized. Evaluates to 0, or to -ENOMEM with the array unchanged.
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

/* The same, but new entries are zero. */
#define ARRAY_RESERVE_ZEROED(array, room, wanted)                         \
	({                                                                \
		const size_t array_before = (array) ? (room) : 0;         \
		const int array_err = ARRAY_RESERVE(array, room, wanted); \
                                                                          \
		if ((array) && (room) > array_before)                     \
			memset((array) + array_before, 0,                 \
			       ((room)-array_before) * sizeof(*(array))); \
		array_err;                                                \
	})

/* Compares two values as qsort() wants it. Further keys can be chained with ?: for equal values. */
#define ORDER(x, y)                                               \
	({                                                        \
		const __typeof__(x) order_x = (x), order_y = (y); \
                                                                  \
		(order_x > order_y) - (order_x < order_y);        \
	})

/*
 * Sort an array of nr entries, which may be NULL if nr is 0. ARRAY_SORT_WITH() passes an argument
 * to the comparison.
 */
#define ARRAY_SORT(array, nr, compare) \
	((nr) ? qsort(array, nr, sizeof(*(array)), compare) : (void)0)
#define ARRAY_SORT_WITH(array, nr, compare, arg) \
	((nr) ? qsort_r(array, nr, sizeof(*(array)), compare, arg) : (void)0)
/* Finds the entry of a sorted array that is equal to a key, or NULL. */
#define ARRAY_FIND(array, nr, key, compare)                                                  \
	((__typeof__(&(array)[0]))((nr) ? bsearch(key, array, nr, sizeof(*(array)), compare) \
	                                : NULL))

/*
 * The partition point of the numbers below nr: the number of them at the start for which a
 * condition on `index` holds. The condition must not hold for any later number.
 */
#define PARTITION(nr, index, ...)                                                      \
	({                                                                             \
		size_t array_from = 0, array_to = (nr);                                \
                                                                                       \
		while (array_from < array_to) {                                        \
			const size_t index = array_from + (array_to - array_from) / 2; \
                                                                                       \
			if (__VA_ARGS__)                                               \
				array_from = index + 1;                                \
			else                                                           \
				array_to = index;                                      \
		}                                                                      \
		array_from;                                                            \
	})
/* The same for an array of nr entries and a condition on `entry`, a pointer. */
#define ARRAY_PARTITION(array, nr, entry, ...)                                       \
	PARTITION(nr, array_index, ({                                                \
			  const __typeof__(*(array)) *entry = &(array)[array_index]; \
                                                                                     \
			  __VA_ARGS__;                                               \
		  }))

#endif
