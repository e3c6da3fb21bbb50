/*
 * What names mean on processors that are not here. The codes are typed from the manufacturers'
 * public tables, not from any library:
 *
 *   Intel   github.com/intel/perfmon: SKX/events/skylakex_core.json, SPR/events/
 *           sapphirerapids_core.json, skylakex_fp_arith_inst.json for the operations
 *   AMD     the PPRs' events, as AMD contributed them to Linux (pmu-events/arch/x86/amdzen2 … 4)
 *   Arm     github.com/ARM-software/data: pmu/neoverse-n1.json, neoverse-v1.json
 *   Fujitsu github.com/fujitsu/A64FX, as contributed to Linux (arch/arm64/fujitsu/a64fx)
 */
#include "cases.h"
#include "perf/events/event.h"
#include "perf/events/event_alias.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* event code | unit mask << 8 | counter mask << 24, as x86 has them. */
#define X86(code, umask)         ((code) | (umask) << 8)
#define X86_C(code, umask, mask) (X86(code, umask) | (mask) << 24)

struct code {
	const char *name;
	uint64_t config;
};

static void check_codes(const char *pmu, const struct code *codes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char name[EVENT_NAME_MAX], why[WHY_SIZE];
		struct event event;

		snprintf(name, sizeof(name), "%s::%s", pmu, codes[i].name);
		if (event_parse(&event, name, why))
			fail_msg("%s: %s", name, why);
		assert_int_equal(event.attr.type, PERF_TYPE_RAW);
		if (event.attr.config != codes[i].config)
			fail_msg("%s: %#llx instead of %#llx", name,
			         (unsigned long long)event.attr.config,
			         (unsigned long long)codes[i].config);
	}
}

/* -- names of libpfm4 -------------------------------------------------------------------------- */

static const struct code skylake_x[] = {
	{"CPU_CLK_UNHALTED:THREAD_P", X86(0x3c, 0x00)},
	{"INST_RETIRED:ANY_P", X86(0xc0, 0x00)},
	{"BR_MISP_RETIRED:ALL_BRANCHES", X86(0xc5, 0x00)},
	{"LONGEST_LAT_CACHE:MISS", X86(0x2e, 0x41)},
	{"L1D:REPLACEMENT", X86(0x51, 0x01)},
	{"DTLB_LOAD_MISSES:WALK_COMPLETED", X86(0x08, 0x0e)},
	{"DTLB_STORE_MISSES:WALK_COMPLETED", X86(0x49, 0x0e)},
	{"ITLB_MISSES:WALK_COMPLETED", X86(0x85, 0x0e)},
	{"MEM_INST_RETIRED:ALL_LOADS", X86(0xd0, 0x81)},
	{"MEM_INST_RETIRED:ALL_STORES", X86(0xd0, 0x82)},
	{"MEM_LOAD_RETIRED:L1_MISS", X86(0xd1, 0x08)},
	{"MEM_LOAD_RETIRED:L2_MISS", X86(0xd1, 0x10)},
	{"MEM_LOAD_RETIRED:L3_MISS", X86(0xd1, 0x20)},
	{"OFFCORE_REQUESTS:ALL_DATA_RD", X86(0xb0, 0x08)},
	{"CYCLE_ACTIVITY:STALLS_TOTAL", X86_C(0xa3, 0x04, 4)},
	{"CYCLE_ACTIVITY:STALLS_L3_MISS", X86_C(0xa3, 0x06, 6)},
	{"FP_ARITH:SCALAR_DOUBLE", X86(0xc7, 0x01)},
	{"FP_ARITH:SCALAR_SINGLE", X86(0xc7, 0x02)},
	{"FP_ARITH:128B_PACKED_DOUBLE", X86(0xc7, 0x04)},
	{"FP_ARITH:128B_PACKED_SINGLE", X86(0xc7, 0x08)},
	{"FP_ARITH:256B_PACKED_DOUBLE", X86(0xc7, 0x10)},
	{"FP_ARITH:256B_PACKED_SINGLE", X86(0xc7, 0x20)},
	{"FP_ARITH:512B_PACKED_DOUBLE", X86(0xc7, 0x40)},
	{"FP_ARITH:512B_PACKED_SINGLE", X86(0xc7, 0x80)},
};

static const struct code sapphire_rapids[] = {
	{"CPU_CLK_UNHALTED:THREAD_P", X86(0x3c, 0x00)},
	{"INST_RETIRED:ANY_P", X86(0xc0, 0x00)},
	{"BR_MISP_RETIRED:ALL_BRANCHES", X86(0xc5, 0x00)},
	{"LONGEST_LAT_CACHE:MISS", X86(0x2e, 0x41)},
	{"L1D:REPLACEMENT", X86(0x51, 0x01)},
	{"ITLB_MISSES:WALK_COMPLETED", X86(0x11, 0x0e)},
	{"DTLB_LOAD_MISSES:WALK_COMPLETED", X86(0x12, 0x0e)},
	{"DTLB_STORE_MISSES:WALK_COMPLETED", X86(0x13, 0x0e)},
	{"MEM_INST_RETIRED:ALL_LOADS", X86(0xd0, 0x81)},
	{"MEM_LOAD_RETIRED:L1_HIT", X86(0xd1, 0x01)},
	{"MEM_LOAD_RETIRED:L3_MISS", X86(0xd1, 0x20)},
	{"CYCLE_ACTIVITY:STALLS_L2_MISS", X86_C(0xa3, 0x05, 5)},
	{"FP_ARITH_INST_RETIRED:SCALAR", X86(0xc7, 0x03)},
	{"FP_ARITH_INST_RETIRED:4_FLOPS", X86(0xc7, 0x18)},
	{"FP_ARITH_INST_RETIRED:8_FLOPS", X86(0xc7, 0x60)},
	{"FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", X86(0xc7, 0x80)},
	{"FP_ARITH_INST_RETIRED2:512B_PACKED_HALF", X86(0xcf, 0x10)},
};

static const struct code zen2[] = {
	{"RETIRED_SSE_AVX_FLOPS:ADD_SUB_FLOPS", X86(0x03, 0x01)},
	{"RETIRED_SSE_AVX_FLOPS:MULT_FLOPS", X86(0x03, 0x02)},
	{"RETIRED_SSE_AVX_FLOPS:DIV_FLOPS", X86(0x03, 0x04)},
	{"RETIRED_SSE_AVX_FLOPS:MAC_FLOPS", X86(0x03, 0x08)},
	{"DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM", X86(0x43, 0x08)},
	{"DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_RMT_DRAM", X86(0x43, 0x40)},
	{"L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS", X86(0x45, 0x10)},
	{"L1_DTLB_MISS:TLB_RELOAD_1G_L2_MISS", X86(0x45, 0x80)},
	{"CYCLES_NOT_IN_HALT", X86(0x76, 0x00)},
};

static const struct code zen3[] = {
	{"RETIRED_SSE_AVX_FLOPS:MAC_FLOPS", X86(0x03, 0x08)},
	{"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL", X86(0x44, 0x08)},
	{"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_RMT", X86(0x44, 0x40)},
	{"L1_DTLB_MISS:TLB_RELOAD_2M_L2_MISS", X86(0x45, 0x40)},
};

static const struct code zen4[] = {
	{"RETIRED_SSE_AVX_FLOPS:ANY", X86(0x03, 0x1f)},
	{"RETIRED_SSE_AVX_FLOPS:BFLOAT_MAC_FLOPS", X86(0x03, 0x10)},
	{"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR", X86(0x43, 0x08)},
	{"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_FAR", X86(0x44, 0x40)},
	{"L1_DTLB_MISS:TLB_RELOAD_4K_L2_HIT", X86(0x45, 0x01)},
	{"L1_ITLB_MISS_L2_ITLB_HIT", X86(0x84, 0x00)},
};

/* The same on the three: the architecture's own. */
static const struct code neoverse[] = {
	{"L1I_TLB_REFILL", 0x02}, {"L1D_CACHE_REFILL", 0x03}, {"L1D_CACHE", 0x04},
	{"L1D_TLB_REFILL", 0x05}, {"INST_RETIRED", 0x08},     {"BR_MIS_PRED", 0x10},
	{"CPU_CYCLES", 0x11},     {"L2D_CACHE_REFILL", 0x17}, {"STALL_BACKEND", 0x24},
	{"DTLB_WALK", 0x34},      {"LL_CACHE_MISS_RD", 0x37},
};

static const struct code a64fx[] = {
	{"L1D_CACHE_REFILL", 0x03},
	{"INST_RETIRED", 0x08},
	{"CPU_CYCLES", 0x11},
	{"L2D_TLB_REFILL", 0x2d},
	{"FP_SCALE_OPS_SPEC", 0x80c0},
	{"FP_FIXED_OPS_SPEC", 0x80c1},
	{"FP_SP_SCALE_OPS_SPEC", 0x80c4},
	{"FP_DP_SCALE_OPS_SPEC", 0x80c6},
	{"FP_DP_FIXED_OPS_SPEC", 0x80c7},
};

static void names_of_x86(void **state)
{
	(void)state;
#if defined(__x86_64__)
	check_codes("skx", skylake_x, NR(skylake_x));
	check_codes("spr", sapphire_rapids, NR(sapphire_rapids));
	check_codes("amd64_fam17h_zen2", zen2, NR(zen2));
	check_codes("amd64_fam19h_zen3", zen3, NR(zen3));
	check_codes("amd64_fam19h_zen4", zen4, NR(zen4));
#else
	(void)skylake_x, (void)sapphire_rapids, (void)zen2, (void)zen3, (void)zen4;
	skip();
#endif
}

/* libpfm4 knows the names of its own architecture only. */
static void names_of_arm(void **state)
{
	(void)state;
#if defined(__aarch64__)
	check_codes("arm_n1", neoverse, NR(neoverse));
	check_codes("arm_v1", neoverse, NR(neoverse));
	check_codes("arm_a64fx", a64fx, NR(a64fx));
#else
	(void)neoverse, (void)a64fx, (void)check_codes;
	skip();
#endif
}

/* -- aliases ----------------------------------------------------------------------------------- */

struct expected_part {
	const char *name;
	uint64_t config;
	uint32_t scale;
};

static const struct expansion {
	const char *name;
	struct expected_part parts[EVENT_PARTS_MAX + 1];
} expansions[] = {
	{"skx::flops",
         {{"scalar", X86(0xc7, 0x03), 1},
          {"x2", X86(0xc7, 0x04), 2},
          {"x4", X86(0xc7, 0x08 | 0x10), 4},
          {"x8", X86(0xc7, 0x20 | 0x40), 8},
          {"x16", X86(0xc7, 0x80), 16}}},
	{"bdw_ep::flops",
         {{"scalar", X86(0xc7, 0x03), 1},
          {"x2", X86(0xc7, 0x04), 2},
          {"x4", X86(0xc7, 0x08 | 0x10), 4},
          {"x8", X86(0xc7, 0x20), 8}}},
	{"spr::dp-flops",
         {{"scalar", X86(0xc7, 0x01), 1},
          {"128b", X86(0xc7, 0x04), 2},
          {"256b", X86(0xc7, 0x10), 4},
          {"512b", X86(0xc7, 0x40), 8}}},
	{"spr::sp-flops",
         {{"scalar", X86(0xc7, 0x02), 1},
          {"128b", X86(0xc7, 0x08), 4},
          {"256b", X86(0xc7, 0x20), 8},
          {"512b", X86(0xc7, 0x80), 16}}},
	{"skx::tlb-misses", {{"loads", X86(0x08, 0x0e), 1}, {"stores", X86(0x49, 0x0e), 1}}},
	{"spr::tlb-misses", {{"loads", X86(0x12, 0x0e), 1}, {"stores", X86(0x13, 0x0e), 1}}},
	{"skx::mem-bytes", {{"", X86(0x2e, 0x41), 64}}},
	{"skx::cache-misses", {{"", X86(0x2e, 0x41), 1}}},
	{"spr::branch-misses", {{"", X86(0xc5, 0), 1}}},
	{"amd64_fam17h_zen2::flops", {{"", X86(0x03, 0x0f), 1}}},
	{"amd64_fam19h_zen3::flops", {{"", X86(0x03, 0x0f), 1}}},
	{"amd64_fam19h_zen4::flops", {{"", X86(0x03, 0x1f), 1}}},
	{"amd64_fam19h_zen4::tlb-misses", {{"", X86(0x45, 0xf0), 1}}},
	{"amd64_fam17h_zen2::mem-bytes",
         {{"demand", X86(0x43, 0x08 | 0x40), 64},
          {"sw-prefetch", X86(0x59, 0x08 | 0x40), 64},
          {"hw-prefetch", X86(0x5a, 0x08 | 0x40), 64}}},
	{"amd64_fam19h_zen4::mem-bytes", {{"", X86(0x44, 0x48), 64}}},
	{"amd64_fam19h_zen4::cache-misses", {{"", X86(0x64, 0x09), 1}}},
	{"arm_v1::flops", {{"fixed", 0x80c1, 1}, {"scalable", 0x80c0, 2}}},    /* 256 bits */
	{"arm_a64fx::flops", {{"fixed", 0x80c1, 1}, {"scalable", 0x80c0, 4}}}, /* 512 bits */
	{"arm_a64fx::dp-flops", {{"fixed", 0x80c7, 1}, {"scalable", 0x80c6, 4}}},
	{"arm_a64fx::sp-flops", {{"fixed", 0x80c5, 1}, {"scalable", 0x80c4, 4}}},
	{"arm_n1::tlb-misses", {{"", 0x34, 1}}},
	{"arm_a64fx::tlb-misses", {{"", 0x2d, 1}}},
	{"arm_v1::mem-bytes", {{"", 0x37, 64}}},
	{"arm_a64fx::mem-bytes", {{"", 0x309, 256}}},
};

static unsigned count_parts(const struct expected_part *parts)
{
	unsigned nr = 0;

	while (parts[nr].name)
		nr++;
	return nr;
}

static void check_part(const char *text, const char *alias, const struct expected_part *expected)
{
	char name[EVENT_NAME_MAX], why[WHY_SIZE];
	struct event event;

	snprintf(name, sizeof(name), "%s%s%s:u", alias, *expected->name ? ":" : "", expected->name);
	assert_string_equal(text, name);
	if (event_parse(&event, text, why))
		fail_msg("%s: %s", text, why);
	assert_int_equal(event.attr.type, PERF_TYPE_RAW);
	assert_int_equal(event.attr.config, expected->config);
	assert_int_equal(event.scale, expected->scale);
	assert_true(event.attr.exclude_kernel && event.modifiers);
	if (event.foreign)
		assert_int_equal(event_probe(&event), -ENODEV);
}

/* Names of the parts carry the modifiers and can be given themselves. */
static void aliases_expand(void **state)
{
	char parts[EVENT_PARTS_MAX][EVENT_NAME_MAX], text[EVENT_NAME_MAX], why[WHY_SIZE];
	unsigned nr;

	(void)state;
	for (size_t i = 0; i < NR(expansions); i++) {
		snprintf(text, sizeof(text), "%s:u", expansions[i].name);
		if (event_expand(text, parts, &nr, why))
			fail_msg("%s: %s", text, why);
		assert_int_equal(nr, count_parts(expansions[i].parts));
		for (unsigned p = 0; p < nr; p++)
			check_part(parts[p], expansions[i].name, &expansions[i].parts[p]);
	}
}

static void refused(const char *text, const char *line)
{
	char parts[EVENT_PARTS_MAX][EVENT_NAME_MAX], why[WHY_SIZE] = "";
	struct event event;
	unsigned nr;
	int err = event_expand(text, parts, &nr, why);

	if (!err)
		err = event_parse(&event, parts[0], why);
	assert_int_equal(err, -EINVAL);
	if (!strstr(why, line))
		fail_msg("%s: '%s' has no '%s'", text, why, line);
}

/* What cannot be counted is not made up. */
static void what_a_processor_cannot_count(void **state)
{
	struct event event;
	char why[WHY_SIZE];

	(void)state;
	refused("amd64_fam19h_zen4::dp-flops", "all precisions together; try -e flops");
	refused("arm_n1::flops", "instructions of any width");
	refused("arm_v1::dp-flops", "by precision");
	refused("nhm::flops", "PMU nhm is not known");
	refused("skx::dp-flops:1024b", "try one of: :scalar, :128b");
	refused("amd64_fam19h_zen4::flops:scalar", "without ':scalar'");
	refused("skx::flops:period=0", "above zero");
	/* what was not expanded is a sum that no single event can be */
	assert_int_equal(event_parse(&event, "skx::flops", why), -EINVAL);
	assert_non_null(strstr(why, "sum of several"));
}

/* Others are left alone; those that the kernel has come first. */
static void other_names_stay(void **state)
{
	static const char *const names[] = {"cycles:u",        "cache-misses",
	                                    "branch-misses:u", "cpu-clock:period=1000000",
	                                    "no-such-event",   "r1c0"};
	char parts[EVENT_PARTS_MAX][EVENT_NAME_MAX], why[WHY_SIZE];
	struct event event;
	unsigned nr;

	(void)state;
	for (size_t i = 0; i < NR(names); i++) {
		assert_int_equal(event_expand(names[i], parts, &nr, why), 0);
		assert_int_equal(nr, 1);
		assert_string_equal(parts[0], names[i]);
	}
	assert_int_equal(event_expand("skx::dp-flops:256b:u", parts, &nr, why), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(event_parse(&event, "cache-misses", why), 0);
	assert_int_equal(event.attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(event.scale, 1);
	assert_int_equal(event_expand("", parts, &nr, why), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_x86),     cmocka_unit_test(names_of_arm),
		cmocka_unit_test(aliases_expand),   cmocka_unit_test(what_a_processor_cannot_count),
		cmocka_unit_test(other_names_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
