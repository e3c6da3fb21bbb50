#include "output/profile/cut_stacks.h"

#include "output/text/text.h"
#include "output/profile/warnings_build.h"

#define FEW         3 /* stacks are worth no line */
#define MOST_FRAMES 1024

/* text follows "N % of the stacks do not reach their root: they "; way follows that. */
static const struct {
	const char *name, *brief, *text, *way;
} reasons[NR_STACK_CUTS] = {
	[STACK_CUT_COPY] = {"copy", "deeper than what was copied of them",
                            "are deeper than the part of them that was copied",
                            "record -g dwarf,65528 copies more"},
	[STACK_CUT_DEEP] = {"deep", "deeper than the largest copy",
                            "are deeper than 65528 bytes, the most that can be copied",
                            "record -g fp goes further, if the program is built with "
                            "-fno-omit-frame-pointer"},
	[STACK_CUT_FRAME] = {"frame", "with a frame larger than the largest copy",
                             "have a frame larger than 65528 bytes, the most that can be copied",
                             "record -g fp passes it, if the program is built with "
                             "-fno-omit-frame-pointer"},
	[STACK_CUT_PAGE] = {"page", "of which a page was not in memory",
                            "have a page that was not in memory, where the copy ends",
                            "record -g fp needs no copy, if the program is built with "
                            "-fno-omit-frame-pointer"},
	[STACK_CUT_NO_CFI] = {"no_cfi", "in files without call frame information",
                              "end in a file without call frame information",
                              "build that with -fasynchronous-unwind-tables"},
	[STACK_CUT_NO_RULE] = {"no_rule", "in code that call frame information does not describe",
                               "end in code that call frame information does not describe, as "
                               "some assembly",
                               "record -g fp passes it where it keeps frame pointers"},
	[STACK_CUT_JIT] = {"jit", "in code made at run time",
                           "end in code that was made at run time",
                           "let it keep frame pointers, as with java -XX:+PreserveFramePointer"},
	[STACK_CUT_GO] = {"go", "where Go changes to another stack",
                          "end where Go changes to the stack of the system",
                          "record -g fp finds the callers"},
	[STACK_CUT_HASKELL] = {"haskell", "of Haskell, in the heap",
                               "are Haskell's, which keeps its stack in the heap",
                               "no option finds the callers; GHC's own profiler does"},
	[STACK_CUT_32_BIT] = {"32_bit", "of 32-bit programs",
                              "are of 32-bit programs, whose call frame information is not read",
                              "record -g fp finds callers, if the program is built with "
                              "-fno-omit-frame-pointer"},
	[STACK_CUT_FP] = {"frame_pointers", "without frame pointers",
                          "end in code without frame pointers",
                          "record -g dwarf, the default, needs none"},
	[STACK_CUT_MAX] = {"max_stack", "deeper than --max-stack", NULL, NULL},
	[STACK_CUT_KERNEL_MAX] = {"kernel_max_stack", "deeper than kernel.perf_event_max_stack",
                                  NULL, NULL},
	[STACK_CUT_UNKNOWN] = {"unknown", "in code whose file is unknown",
                               "end in code whose file is unknown",
                               "record -g fp finds callers, if the program is built with "
                               "-fno-omit-frame-pointer"},
	[STACK_CUT_NO_STACK] = {"no_stack", "of programs that exec was replacing", NULL, NULL},
	[STACK_CUT_BRANCHES] = {"branches", "deeper than the processor's record of calls",
                                "are deeper than the calls that the processor remembers",
                                "record -g dwarf, the default, goes further"},
};

const char *cut_stack_name(enum stack_cut reason)
{
	return reasons[reason].name;
}

const char *cut_stack_text(enum stack_cut reason)
{
	return reasons[reason].brief;
}

static void put_max(char text[WARNING_SIZE], const struct trace_run *run, enum stack_cut reason)
{
	if (reason == STACK_CUT_KERNEL_MAX)
		snprintf(text, WARNING_SIZE,
		         "are deeper than the %llu frames of kernel.perf_event_max_stack; as root: "
		         "sysctl kernel.perf_event_max_stack=%u",
		         (unsigned long long)run->max_stack, MOST_FRAMES);
	else if (run->max_stack < MOST_FRAMES)
		snprintf(text, WARNING_SIZE,
		         "are deeper than the %llu frames of --max-stack; a larger one keeps more",
		         (unsigned long long)run->max_stack);
	else
		snprintf(text, WARNING_SIZE,
		         "are deeper than %u frames, the most that is kept of one", MOST_FRAMES);
}

static void put_reason(char text[WARNING_SIZE], const struct trace_run *run, enum stack_cut reason)
{
	if (!reasons[reason].text)
		put_max(text, run, reason);
	else
		snprintf(text, WARNING_SIZE, "%s; %s", reasons[reason].text, reasons[reason].way);
}

static void warn_of_stacks(const struct warner *warner, uint64_t cut, uint64_t stacks, double least,
                           const char *why)
{
	char part[TEXT_SIZE];

	if (cut >= FEW && share(cut, stacks) >= least)
		warn(warner, "%s of the stacks do not reach their root%s%s",
		     text_share(part, cut, stacks), *why ? ": they " : "", why);
}

/* Nothing finds the callers of a stack that is gone. Mappings that could not be read have a warning
   of their own, which tells how they can be. */
static bool needs_no_warning(const struct trace_run *run, enum stack_cut reason)
{
	return reason == STACK_CUT_NO_STACK ||
	       (reason == STACK_CUT_UNKNOWN && run->refused_mappings);
}

void warnings_of_cut_stacks(const struct trace_run *run, uint64_t taken, double least,
                            warning_fn *fn, void *arg)
{
	const struct warner warner = {fn, arg};
	char text[WARNING_SIZE];

	if (!run->built_stacks)
		warn_of_stacks(&warner, run->truncated_stacks, taken, least, "");
	for (enum stack_cut reason = 0; reason < NR_STACK_CUTS; reason++) {
		if (needs_no_warning(run, reason))
			continue;
		put_reason(text, run, reason);
		warn_of_stacks(&warner, run->cut_stacks[reason], run->built_stacks, least, text);
	}
}
