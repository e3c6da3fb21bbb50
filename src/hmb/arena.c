#include "hmb/arena.h"

#include <string.h>

#define GROWTH ((size_t)1 << 20) /* that memory is asked for at once */

/*
 * Budget/64 keeps the bins that wait half-filled few. 16 KiB is enough for a bin's dictionaries;
 * larger ones learn them less often, where the budget has room for many of them.
 */
static unsigned bin_shift_for(size_t size)
{
	unsigned shift = 10;

	while (shift < 14 && (size_t)2 << shift <= size / 64)
		shift++;
	while (shift < 16 && (size_t)2 << shift <= size / 256)
		shift++;
	return shift;
}

void arena_init(struct arena *arena, void *memory, size_t size)
{
	unsigned shift = bin_shift_for(size);

	assert(size >= ARENA_MIN_SIZE && size <= ARENA_MAX_SIZE);
	*arena = (struct arena){
		.memory = memory,
		.size = size,
		.bin_shift = shift,
		.sub_shift = shift - 4 > 8 ? shift - 4 : 8,
		.nr_bins = (uint32_t)(size >> shift),
		.free = {BIN_NONE, BIN_NONE},
		.free_sub = {BIN_NONE, BIN_NONE},
		.away = {BIN_NONE, BIN_NONE},
		.limit = size,
	};
	arena->nr_free = arena->fresh_end = arena->nr_bins;
}

void bin_list_append(struct arena *arena, struct bin_list *list, struct bin *bin)
{
	uint32_t ref = bin_ref(arena, bin);

	bin->next = BIN_NONE;
	if (list->last == BIN_NONE)
		list->first = ref;
	else
		bin_at(arena, list->last)->next = ref;
	list->last = ref;
}

/*
 * Takes the first bin of a free list, which is a stack. list->last stays right only for an empty
 * list: only carve() appends to a free list, and only when it is empty.
 */
static struct bin *list_pop(struct arena *arena, struct bin_list *list)
{
	struct bin *bin = bin_at(arena, list->first);

	list->first = bin->next;
	if (list->first == BIN_NONE)
		list->last = BIN_NONE;
	return bin;
}

static bool grow(struct arena *arena, size_t size)
{
	if (arena->reserve(arena->arg, size))
		return false;
	arena->usable = size;
	return true;
}

/* Whether there is memory for the next fresh bin, if not for many. */
static bool is_usable(struct arena *arena)
{
	size_t end = (size_t)(arena->fresh + 1) << arena->bin_shift;
	size_t wanted = end + GROWTH < arena->size ? end + GROWTH : arena->size;

	if (!arena->reserve || end <= arena->usable || grow(arena, wanted) || grow(arena, end))
		return true;
	arena->nr_bins -= arena->fresh_end - arena->fresh;
	arena->fresh_end = arena->fresh;
	arena->nr_free = 0;
	return false;
}

static struct bin *take_whole(struct arena *arena)
{
	bool used_before = arena->free.first != BIN_NONE;
	struct bin *bin;

	if (!arena->nr_free || (!used_before && !is_usable(arena)))
		return NULL;
	arena->nr_free--;
	if (used_before)
		return list_pop(arena, &arena->free);
	bin = (void *)(arena->memory + ((size_t)arena->fresh++ << arena->bin_shift));
	bin->size_shift = (uint8_t)arena->bin_shift;
	return bin;
}

/*
 * Makes a whole bin into free sub-bins. It stays carved for good: the levels need them again. The
 * first sub-bin comes last, for its header tells a reader that the others are there.
 */
static bool carve(struct arena *arena)
{
	unsigned char *whole = (void *)take_whole(arena);

	if (!whole)
		return false;
	for (size_t at = (size_t)1 << arena->bin_shift; at;) {
		struct bin *sub = (void *)(whole + (at -= (size_t)1 << arena->sub_shift));

		memset(sub, 0, sizeof(*sub));
		__atomic_store_n(&sub->size_shift, (uint8_t)arena->sub_shift, __ATOMIC_RELEASE);
		bin_list_append(arena, &arena->free_sub, sub);
		arena->nr_free_sub++;
	}
	arena->nr_carved++;
	return true;
}

static struct bin *take_sub(struct arena *arena)
{
	if (!arena->nr_free_sub && !carve(arena))
		return NULL;
	arena->nr_free_sub--;
	return list_pop(arena, &arena->free_sub);
}

/* All behind the sequence. The size is what it was: it tells where the next bin is. */
static void clear_counts(struct bin *bin)
{
	size_t start = offsetof(struct bin, record_bytes);

	memset((unsigned char *)bin + start, 0, sizeof(*bin) - start);
}

struct bin *arena_take(struct arena *arena, enum bin_use use, bool sub)
{
	struct bin *bin = sub ? take_sub(arena) : take_whole(arena);

	if (!bin)
		return NULL;
	/*
	 * Whoever copies this meanwhile knows by the sequence that it became another one, before
	 * anything of the other is there, and by the use that its counts are its own.
	 */
	bin->use = BIN_FREE;
	__atomic_store_n(&bin->sequence, ++arena->sequence, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	clear_counts(bin);
	bin->next = BIN_NONE;
	bin->kind = bin->level = 0;
	__atomic_store_n(&bin->use, (uint8_t)use, __ATOMIC_RELEASE);
	return bin;
}

void arena_give(struct arena *arena, struct bin *bin)
{
	struct bin_list list = {bin_ref(arena, bin), bin_ref(arena, bin)};

	bin->use = BIN_FREE;
	bin->next = BIN_NONE;
	arena_splice(arena, &list, bin->size_shift != arena->bin_shift, 1);
}

void arena_splice(struct arena *arena, struct bin_list *list, bool sub, uint32_t nr)
{
	struct bin_list *free = sub ? &arena->free_sub : &arena->free;

	if (list->first == BIN_NONE)
		return;
	if (free->first != BIN_NONE) /* else the last bin need not be touched: it is in no cache */
		bin_at(arena, list->last)->next = free->first;
	free->first = list->first;
	*(sub ? &arena->nr_free_sub : &arena->nr_free) += nr;
	*list = (struct bin_list){BIN_NONE, BIN_NONE};
}

uint32_t bin_add_node(struct arena *arena, struct bin *bin, const struct node *node)
{
	unsigned char *at = (unsigned char *)bin + bin_size(bin) - bin->node_bytes - sizeof(*node);

	*(struct node *)(void *)at = *node;
	__atomic_store_n(&bin->node_bytes, bin->node_bytes + (uint32_t)sizeof(*node),
	                 __ATOMIC_RELEASE);
	return (uint32_t)((size_t)(at - arena->memory) / NODE_UNIT);
}

uint64_t arena_frame(const void *arena, uint32_t node)
{
	return node_at(arena, node)->frame;
}

/* --- the limit -------------------------------------------------------------------------------- */

#define PAGE ((size_t)4096)

/* Calls a function with the whole pages of a bin behind that of its header, if there are any. */
static int each_page(struct arena *arena, const struct bin *bin, arena_page_fn *fn)
{
	size_t start = (size_t)((const unsigned char *)bin - arena->memory);
	size_t end = (start + bin_size(bin)) & ~(PAGE - 1);

	start = (start + sizeof(*bin) + PAGE - 1) & ~(PAGE - 1);
	return fn && end > start ? fn(arena->arg, start, end - start) : 0;
}

static void put_away(struct arena *arena)
{
	struct bin *bin = list_pop(arena, &arena->free);

	/* Nobody reads the pages of a free bin, which would give them memory again. */
	__atomic_store_n(&bin->use, BIN_FREE, __ATOMIC_RELEASE);
	each_page(arena, bin, arena->release);
	bin->next = arena->away.first;
	arena->away.first = bin_ref(arena, bin);
	arena->nr_away++;
	arena->nr_free--;
	arena->nr_bins--;
}

static bool bring_back(struct arena *arena)
{
	struct bin *bin = bin_at(arena, arena->away.first);
	const uint32_t next = bin->next;

	if (each_page(arena, bin, arena->restore))
		return false;
	arena->away.first = next;
	arena->nr_away--;
	arena->nr_bins++;
	arena_give(arena, bin);
	return true;
}

/* Bins that were never taken go first, and come last: they have no memory. */
static void move_fresh_end(struct arena *arena, uint32_t to)
{
	arena->nr_bins += to - arena->fresh_end; /* modulo 2^32 */
	arena->nr_free += to - arena->fresh_end;
	arena->fresh_end = to;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void arena_set_limit(struct arena *arena, uint32_t nr)
{
	const uint32_t all = (uint32_t)(arena->size >> arena->bin_shift);

	while (arena->nr_bins < nr && arena->nr_away && bring_back(arena))
		continue;
	if (arena->nr_bins < nr)
		move_fresh_end(arena, smaller(all, arena->fresh_end + (nr - arena->nr_bins)));
	if (arena->nr_bins > nr)
		move_fresh_end(arena, arena->fresh_end - smaller(arena->fresh_end - arena->fresh,
		                                                 arena->nr_bins - nr));
	while (arena->nr_bins > nr && arena->free.first != BIN_NONE)
		put_away(arena);
}
