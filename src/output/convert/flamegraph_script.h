/*
 * Script and style of a flame graph: a click zooms into a box, and a search marks boxes by a
 * regular expression. #search=TEXT and #zoom=NUMBER behind the file's address do the same. The
 * script inserts names into the page as text only, never as markup.
 */
#ifndef OUTPUT_CONVERT_FLAMEGRAPH_SCRIPT_H
#define OUTPUT_CONVERT_FLAMEGRAPH_SCRIPT_H

extern const char flamegraph_style[], flamegraph_script[];

#endif
