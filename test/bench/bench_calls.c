/*
 * What a recorded call costs the recorder: from a target's ring into the buffer. Calls as those of
 * LAMMPS: sends, receives posted and waited for, and a collective now and then.
 */
#include "bench.h"

#include "record/calls/calls_process.h"
#include "hmb/call_run.h"
#include "preload/mpi_calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NR_CALLS 12000 /* a round: as much as a ring holds */

struct world {
	struct tables *tables;
	struct calls_names names;
	struct calls_clock clock;
	struct calls_process *process;
	struct hmb *hmb;
	uint64_t time;
	bool store;
	bool again; /* calls that repeat others are written so */
	bool seen[RING_SLOTS];
};

static void put(void *arg, struct calls_process *process, pid_t tid, uint32_t local_region,
                struct call *call)
{
	struct world *w = arg;

	(void)process;
	(void)tid;
	(void)local_region;
	if (w->store)
		hmb_put_call(w->hmb, 0, 0, call);
}

static bool begin(void *arg, struct calls_process *process, pid_t tid, uint64_t time,
                  const struct call_requests *last, struct call_run *run)
{
	struct world *w = arg;

	(void)process;
	(void)tid;
	return hmb_begin_run(w->hmb, 0, 0, run, 0, time, last);
}

static void end(void *arg, const struct call_run *run)
{
	struct world *w = arg;

	hmb_end_run(w->hmb, 0, run);
}

static void produce(struct world *w, const uint64_t *words, size_t nr)
{
	struct ring_ends *ring = &w->process->shared->threads[0];
	uint64_t *base = (uint64_t *)(void *)((char *)w->process->shared + ring_offset(0));

	if (ring->head % RING_LARGE_WORDS + nr > RING_LARGE_WORDS) {
		base[ring->head % RING_LARGE_WORDS] = ring_head(RING_PAD, 0, 0, 0, 0);
		ring->head += RING_LARGE_WORDS - ring->head % RING_LARGE_WORDS;
	}
	memcpy(&base[ring->head % RING_LARGE_WORDS], words, nr * sizeof(*words));
	ring->head += nr;
}

/* The first of its kind takes a slot, as those do that come again. */
static void produce_call(struct world *w, unsigned slot, uint32_t region, uint64_t duration,
                         const uint64_t *parts, size_t nr)
{
	uint64_t gap = 150 + (uint64_t)rand() % 300;
	uint64_t words[16] = {
		ring_head(RING_CALL, 3 + nr, nr ? 1 : 0, 0, region) |
			(w->again ? (uint64_t)slot << RING_SLOT_SHIFT : 0),
		w->time + gap,
		w->time + gap + duration,
	};
	uint64_t again = ring_again(1, slot, gap, duration);

	memcpy(&words[3], parts, nr * sizeof(*parts));
	if (w->seen[slot])
		produce(w, &again, 1);
	else
		produce(w, words, 3 + nr);
	w->seen[slot] = w->again;
	w->time += gap + duration;
}

static void produce_round(struct world *w)
{
	for (unsigned i = 0; i < NR_CALLS; i += 3) {
		unsigned peer_slot = i / 3 % 4, size = (unsigned)rand() % 8;
		uint64_t peer = (uint64_t)peer_slot << 32 | 1 << 8, bytes = 1200 + size * 24;
		uint64_t posted[2] = {CALL_RECEIVE_POSTED | peer, 0};
		uint64_t send[3] = {CALL_SEND | peer, 0, bytes};
		uint64_t done[4] = {CALL_RECEIVE_DONE | peer, 0, bytes, 0};
		uint64_t collective[3] = {CALL_COLLECTIVE | 1 << 8 | (uint64_t)UINT32_MAX << 32, 8,
		                          8};

		produce_call(w, 1 + peer_slot, CALL_Irecv, 60 + rand() % 60, posted, 2);
		produce_call(w, 10 + 8 * peer_slot + size, CALL_Send, 90 + rand() % 200, send, 3);
		produce_call(w, 50 + 8 * peer_slot + size, CALL_Wait, 50 + rand() % 1000, done, 4);
		if (i % 9 == 0)
			produce_call(w, 90, CALL_Allreduce, 300 + rand() % 1000, collective, 3);
	}
}

static void world_open(struct world *w)
{
	struct hmb_config config = {
		.size = (size_t)64 << 20,
		.nr_kinds = 1,
		.max_path = 8,
		.kinds[0] = {.content = HMB_CALLS, .time_shift = 3},
	};
	int fd;

	*w = (struct world){.clock.source = RING_CLOCK_COUNTER, .time = 1000000};
	calls_clock_note(&w->clock, 1, 1);
	calls_clock_note(&w->clock, (uint64_t)1 << 50, (uint64_t)1 << 50);
	w->tables = tables_new(1 << 20, "bench.atr");
	calls_names_init(&w->names, w->tables);
	w->process = calls_process_new(getpid(), &w->names, &w->clock, &fd);
	close(fd);
	config.memory = bench_memory(config.size);
	w->hmb = hmb_new(&config);
	w->process->shared->threads[0].state = RING_USED;
}

static double round_ns(struct world *w, bool again, bool store)
{
	const struct calls_sink sink = {
		.put = put, .begin = store ? begin : NULL, .end = end, .arg = w};
	uint64_t start;

	w->again = again;
	w->store = store;
	if (!again)
		memset(w->seen, 0, sizeof(w->seen));
	produce_round(w);
	start = bench_now();
	calls_process_look(w->process);
	calls_process_read(w->process, w->time, &sink);
	return (double)(bench_now() - start) / (NR_CALLS + (NR_CALLS + 8) / 9);
}

int main(void)
{
	static struct world w;
	double least[3] = {1e9, 1e9, 1e9};

	world_open(&w);
	for (unsigned i = 0; i < 600; i++) {
		double ns = round_ns(&w, i % 3, i % 3 != 1);

		least[i % 3] = ns < least[i % 3] ? ns : least[i % 3];
	}
	bench_head("calls", "ns");
	bench_figure("a call, from its ring", least[1], "", 0, "");
	bench_figure("a call, from its ring into the buffer", least[2],
	             "eztrace's whole cost a call", 210, "<= 10");
	bench_figure("a call that repeats no other", least[0], "eztrace's whole cost a call", 210,
	             "<= 40");
	bench_figure("bytes of it there",
	             (double)hmb_record_bytes(w.hmb) / (double)hmb_stored(w.hmb, 0), "eztrace", 44,
	             "<= 8");
	return 0;
}
