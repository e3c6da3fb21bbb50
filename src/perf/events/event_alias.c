#include "perf/events/event_alias.h"

#include "perf/events/event_pfm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FREQUENT 1000003
#define RARE     9973

const struct alias event_aliases[] = {
	{"flops", "floating-point operations, a fused multiply-add counting for two", false,
         FREQUENT},
	{"dp-flops", "floating-point operations in double precision", false, FREQUENT},
	{"sp-flops", "floating-point operations in single precision", false, FREQUENT},
	{"tlb-misses", "address translations of data that walked the page table", false, RARE},
	{"mem-bytes", "bytes that came from memory, in whole cache lines; not what is written back",
         false, RARE},
	{"cache-misses", "accesses that the last cache level missed", true, RARE},
	{"branch-misses", "mispredicted branches", true, RARE},
	{0},
};

static const struct alias_row {
	const char *alias;
	const char *pmus; /* libpfm4's names, each with a blank behind it */
	struct alias_part parts[ALIAS_PARTS_MAX + 1];
	const char *without; /* why there is none here */
} rows[] = {

#define INTEL_256 "bdw bdw_ep skl "
#define INTEL_512 "skx clx icl icx spr "
#define ZEN       "amd64_fam17h_zen1 amd64_fam17h_zen2 amd64_fam19h_zen3 "
#define FP        "FP_ARITH_INST_RETIRED."

	/* Intel counts instructions; those that fuse two operations count twice. */
	{"flops",
         INTEL_512,
         {{"scalar", 0x03c7, 1, FP "SCALAR"},
          {"x2", 0x04c7, 2, FP "128B_PACKED_DOUBLE"},
          {"x4", 0x18c7, 4, FP "4_FLOPS"},
          {"x8", 0x60c7, 8, FP "8_FLOPS"},
          {"x16", 0x80c7, 16, FP "512B_PACKED_SINGLE"}}},
	{"flops",
         INTEL_256,
         {{"scalar", 0x03c7, 1, FP "SCALAR"},
          {"x2", 0x04c7, 2, FP "128B_PACKED_DOUBLE"},
          {"x4", 0x18c7, 4, FP "128B_PACKED_SINGLE + 256B_PACKED_DOUBLE"},
          {"x8", 0x20c7, 8, FP "256B_PACKED_SINGLE"}}},
	{"dp-flops",
         INTEL_512,
         {{"scalar", 0x01c7, 1, FP "SCALAR_DOUBLE"},
          {"128b", 0x04c7, 2, FP "128B_PACKED_DOUBLE"},
          {"256b", 0x10c7, 4, FP "256B_PACKED_DOUBLE"},
          {"512b", 0x40c7, 8, FP "512B_PACKED_DOUBLE"}}},
	{"dp-flops",
         INTEL_256,
         {{"scalar", 0x01c7, 1, FP "SCALAR_DOUBLE"},
          {"128b", 0x04c7, 2, FP "128B_PACKED_DOUBLE"},
          {"256b", 0x10c7, 4, FP "256B_PACKED_DOUBLE"}}},
	{"sp-flops",
         INTEL_512,
         {{"scalar", 0x02c7, 1, FP "SCALAR_SINGLE"},
          {"128b", 0x08c7, 4, FP "128B_PACKED_SINGLE"},
          {"256b", 0x20c7, 8, FP "256B_PACKED_SINGLE"},
          {"512b", 0x80c7, 16, FP "512B_PACKED_SINGLE"}}},
	{"sp-flops",
         INTEL_256,
         {{"scalar", 0x02c7, 1, FP "SCALAR_SINGLE"},
          {"128b", 0x08c7, 4, FP "128B_PACKED_SINGLE"},
          {"256b", 0x20c7, 8, FP "256B_PACKED_SINGLE"}}},
	{"tlb-misses",
         INTEL_256 "hsw hsw_ep skx clx icl icx ",
         {{"loads", 0x0e08, 1, "DTLB_LOAD_MISSES.WALK_COMPLETED"},
          {"stores", 0x0e49, 1, "DTLB_STORE_MISSES.WALK_COMPLETED"}}},
	{"tlb-misses",
         "spr ",
         {{"loads", 0x0e12, 1, "DTLB_LOAD_MISSES.WALK_COMPLETED"},
          {"stores", 0x0e13, 1, "DTLB_STORE_MISSES.WALK_COMPLETED"}}},
	{"mem-bytes",
         INTEL_256 "hsw hsw_ep " INTEL_512,
         {{"", 0x412e, 64, "LONGEST_LAT_CACHE.MISS"}}},
	{"cache-misses",
         INTEL_256 "hsw hsw_ep " INTEL_512,
         {{"", 0x412e, 1, "LONGEST_LAT_CACHE.MISS"}}},
	{"branch-misses",
         INTEL_256 "hsw hsw_ep " INTEL_512,
         {{"", 0x00c5, 1, "BR_MISP_RETIRED.ALL_BRANCHES"}}},

	/* AMD counts operations, several a cycle, of either precision. */
	{"flops", ZEN, {{"", 0x0f03, 1, "fp_ret_sse_avx_ops.all"}}},
	{"flops", "amd64_fam19h_zen4 ", {{"", 0x1f03, 1, "fp_ret_sse_avx_ops.all"}}},
	{"dp-flops", ZEN "amd64_fam19h_zen4 ",
         .without = "this processor counts floating-point operations of all precisions together; "
                    "try -e flops"},
	{"sp-flops", ZEN "amd64_fam19h_zen4 ",
         .without = "this processor counts floating-point operations of all precisions together; "
                    "try -e flops"},
	{"tlb-misses", ZEN "amd64_fam19h_zen4 ", {{"", 0xf045, 1, "ls_l1_d_tlb_miss.all_l2_miss"}}},
	{"mem-bytes",
         "amd64_fam17h_zen2 ",
         {{"demand", 0x4843, 64, "ls_refills_from_sys.ls_mabresp_{lcl,rmt}_dram"},
          {"sw-prefetch", 0x4859, 64, "ls_sw_pf_dc_fill.ls_mabresp_{lcl,rmt}_dram"},
          {"hw-prefetch", 0x485a, 64, "ls_hw_pf_dc_fill.ls_mabresp_{lcl,rmt}_dram"}}},
	{"mem-bytes",
         "amd64_fam19h_zen3 amd64_fam19h_zen4 ",
         {{"", 0x4844, 64, "ls_any_fills_from_sys.dram_io_all"}}},
	{"cache-misses",
         ZEN "amd64_fam19h_zen4 ",
         {{"", 0x0964, 1, "l2_cache_req_stat.ic_dc_miss_in_l2"}}},
	{"branch-misses", ZEN "amd64_fam19h_zen4 ", {{"", 0x00c3, 1, "ex_ret_brn_misp"}}},

	/* Arm counts operations; scalable ones for each 128 bits of the vector length. */
	{"flops", "arm_n1 ",
         .without = "this processor counts floating-point instructions of any width, not "
                    "operations; try -e "
                    "arm_n1::VFP_SPEC and -e arm_n1::ASE_SPEC"},
	{"flops",
         "arm_v1 ",
         {{"fixed", 0x80c1, 1, "FP_FIXED_OPS_SPEC"}, {"scalable", 0x80c0, 2, "FP_SCALE_OPS_SPEC"}}},
	{"flops",
         "arm_n2 arm_v2 ",
         {{"fixed", 0x80c1, 1, "FP_FIXED_OPS_SPEC"}, {"scalable", 0x80c0, 1, "FP_SCALE_OPS_SPEC"}}},
	{"flops",
         "arm_a64fx ",
         {{"fixed", 0x80c1, 1, "FP_FIXED_OPS_SPEC"}, {"scalable", 0x80c0, 4, "FP_SCALE_OPS_SPEC"}}},
	{"dp-flops",
         "arm_a64fx ",
         {{"fixed", 0x80c7, 1, "FP_DP_FIXED_OPS_SPEC"},
          {"scalable", 0x80c6, 4, "FP_DP_SCALE_OPS_SPEC"}}},
	{"sp-flops",
         "arm_a64fx ",
         {{"fixed", 0x80c5, 1, "FP_SP_FIXED_OPS_SPEC"},
          {"scalable", 0x80c4, 4, "FP_SP_SCALE_OPS_SPEC"}}},
	{"dp-flops", "arm_n1 arm_n2 arm_v1 arm_v2 ",
         .without = "this processor counts no floating-point operations by precision"},
	{"sp-flops", "arm_n1 arm_n2 arm_v1 arm_v2 ",
         .without = "this processor counts no floating-point operations by precision"},
	{"tlb-misses", "arm_n1 arm_n2 arm_v1 arm_v2 ", {{"", 0x0034, 1, "DTLB_WALK"}}},
	{"tlb-misses", "arm_a64fx ", {{"", 0x002d, 1, "L2D_TLB_REFILL"}}},
	{"mem-bytes", "arm_n1 arm_n2 arm_v1 arm_v2 ", {{"", 0x0037, 64, "LL_CACHE_MISS_RD"}}},
	{"mem-bytes", "arm_a64fx ", {{"", 0x0309, 256, "L2_MISS_COUNT"}}},
	{"cache-misses",
         "arm_n1 arm_n2 arm_v1 arm_v2 arm_a64fx ",
         {{"", 0x0003, 1, "L1D_CACHE_REFILL"}}},
	{"branch-misses",
         "arm_n1 arm_n2 arm_v1 arm_v2 arm_a64fx ",
         {{"", 0x0010, 1, "BR_MIS_PRED"}}},
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

/* -- finding ----------------------------------------------------------------------------------- */

static const char *behind_pmu(const char *name)
{
	const char *colons = strstr(name, "::");

	return colons ? colons + 2 : name;
}

const struct alias *alias_of(const char *name)
{
	size_t size;

	name = behind_pmu(name);
	size = strcspn(name, ":");
	for (const struct alias *alias = event_aliases; alias->name; alias++)
		if (strlen(alias->name) == size && !strncasecmp(alias->name, name, size))
			return alias;
	return NULL;
}

/* Tells whether a PMU is the wanted one; without a wanted one, whether this machine has it. */
static bool is_wanted(const char *pmu, size_t size, const char *wanted)
{
	char name[64];

	if (wanted)
		return strlen(wanted) == size && !strncasecmp(wanted, pmu, size);
	snprintf(name, sizeof(name), "%.*s", (int)size, pmu);
	return pfm_is_present(name);
}

static bool row_is_for(const struct alias_row *row, const char *wanted)
{
	for (const char *pmu = row->pmus; *pmu; pmu = strchr(pmu, ' ') + 1)
		if (is_wanted(pmu, strcspn(pmu, " "), wanted))
			return true;
	return false;
}

const struct alias_part *alias_parts(const struct alias *alias, const char *pmu, char why[WHY_SIZE])
{
	for (const struct alias_row *row = rows; row < rows + NR_ROWS; row++) {
		if (strcmp(row->alias, alias->name) != 0 || !row_is_for(row, pmu))
			continue;
		if (!row->without)
			return row->parts;
		snprintf(why, WHY_SIZE, "event '%s': %s", alias->name, row->without);
		return NULL;
	}
	snprintf(why, WHY_SIZE,
	         "event '%s': what counts it on %s%s is not known; adaptrace list shows what there "
	         "is",
	         alias->name, pmu ? "PMU " : "this processor", pmu ? pmu : "");
	return NULL;
}

/* -- encoding ---------------------------------------------------------------------------------- */

/* Appends the names of the parts. */
static int explain_parts(const struct alias_part *parts, const char *name, const char *what,
                         char why[WHY_SIZE])
{
	const char *join = "; try one of: ";
	size_t used = (size_t)snprintf(why, WHY_SIZE, "event '%s' %s", name, what);

	for (; parts->name && used < WHY_SIZE; parts++, join = ", ")
		used += (size_t)snprintf(why + used, WHY_SIZE - used, "%s:%s", join, parts->name);
	return -EINVAL;
}

static int choose_part(const struct alias_part *parts, const char *name, const char *wanted,
                       const struct alias_part **part, char why[WHY_SIZE])
{
	*part = parts;
	if (!*wanted)
		return parts[1].name ? explain_parts(parts, name, "is the sum of several", why) : 0;
	for (; (*part)->name; (*part)++)
		if (*(*part)->name && !strcasecmp((*part)->name, wanted + 1))
			return 0;
	if (parts->name && *parts->name)
		return explain_parts(parts, name, "has no such part", why);
	snprintf(why, WHY_SIZE, "event '%s': it has no parts; try it without '%s'", name, wanted);
	return -EINVAL;
}

int alias_encode(const char *name, struct event *event, char why[WHY_SIZE])
{
	const struct alias *alias = alias_of(name);
	const char *bare = behind_pmu(name);
	const struct alias_part *parts, *part;
	char pmu[EVENT_NAME_MAX] = "";
	int err;

	if (!alias || (alias->generic && bare == name))
		return -ENOENT;
	if (bare != name)
		snprintf(pmu, sizeof(pmu), "%.*s", (int)(bare - name) - 2, name);
	parts = alias_parts(alias, *pmu ? pmu : NULL, why);
	if (!parts)
		return -EINVAL;
	err = choose_part(parts, name, bare + strcspn(bare, ":"), &part, why);
	if (err)
		return err;
	event->attr.type = PERF_TYPE_RAW;
	event->attr.config = part->code;
	event->scale = part->scale;
	event->usual = alias->usual;
	event->foreign = *pmu && !pfm_is_present(pmu);
	return 0;
}
