#include "output/convert/convert.h"
#include "output/otf2/otf2.h"

#include <assert.h>
#include <stddef.h>

static const struct converter converters[] = {
	{.name = "otf2",
         .what = "an OTF2 archive: for Vampir, Scalasca, TAU, ViTE and otf2-print",
         .suffix = "-otf2",
#ifdef HAVE_OTF2
         .to_folder = otf2_write,
         .known = otf2_knows,
#endif
         .missing = "libopen-trace-format2-dev"},
	{.name = "folded",
         .what = "stacks with weights, one a line: for flamegraph.pl, inferno and scripts",
         .suffix = ".folded",
         .text = true,
         .one_event = true,
         .one_counter = true,
         .unsampled = true,
         .one_part = true,
         .to_file = folded_write},
	{.name = "flamegraph",
         .what = "a flame graph: one SVG for a browser, to zoom and to search in",
         .suffix = ".svg",
         .text = true,
         .one_event = true,
         .one_counter = true,
         .unsampled = true,
         .one_part = true,
         .to_file = flamegraph_write},
	{.name = "speedscope",
         .what = "JSON for speedscope.app",
         .suffix = ".speedscope.json",
         .text = true,
         .to_file = speedscope_write},
	{.name = "firefox",
         .what = "a processed profile for profiler.firefox.com, compressed",
         .suffix = ".firefox.json.gz",
         .one_event = true,
         .to_file = firefox_write},
	{.name = "pprof",
         .what = "profile.proto, compressed: for pprof and what reads its profiles",
         .suffix = ".pb.gz",
         .one_part = true,
         .to_file = pprof_write},
	{.name = "chrome",
         .what = "Trace Event JSON: slices of time for Perfetto and chrome://tracing",
         .suffix = ".trace.json",
         .text = true,
         .one_event = true,
         .to_file = chrome_write,
         .instead = "--firefox, which Perfetto opens, too, takes far less"},
	{.name = "perf-script",
         .what = "the text of perf script, which other programs parse",
         .suffix = ".perf.txt",
         .text = true,
         .event_alone = true,
         .one_part = true,
         .to_file = perf_script_write,
         .instead = "-o - writes to a program that reads it, without a file"},
	{.name = "callgrind",
         .what = "costs by line and call: for KCachegrind and callgrind_annotate",
         .suffix = ".callgrind.out",
         .text = true,
         .one_part = true,
         .to_file = callgrind_write},
};

static_assert(sizeof(converters) / sizeof(*converters) <= MAX_CONVERTERS,
              "the options of all formats have room");

const struct converter *converter_at(unsigned index)
{
	return index < sizeof(converters) / sizeof(*converters) ? &converters[index] : NULL;
}
