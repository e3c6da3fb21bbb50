/* Jitdumps: code that comes and goes, its lines, and files that lie. */
#include "cases.h"
#include "symbolize/jit/jitdump.h"
#include "symbolize/symbols.h"
#include "symbolize/modules/jitdump_files.h"
