/* λ of consecutive ordinals, one call each. */

#include "bench.h"
#include "hmb/lambda.h"

enum { CALLS = 1000000, TURNS = 30 };

static double run_nothing(void *arg)
{
	uint64_t start = bench_now(), sum = 0;

	(void)arg;
	for (uint64_t n = 1; n <= CALLS; n++) {
		sum += n;
		BENCH_KEEP(sum);
	}
	return (double)(bench_now() - start) / CALLS;
}

static double run_machine(void *arg)
{
	uint64_t start = bench_now(), sum = 0;

	(void)arg;
	for (uint64_t n = 1; n <= CALLS; n++) {
		sum += lambda(n);
		BENCH_KEEP(sum);
	}
	return (double)(bench_now() - start) / CALLS;
}

static double run_stream(void *arg)
{
	struct stream stream = stream_start(1, 2, 3);
	uint64_t start = bench_now(), sum = 0;

	(void)arg;
	for (uint64_t n = 1; n <= CALLS; n++) {
		sum += stream_next(&stream);
		BENCH_KEEP(sum);
	}
	return (double)(bench_now() - start) / CALLS;
}

int main(void)
{
	double nothing = 1e9, machine = 1e9, stream = 1e9;

	for (unsigned i = 0; i < TURNS; i++) {
		nothing = bench_least(run_nothing, NULL, nothing);
		machine = bench_least(run_machine, NULL, machine);
		stream = bench_least(run_stream, NULL, stream);
	}
	bench_head("lambda", "ns");
	bench_figure("λ", machine, "the loop with an addition", nothing, "<= 1 ns");
	bench_figure("stream_next(): ordinal, λ and shift", stream, "the loop with an addition",
	             nothing, "");
	return 0;
}
