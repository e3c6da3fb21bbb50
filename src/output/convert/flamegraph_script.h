/*
 * What makes a flame graph answer: click a box to zoom, search by regular expression. #search=TEXT
 * and #zoom=NUMBER behind the file's address do the same. Names reach the page as text only.
 */
#ifndef OUTPUT_CONVERT_FLAMEGRAPH_SCRIPT_H
#define OUTPUT_CONVERT_FLAMEGRAPH_SCRIPT_H

extern const char flamegraph_style[], flamegraph_script[];

#endif
