/* burn SECONDS: uses so much CPU time, and says how much it was in the end. */
#include "burn.h"

int main(int argc, char **argv)
{
	burn_until((uint64_t)(atof(argc > 1 ? argv[1] : "1") * 1e9));
	print_used();
	return 0;
}
