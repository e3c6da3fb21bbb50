#include "base/access_class.h"

#include <linux/perf_event.h>
#include <stdio.h>

/* The kernel headers of the build machine may be too old to define these. */
#define LEVEL_NUMBER_CXL 0x09
#define LEVEL_NUMBER_IO  0x0a
#define SNOOPX_PEER      0x02

enum { HIT = 1, MISS = 2 };

static const struct field {
	unsigned shift, bits;
} LEVEL = {0, 4}, REMOTE = {4, 1}, OUTCOME = {5, 2}, OPERATION = {7, 2}, TLB = {9, 3},
  SNOOP = {12, 3}, LOCKED = {15, 1}, LATENCY = {16, 3}, PLACE = {19, 3};

static uint32_t put(struct field field, unsigned value)
{
	return (value & ((1U << field.bits) - 1)) << field.shift;
}

static unsigned get(struct field field, uint32_t class)
{
	return class >> field.shift & ((1U << field.bits) - 1);
}

/* -- from the kernel's words ------------------------------------------------------------------- */

struct level {
	enum access_level level;
	bool remote;
};

/* Newer kernels report the level as a number. */
static struct level level_by_number(const union perf_mem_data_src *source)
{
	static const uint8_t levels[16] = {
		[PERF_MEM_LVLNUM_L1] = ACCESS_L1,
		[PERF_MEM_LVLNUM_L2] = ACCESS_L2,
		[PERF_MEM_LVLNUM_L3] = ACCESS_L3,
		[PERF_MEM_LVLNUM_L4] = ACCESS_L4,
		[LEVEL_NUMBER_CXL] = ACCESS_CXL,
		[LEVEL_NUMBER_IO] = ACCESS_IO,
		[PERF_MEM_LVLNUM_ANY_CACHE] = ACCESS_CACHE,
		[PERF_MEM_LVLNUM_LFB] = ACCESS_FILL_BUFFER,
		[PERF_MEM_LVLNUM_RAM] = ACCESS_RAM,
		[PERF_MEM_LVLNUM_PMEM] = ACCESS_PERSISTENT,
	};

	return (struct level){levels[source->mem_lvl_num], source->mem_remote};
}

/*
 * Older kernels report the level as a set of bits. If several entries match, the last one counts.
 */
static struct level level_by_bits(uint64_t bits)
{
	static const struct {
		unsigned bits;
		struct level level;
	} levels[] = {
		{PERF_MEM_LVL_UNC, {ACCESS_UNCACHED, false}},
		{PERF_MEM_LVL_IO, {ACCESS_IO, false}},
		{PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2, {ACCESS_CACHE, true}},
		{PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2, {ACCESS_RAM, true}},
		{PERF_MEM_LVL_LOC_RAM, {ACCESS_RAM, false}},
		{PERF_MEM_LVL_L3, {ACCESS_L3, false}},
		{PERF_MEM_LVL_L2, {ACCESS_L2, false}},
		{PERF_MEM_LVL_LFB, {ACCESS_FILL_BUFFER, false}},
		{PERF_MEM_LVL_L1, {ACCESS_L1, false}},
	};

	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (bits & levels[i].bits)
			return levels[i].level;
	return (struct level){ACCESS_NO_LEVEL, false};
}

static unsigned outcome_of(uint64_t level)
{
	return level & PERF_MEM_LVL_HIT ? HIT : level & PERF_MEM_LVL_MISS ? MISS : 0;
}

static unsigned operation_of(uint64_t operation)
{
	return operation & PERF_MEM_OP_LOAD     ? 1
	       : operation & PERF_MEM_OP_STORE  ? 2
	       : operation & PERF_MEM_OP_PFETCH ? 3
	                                        : 0;
}

static unsigned tlb_of(uint64_t tlb)
{
	bool first = tlb & PERF_MEM_TLB_L1, second = tlb & PERF_MEM_TLB_L2;

	if (tlb & PERF_MEM_TLB_OS)
		return 5;
	if (tlb & PERF_MEM_TLB_MISS || (tlb & PERF_MEM_TLB_WK && !first && !second))
		return 4;
	if (!(tlb & PERF_MEM_TLB_HIT))
		return 0;
	return first && second ? 3 : second ? 2 : first ? 1 : 3;
}

static unsigned snoop_of(uint64_t snoop, uint64_t more)
{
	return snoop & PERF_MEM_SNOOP_HITM   ? 4
	       : more & SNOOPX_PEER          ? 6
	       : more & PERF_MEM_SNOOPX_FWD  ? 5
	       : snoop & PERF_MEM_SNOOP_HIT  ? 2
	       : snoop & PERF_MEM_SNOOP_MISS ? 3
	       : snoop & PERF_MEM_SNOOP_NONE ? 1
	                                     : 0;
}

static unsigned latency_of(uint64_t cycles)
{
	unsigned class = 1;

	if (!cycles)
		return 0;
	for (cycles /= 16; cycles && class < 5; cycles /= 4)
		class ++;
	return class;
}

uint32_t access_class_make(uint64_t data_src, uint64_t latency, enum access_origin place)
{
	const union perf_mem_data_src source = {.val = data_src};
	struct level level = level_by_number(&source);

	if (level.level == ACCESS_NO_LEVEL)
		level = level_by_bits(source.mem_lvl);
	return put(LEVEL, level.level) | put(REMOTE, level.remote) |
	       put(OUTCOME, outcome_of(source.mem_lvl)) |
	       put(OPERATION, operation_of(source.mem_op)) | put(TLB, tlb_of(source.mem_dtlb)) |
	       put(SNOOP, snoop_of(source.mem_snoop, source.mem_snoopx)) |
	       put(LOCKED, !!(source.mem_lock & PERF_MEM_LOCK_LOCKED)) |
	       put(LATENCY, latency_of(latency)) | put(PLACE, place);
}

/* -- for readers ------------------------------------------------------------------------------- */

/* The class with nothing in it but one field. */
static uint32_t only(struct field field, uint32_t class)
{
	return put(field, get(field, class));
}

uint32_t access_class_part(uint32_t class, unsigned fields)
{
	uint32_t part = 0;

	if (fields & ACCESS_BY_LEVEL)
		part |= get(LEVEL, class)
		                ? only(LEVEL, class) | only(REMOTE, class) | only(OUTCOME, class)
		                : only(PLACE, class);
	if (fields & ACCESS_BY_TLB)
		part |= only(TLB, class);
	if (fields & ACCESS_BY_SNOOP)
		part |= only(SNOOP, class);
	if (fields & ACCESS_BY_LATENCY)
		part |= only(LATENCY, class);
	if (fields & ACCESS_BY_OPERATION)
		part |= only(OPERATION, class) | only(LOCKED, class);
	return part;
}

static const char *word(const char *const *words, unsigned nr, unsigned number)
{
	return number < nr ? words[number] : "-";
}

#define WORD(words, number) word(words, sizeof(words) / sizeof(*(words)), number)

static const char *level_text(uint32_t class, char text[ACCESS_TEXT_SIZE])
{
	static const char *const levels[] = {"-",     "L1",  "LFB",  "L2",  "L3", "L4",
	                                     "cache", "RAM", "PMEM", "CXL", "IO", "uncached"};
	static const char *const outcomes[] = {"", " hit", " miss"};
	static const char *const places[] = {"-", "kernel", "stack", "code", "data"};

	if (!get(LEVEL, class))
		return WORD(places, get(PLACE, class));
	snprintf(text, ACCESS_TEXT_SIZE, "%s%s%s", get(REMOTE, class) ? "remote " : "",
	         WORD(levels, get(LEVEL, class)), WORD(outcomes, get(OUTCOME, class)));
	return text;
}

static const char *operation_text(uint32_t class, char text[ACCESS_TEXT_SIZE])
{
	static const char *const operations[] = {"-", "load", "store", "prefetch"};

	snprintf(text, ACCESS_TEXT_SIZE, "%s%s", get(LOCKED, class) ? "locked " : "",
	         WORD(operations, get(OPERATION, class)));
	return text;
}

const char *access_class_text(uint32_t class, enum access_field field, char text[ACCESS_TEXT_SIZE])
{
	static const char *const tlbs[] = {"-", "L1 hit", "L2 hit", "hit", "walk", "fault"};
	static const char *const snoops[] = {"-",         "none", "hit", "miss", "hit modified",
	                                     "forwarded", "peer"};
	static const char *const latencies[] = {"-",      "below 16", "16-63",
	                                        "64-255", "256-1023", "from 1024"};

	switch (field) {
	case ACCESS_BY_LEVEL:
		return level_text(class, text);
	case ACCESS_BY_TLB:
		return WORD(tlbs, get(TLB, class));
	case ACCESS_BY_SNOOP:
		return WORD(snoops, get(SNOOP, class));
	case ACCESS_BY_LATENCY:
		return WORD(latencies, get(LATENCY, class));
	case ACCESS_BY_OPERATION:
		return operation_text(class, text);
	}
	return "-";
}
