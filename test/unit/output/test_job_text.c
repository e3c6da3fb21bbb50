/* What is told of a job, word for word: ranks, calls, who called them, who sent to whom. */
#include "page.h"
#include "trace_world.h"

#include <math.h>

#include "output/report/dump.h"
#include "output/report/info.h"
#include "output/report/info_calls.h"
#include "output/report/report.h"
#include "output/views/job.h"

enum { CALLS = NR_EVENTS, WEIGHT = 97081, MAX_RANKS = 18 };

enum region { STEP, SEND, RECV, PUT, GET, ALLREDUCE, WRITE, READ, TENTH, RESIDUAL, NR_REGIONS };

static const struct {
	const char *name;
	enum trace_region_class class;
} regions[NR_REGIONS] = {
	[STEP] = {"step", TRACE_USER_REGION},
	[SEND] = {"MPI_Send", TRACE_MPI_POINT_TO_POINT},
	[RECV] = {"MPI_Recv", TRACE_MPI_POINT_TO_POINT},
	[PUT] = {"MPI_Put", TRACE_MPI_ONE_SIDED},
	[GET] = {"MPI_Get", TRACE_MPI_ONE_SIDED},
	[ALLREDUCE] = {"MPI_Allreduce", TRACE_MPI_COLLECTIVE},
	[WRITE] = {"MPI_File_write", TRACE_MPI_IO},
	[READ] = {"MPI_File_read", TRACE_MPI_IO},
	[TENTH] = {"tenth", TRACE_MARKER},
	[RESIDUAL] = {"residual", TRACE_VALUE},
};

static const struct named_range names[] = {
	{2, 0, 16, "main"}, {2, 16, 32, "work"}, {2, 32, 48, "MPI_Send"}, {2, 48, 64, "MPI_Recv"}};

struct made_job {
	struct world w;
	uint32_t thread[MAX_RANKS], comm;
	uint64_t time;
};

static void describe_calls(struct made_job *job, unsigned nr_ranks)
{
	struct tables *t = job->w.tables;
	uint32_t members[MAX_RANKS];

	*tables_add_event(t) =
		(struct trace_event){.name = tables_string(t, "calls"), .unit = TRACE_CALLS};
	for (unsigned i = 0; i < NR_REGIONS; i++)
		tables_add_region(t, &(struct trace_region){tables_string(t, regions[i].name),
		                                            regions[i].class, 0, 0});
	for (unsigned i = 0; i < nr_ranks; i++) {
		members[i] = i;
		job->thread[i] = tables_add_thread(t, 201 + (int)i, 201 + (int)i,
		                                   tables_string(t, "app"), 0);
		tables_add_process(t, &(struct trace_process){
					      .pid = 201 + (int)i,
					      .rank = (int)i,
					      .flags = TRACE_PROCESS_MPI | TRACE_PROCESS_FINALIZED,
					      .library = tables_string(t, "A library of MPI"),
					      .host = tables_string(t, i ? "b" : "a"),
				      });
	}
	job->comm = tables_add_comm(
		t, &(struct trace_comm){.id = TRACE_COMM_WORLD_ID, .nr_members = nr_ranks},
		members);
}

static void job_open(struct made_job *job, unsigned nr_ranks)
{
	*job = (struct made_job){.time = 2000};
	world_make_tables(&job->w, 1 << 20);
	describe(&job->w);
	describe_calls(job, nr_ranks);
	world_make_buffer(&job->w, (struct hmb_config){.nr_kinds = CALLS + 1,
	                                               .max_path = MAX_DEPTH,
	                                               .kinds[CALLS].content = HMB_CALLS});
}

/* The trace of what was put so far. */
static struct trace *job_trace(struct made_job *job)
{
	return world_named(&job->w, names, sizeof(names) / sizeof(*names));
}

static void job_close(struct made_job *job, struct trace *trace)
{
	trace_close(trace);
	world_close(&job->w);
}

static void put_samples(struct made_job *job, unsigned nr, uint32_t thread, uint32_t leaf)
{
	uint64_t path[] = {2ULL << 32};

	for (; nr; nr--) {
		struct hmb_sample sample = {
			.time = job->time += 100,
			.thread = thread,
			.leaf = 2ULL << 32 | leaf,
			.path = path,
			.path_size = 1,
			.step = WEIGHT,
		};

		hmb_put(job->w.hmb, &sample);
	}
}

/* One with a single part, if its kind is any. */
static void put_call(struct made_job *job, unsigned rank, enum region region, uint64_t duration,
                     const struct call_part *part)
{
	struct call_part parts[1];
	struct call call = {.thread = job->thread[rank],
	                    .region = region,
	                    .enter = job->time,
	                    .leave = job->time + duration,
	                    .nr_parts = part != NULL,
	                    .parts = parts};

	if (part)
		parts[0] = *part;
	job->time += duration;
	assert_true(hmb_put_call(job->w.hmb, CALLS, 0, &call));
}

/* Three ranks, and a process that is none. */
static void put_all(struct made_job *job)
{
	const struct call_part send = {.type = CALL_SEND, .peer = 1, .bytes = 1000};

	put_samples(job, 4, job->thread[0], 16);
	put_call(job, 0, SEND, 2000, &send);
	put_call(job, 0, SEND, 1000, &send);
	job->time -= 500;
	put_samples(job, 2, job->thread[0], 32);
	job->time += 1000;
	put_call(job, 0, PUT, 50, &(struct call_part){.type = CALL_PUT, .peer = 2, .bytes = 4096});
	put_samples(job, 2, job->thread[1], 16);
	put_call(job, 1, RECV, 3000,
	         &(struct call_part){.type = CALL_RECEIVE, .peer = 0, .bytes = 1000});
	put_call(job, 1, GET, 70, &(struct call_part){.type = CALL_GET, .peer = 0, .bytes = 300});
	put_samples(job, 1, job->thread[2], 16);
	put_samples(job, 3, job->thread[2], 48);
	put_call(
		job, 2, ALLREDUCE, 800,
		&(struct call_part){
			.type = CALL_COLLECTIVE, .peer = CALL_NO_PEER, .bytes = 8, .bytes_in = 24});
	put_call(job, 2, WRITE, 90, &(struct call_part){.type = CALL_WRITE, .bytes = 100});
	put_call(job, 2, READ, 80, &(struct call_part){.type = CALL_READ, .bytes = 200});
	put_call(job, 2, STEP, 5000, NULL);
	put_samples(job, 3, 0, 16);
}

typedef int told_fn(FILE *to, const struct trace *trace, const char *name,
                    const struct report_options *options);

static void expect(struct made_job *job, told_fn *fn, const struct report_options *options,
                   const char *text)
{
	struct trace *trace = world_named(&job->w, names, sizeof(names) / sizeof(*names));
	struct page page;

	assert_int_equal(fn(page_open(&page), trace, "x.atr", options), 0);
	page_expect(&page, text);
	trace_close(trace);
}

static const struct report_options as_asked = {
	.query.event = TRACE_ALL_EVENTS, .query.limit = UINT32_MAX, .style.no_header = true};

static int info_of(FILE *to, const struct trace *trace, const char *name,
                   const struct report_options *options)
{
	(void)options;
	(void)name;
	info_calls_text(to, trace);
	return info_processes_text(to, trace);
}

static int info_json_of(FILE *to, const struct trace *trace, const char *name,
                        const struct report_options *options)
{
	(void)options;
	(void)name;
	return info_json(to, trace);
}

static int mpi_json_of(FILE *to, const struct trace *trace, const char *name,
                       const struct report_options *options)
{
	(void)name;
	return report_mpi_json(to, trace, &options->query);
}

static int calls_of(FILE *to, const struct trace *trace, const char *name,
                    const struct report_options *options)
{
	(void)name;
	return report_calls_text(to, trace, options);
}

static int dump_of(FILE *to, const struct trace *trace, const char *name,
                   const struct report_options *options)
{
	(void)options;
	(void)name;
	return dump_text(to, trace);
}

static void dump_tells_of_every_call(void **state)
{
	struct made_job job;

	(void)state;
	job_open(&job, 3);
	put_all(&job);
	put_call(&job, 1, STEP, 10, NULL);
	expect(&job, dump_of, NULL,
	       "0.000002100  app 201/201  [0]  cpu-clock 97081  work < main\n"
	       "0.000002200  app 201/201  [0]  cpu-clock 97081  work < main\n"
	       "0.000002300  app 201/201  [0]  cpu-clock 97081  work < main\n"
	       "0.000002400  app 201/201  [0]  cpu-clock 97081  work < main\n"
	       "0.000002400  app 201/201  rank 0  MPI_Send 2000 ns  send with rank 1 tag 0 1000 "
	       "bytes\n"
	       "0.000005000  app 201/201  [0]  cpu-clock 97081  MPI_Send < main\n"
	       "0.000005100  app 201/201  [0]  cpu-clock 97081  MPI_Send < main\n"
	       "0.000004400  app 201/201  rank 0  MPI_Send 1000 ns  send with rank 1 tag 0 1000 "
	       "bytes\n"
	       "0.000006100  app 201/201  rank 0  MPI_Put 50 ns  put at rank 2 4096 bytes\n"
	       "0.000006250  app 202/202  [0]  cpu-clock 97081  work < main\n"
	       "0.000006350  app 202/202  [0]  cpu-clock 97081  work < main\n"
	       "0.000006350  app 202/202  rank 1  MPI_Recv 3000 ns  receive with rank 0 tag 0 "
	       "1000 bytes\n"
	       "0.000009350  app 202/202  rank 1  MPI_Get 70 ns  get at rank 0 300 bytes\n"
	       "0.000009520  app 203/203  [0]  cpu-clock 97081  work < main\n"
	       "0.000009620  app 203/203  [0]  cpu-clock 97081  MPI_Recv < main\n"
	       "0.000009720  app 203/203  [0]  cpu-clock 97081  MPI_Recv < main\n"
	       "0.000009820  app 203/203  [0]  cpu-clock 97081  MPI_Recv < main\n"
	       "0.000009820  app 203/203  rank 2  MPI_Allreduce 800 ns  collective in communicator "
	       "0 8 bytes 24 in\n"
	       "0.000010620  app 203/203  rank 2  MPI_File_write 90 ns  write 100 bytes\n"
	       "0.000010710  app 203/203  rank 2  MPI_File_read 80 ns  read 200 bytes\n"
	       "0.000010790  app 203/203  rank 2  step 5000 ns\n"
	       "0.000015890  sh 100/100  [0]  cpu-clock 97081  work < main\n"
	       "0.000015990  sh 100/100  [0]  cpu-clock 97081  work < main\n"
	       "0.000016090  sh 100/100  [0]  cpu-clock 97081  work < main\n"
	       "0.000016090  app 202/202  rank 1  step 10 ns\n");
	world_close(&job.w);
}

static void expect_part(const struct trace *trace, told_fn *fn,
                        const struct report_options *options, const char *part)
{
	struct page page;
	char *text;

	assert_int_equal(fn(page_open(&page), trace, "x.atr", options), 0);
	text = page_close(&page);
	if (!strstr(text, part))
		fail_msg("no '%s' in '%s'", part, text);
	free(text);
}

static void time_in_mpi(void **state)
{
	struct report_options options = as_asked;
	struct trace *trace;
	struct made_job job;

	(void)state;
	job_open(&job, 3);
	put_all(&job);
	expect(&job, report_mpi_text, &as_asked,
	       "\n"
	       "ranks: what was sampled, and its share in MPI, from samples; MPI calls, "
	       "their exact time, and what they sent, from calls\n"
	       "\n"
	       "  rank     sampled    in MPI   MPI calls        time        sent        bytes  "
	       "host\n"
	       "     0    582.5 µs    33.33%           3    3.050 µs           3      6.0 KiB  a\n"
	       "     1    194.2 µs     0.00%           2    3.070 µs           0      0 bytes  b\n"
	       "     2    388.3 µs    75.00%           3      970 ns           0    108 bytes  b\n"
	       "20.00% of the samples belong to no rank\n"
	       "\n"
	       "where MPI was called from, as a share of everything sampled, from samples\n"
	       "\n"
	       "(a sample was taken in 2 of 8 calls, with 25.39% of their time; who called the "
	       "others is not known)\n"
	       "  in MPI     sampled    samples  call and callers\n"
	       "  20.00%    291.2 µs          3  MPI_Recv < main\n"
	       "  13.33%    194.2 µs          2  MPI_Send < main\n"
	       "\n"
	       "calls as they were recorded, with exact times\n"
	       "\n"
	       "     calls        time        mean     longest        sent        bytes    "
	       "received        bytes  call\n"
	       "         1    5.000 µs    5.000 µs    5.000 µs           0            -           "
	       "0            -  step\n"
	       "         2    3.000 µs    1.500 µs    2.000 µs           2      2.0 KiB           "
	       "0            -  MPI_Send\n"
	       "         1    3.000 µs    3.000 µs    3.000 µs           0            -           "
	       "1   1000 bytes  MPI_Recv\n"
	       "         1      800 ns      800 ns      800 ns           0      8 bytes           "
	       "0     24 bytes  MPI_Allreduce\n"
	       "         1       90 ns       90 ns       90 ns           0    100 bytes           "
	       "0            -  MPI_File_write\n"
	       "         1       80 ns       80 ns       80 ns           0            -           "
	       "0    200 bytes  MPI_File_read\n"
	       "         1       70 ns       70 ns       70 ns           0            -           "
	       "1    300 bytes  MPI_Get\n"
	       "         1       50 ns       50 ns       50 ns           1      4.0 KiB           "
	       "0            -  MPI_Put\n"
	       "\n"
	       "messages between ranks, one-sided ones too, from calls: from a row to a column\n"
	       "\n"
	       "   messages           0           1           2\n"
	       "          0           -           3           1\n"
	       "          1           -           -           -\n"
	       "          2           -           -           -\n"
	       "\n"
	       "      bytes           0           1           2\n"
	       "          0           -     2.2 KiB     4.0 KiB\n"
	       "          1           -           -           -\n"
	       "          2           -           -           -\n");
	options.query.limit = 1;
	trace = job_trace(&job);
	expect_part(trace, mpi_json_of, &as_asked,
	            "\"ranks\":[{\"rank\":0,\"host\":\"a\",\"weight\":582486,"
	            "\"mpi_weight\":194162,\"calls\":3,\"unfinished\":0,\"time_ns\":3050,"
	            "\"longest_ns\":2000,\"sent\":3,\"bytes\":6096,\"received\":0,"
	            "\"bytes_in\":0},{\"rank\":1,\"host\":\"b\",\"weight\":194162,"
	            "\"mpi_weight\":0,\"calls\":2,\"unfinished\":0,\"time_ns\":3070,"
	            "\"longest_ns\":3000,\"sent\":0,\"bytes\":0,\"received\":2,"
	            "\"bytes_in\":1300},{\"rank\":2,\"host\":\"b\",\"weight\":388324,"
	            "\"mpi_weight\":291243,\"calls\":3,\"unfinished\":0,\"time_ns\":970,"
	            "\"longest_ns\":800,\"sent\":0,\"bytes\":108,\"received\":0,"
	            "\"bytes_in\":224}],\"contexts\":[{\"weight\":291243,\"samples\":3,"
	            "\"stack\":[\"MPI_Recv\",\"main\"]},{\"weight\":194162,\"samples\":2,"
	            "\"stack\":[\"MPI_Send\",\"main\"]}],\"callers\":{\"calls\":8,"
	            "\"time_ns\":7090,\"known\":2,\"known_time_ns\":1800},"
	            "\"calls\":[{\"call\":\"step\",\"class\":\"region\",\"calls\":1,"
	            "\"unfinished\":0,\"time_ns\":5000,\"longest_ns\":5000,\"sent\":0,"
	            "\"bytes\":0,\"received\":0,\"bytes_in\":0},{\"call\":\"MPI_Send\","
	            "\"class\":\"point-to-point\",\"calls\":2,\"unfinished\":0,"
	            "\"time_ns\":3000,\"longest_ns\":2000,\"sent\":2,\"bytes\":2000,"
	            "\"received\":0,\"bytes_in\":0},{\"call\":\"MPI_Recv\","
	            "\"class\":\"point-to-point\",\"calls\":1,\"unfinished\":0,"
	            "\"time_ns\":3000,\"longest_ns\":3000,\"sent\":0,\"bytes\":0,"
	            "\"received\":1,\"bytes_in\":1000},{\"call\":\"MPI_Allreduce\","
	            "\"class\":\"collective\",\"calls\":1,\"unfinished\":0,\"time_ns\":800,"
	            "\"longest_ns\":800,\"sent\":0,\"bytes\":8,\"received\":0,\"bytes_in\":24},"
	            "{\"call\":\"MPI_File_write\",\"class\":\"I/O\",\"calls\":1,"
	            "\"unfinished\":0,\"time_ns\":90,\"longest_ns\":90,\"sent\":0,"
	            "\"bytes\":100,\"received\":0,\"bytes_in\":0},{\"call\":\"MPI_File_read\","
	            "\"class\":\"I/O\",\"calls\":1,\"unfinished\":0,\"time_ns\":80,"
	            "\"longest_ns\":80,\"sent\":0,\"bytes\":0,\"received\":0,\"bytes_in\":200},"
	            "{\"call\":\"MPI_Get\",\"class\":\"one-sided\",\"calls\":1,"
	            "\"unfinished\":0,\"time_ns\":70,\"longest_ns\":70,\"sent\":0,\"bytes\":0,"
	            "\"received\":1,\"bytes_in\":300},{\"call\":\"MPI_Put\","
	            "\"class\":\"one-sided\",\"calls\":1,\"unfinished\":0,\"time_ns\":50,"
	            "\"longest_ns\":50,\"sent\":1,\"bytes\":4096,\"received\":0,"
	            "\"bytes_in\":0}],\"matrix\":[{\"from\":0,\"to\":1,\"messages\":3,"
	            "\"bytes\":2300},{\"from\":0,\"to\":2,\"messages\":1,\"bytes\":4096}],"
	            "\"messages_elsewhere\":0,\"bytes_elsewhere\":0}");
	expect_part(trace, report_mpi_text, &options,
	            "MPI_Recv < main\n1 more context; --all shows them\n\ncalls as");
	job_close(&job, trace);
}

static void balance_of_ranks(void **state)
{
	struct report_options options = as_asked;
	struct made_job job;

	(void)state;
	job_open(&job, 3);
	put_all(&job);
	/* One went on as another process. */
	tables_add_process(job.w.tables, &(struct trace_process){.pid = 299});
	expect(&job, report_ranks_text, &options,
	       "\n"
	       "ranks: what was sampled, and its share in MPI, from samples; MPI calls, "
	       "their exact time, and what they sent, from calls\n"
	       "\n"
	       "  rank     sampled    in MPI   MPI calls        time        sent        bytes  "
	       "host\n"
	       "     0    582.5 µs    33.33%           3    3.050 µs           3      6.0 KiB  a\n"
	       "     1    194.2 µs     0.00%           2    3.070 µs           0      0 bytes  b\n"
	       "     2    388.3 µs    75.00%           3      970 ns           0    108 bytes  b\n"
	       "20.00% of the samples belong to no rank\n"
	       "\n"
	       "what each function spent in itself, over the ranks, from samples: the mean, "
	       "the least and the most, and how far the most is above the mean\n"
	       "\n"
	       "      mean       least rank          most rank         above   ± error  symbol\n"
	       "  226.5 µs    97.08 µs 2         388.3 µs 0            71.4% ±  121.6%  work\n"
	       "  97.08 µs        0 ns 0         291.2 µs 2           200.0% ±  259.0%  MPI_Recv\n"
	       "  64.72 µs        0 ns 1         194.2 µs 0           200.0% ±  388.5%  "
	       "MPI_Send\n");
	options.query.limit = 1;
	expect(&job, report_ranks_text, &options,
	       "\n"
	       "ranks: what was sampled, and its share in MPI, from samples; MPI calls, "
	       "their exact time, and what they sent, from calls\n"
	       "\n"
	       "  rank     sampled    in MPI   MPI calls        time        sent        bytes  "
	       "host\n"
	       "     0    582.5 µs    33.33%           3    3.050 µs           3      6.0 KiB  a\n"
	       "2 more ranks; --all shows them\n"
	       "20.00% of the samples belong to no rank\n"
	       "\n"
	       "what each function spent in itself, over the ranks, from samples: the mean, "
	       "the least and the most, and how far the most is above the mean\n"
	       "\n"
	       "      mean       least rank          most rank         above   ± error  symbol\n"
	       "  226.5 µs    97.08 µs 2         388.3 µs 0            71.4% ±  121.6%  work\n"
	       "2 more functions; --all shows them\n");
	world_close(&job.w);
}

static void put_value(struct made_job *job, unsigned rank, double value)
{
	struct call_part part = {.type = CALL_VALUE};

	memcpy(&part.bytes, &value, sizeof(value));
	put_call(job, rank, RESIDUAL, 0, &part);
	job->time += 10;
}

/* Markers and values have no length; of values it is told what they were. */
static void values_are_told(void **state)
{
	struct made_job job;
	struct trace *trace;

	(void)state;
	job_open(&job, 2);
	put_samples(&job, 1, job.thread[0], 16);
	put_value(&job, 0, -3);
	put_value(&job, 1, 1e9);
	put_value(&job, 0, 0.5);
	job.time -= 25;
	put_value(&job, 1, NAN);
	put_value(&job, 1, 2);
	put_call(&job, 0, TENTH, 0, NULL);
	expect(&job, calls_of, &as_asked,
	       "\n"
	       "calls as they were recorded, with exact times; the table above is from samples "
	       "alone\n"
	       "\n"
	       "     calls        time        mean     longest        sent        bytes    "
	       "received        bytes  call\n"
	       "         1           -           -           -           -            -           "
	       "-            -  tenth\n"
	       "\n"
	       "values that the program told\n"
	       "\n"
	       "    values          mean         least          most          last  name\n"
	       "         5       2.5e+08            -3         1e+09           0.5  residual\n");
	trace = job_trace(&job);
	expect_part(
		trace, mpi_json_of, &as_asked,
		"\"class\":\"value\",\"calls\":5,\"unfinished\":0,\"time_ns\":0,\"longest_ns\":0,"
		"\"sent\":0,\"bytes\":0,\"received\":0,\"bytes_in\":0,"
		"\"mean\":249999999.875,\"min\":-3.0,\"max\":1000000000.0,\"last\":0.5}");
	expect_part(trace, mpi_json_of, &as_asked, "\"class\":\"marker\",\"calls\":1,");
	job_close(&job, trace);
}

/* What is no number has no mean. */
static void no_numbers_are_no_values(void **state)
{
	struct made_job job;
	struct trace *trace;

	(void)state;
	job_open(&job, 1);
	put_samples(&job, 1, job.thread[0], 16);
	put_value(&job, 0, INFINITY);
	trace = job_trace(&job);
	expect_part(
		trace, calls_of, &as_asked,
		"         1             -             -             -             -  residual\n");
	expect_part(trace, mpi_json_of, &as_asked,
	            "\"mean\":null,\"min\":null,\"max\":null,\"last\":null}");
	job_close(&job, trace);
}

/* Of a rank that recorded its own trace, the others are missing in it. */
static void missing_ranks_are_told(void **state)
{
	struct report_options options = as_asked;
	struct made_job job;
	struct trace *trace;

	(void)state;
	options.style.no_header = false;
	job_open(&job, 2);
	put_samples(&job, 1, job.thread[0], 16);
	tables_process(job.w.tables, 0)->world_size = 3;
	trace = job_trace(&job);
	expect_part(trace, report_ranks_text, &options,
	            "warning: 2 of the job's 3 ranks are in this trace; adaptrace merge joins");
	expect_part(trace, report_mpi_text, &options, "warning: 2 of the job's 3 ranks are in");
	expect_part(trace, mpi_json_of, &options, "\"2 of the job's 3 ranks are in");
	trace_close(trace);
	tables_process(job.w.tables, 0)->world_size = 2;
	trace = job_trace(&job);
	expect_part(trace, mpi_json_of, &options, "and no thread ran that long\"],");
	job_close(&job, trace);
}

static int json_of(FILE *to, const struct trace *trace, const char *name,
                   const struct report_options *options)
{
	(void)name;
	return report_json(to, trace, &options->query);
}

/* Of long names a terminal shows the ends, not the namespace that all are in. */
static void names_keep_their_ends(void **state)
{
	const struct named_range longer[] = {{2, 0, 16, "some::space::Solver<double>::run(int)"},
	                                     {2, 16, 32, "some::space::Grid<double>::step(int)"},
	                                     {2, 32, 64, "MPI_Send"}};
	struct report_options options = as_asked;
	struct made_job job;
	struct trace *trace;

	(void)state;
	options.style.quiet = true;
	options.style.width = 80;
	job_open(&job, 1);
	put_samples(&job, 1, job.thread[0], 16);
	put_samples(&job, 1, job.thread[0], 32);
	trace = world_named(&job.w, longer, sizeof(longer) / sizeof(*longer));
	expect_part(trace, report_mpi_text, &options, "MPI_Send < …ver<…>::run");
	expect_part(trace, report_ranks_text, &options, "  …id<…>::step\n");
	options.style.quiet = false;
	options.query.direction = PROFILE_CALLERS;
	options.query.function = longer[0].name;
	options.query.keys[options.query.nr_keys++] = PROFILE_BY_SYMBOL;
	options.style.width = 40;
	expect_part(trace, report_text, &options,
	            "callers of some::space::Solver<…>::run: 100.00% of all");
	job_close(&job, trace);
}

static void threads_have_ranks(void **state)
{
	struct report_options options = as_asked;
	struct made_job job;
	struct trace *trace;

	(void)state;
	job_open(&job, 2);
	put_samples(&job, 2, job.thread[0], 16);
	put_samples(&job, 1, job.thread[1], 16);
	put_samples(&job, 1, 0, 16);
	trace = job_trace(&job);
	options.query.per_thread = true;
	options.query.keys[options.query.nr_keys++] = PROFILE_BY_SYMBOL;
	expect_part(trace, report_text, &options, "app 201, rank 0: 50.00%, 194.2 µs\n");
	expect_part(trace, report_text, &options, "app 202, rank 1: 25.00%, 97.08 µs\n");
	expect_part(trace, report_text, &options, "sh 100: 25.00%, 97.08 µs\n");
	expect_part(trace, json_of, &options,
	            "{\"pid\":202,\"tid\":202,\"comm\":\"app\",\"rank\":1,");
	expect_part(trace, json_of, &options,
	            "{\"pid\":100,\"tid\":100,\"comm\":\"sh\",\"total_weight\"");
	job_close(&job, trace);
}

/* In what calls itself a sample is once. */
static void recursion_counts_once(void **state)
{
	uint64_t path[] = {2ULL << 32 | 16, 2ULL << 32 | 16};
	struct hmb_sample sample = {.leaf = 2ULL << 32 | 16, .path = path, .path_size = 2};
	struct made_job made;
	struct trace *trace;
	struct job job;

	(void)state;
	job_open(&made, 2);
	sample.thread = made.thread[1];
	hmb_put(made.w.hmb, &sample);
	trace = world_written(&made.w);
	assert_int_equal(job_init(&job, trace, &as_asked.query), 0);
	assert_int_equal(job.samples.functions[0].self.sum, WEIGHT);
	assert_int_equal(job.samples.functions[0].total.sum, WEIGHT);
	job_fini(&job);
	trace_close(trace);
	world_close(&made.w);
}

#define RANK_2                                                                                   \
	"{\"rank\":2,\"host\":\"b\",\"weight\":0,\"mpi_weight\":0,\"calls\":0,\"unfinished\":0," \
	"\"time_ns\":0,\"longest_ns\":0,\"sent\":0,\"bytes\":0,\"received\":0,\"bytes_in\":0}"

/* A matrix would be too wide; programs get the same rows. */
static void many_ranks_are_told_as_pairs(void **state)
{
	struct report_options options = as_asked;
	struct made_job job;
	struct trace *trace;

	(void)state;
	job_open(&job, MAX_RANKS);
	for (int i = 1; i < 5; i++)
		put_call(&job, 17, SEND, 10,
		         &(struct call_part){
				 .type = CALL_SEND, .peer = i, .bytes = (uint64_t)(i % 3 * 10)});
	options.style.quiet = true;
	options.query.limit = 3;
	expect(&job, report_mpi_text, &options,
	       "     0        0 ns     0.00%           0        0 ns           0      0 bytes  a\n"
	       "     1        0 ns     0.00%           0        0 ns           0      0 bytes  b\n"
	       "     2        0 ns     0.00%           0        0 ns           0      0 bytes  b\n"
	       "(a sample was taken in 0 of 4 calls, with 0.00% of their time; who called the "
	       "others is not known)\n"
	       "         4       40 ns       10 ns       10 ns           4     40 bytes           "
	       "0            -  MPI_Send\n"
	       "    from        to    messages        bytes\n"
	       "      17         2           1     20 bytes\n"
	       "      17         1           1     10 bytes\n"
	       "      17         4           1     10 bytes\n");
	trace = world_written(&job.w);
	expect_part(trace, mpi_json_of, &options,
	            "\"matrix\":[{\"from\":17,\"to\":2,\"messages\":1,\"bytes\":20},"
	            "{\"from\":17,\"to\":1,\"messages\":1,\"bytes\":10},"
	            "{\"from\":17,\"to\":4,\"messages\":1,\"bytes\":10}]");
	expect_part(trace, mpi_json_of, &options, RANK_2 "],\"contexts\"");
	options.query.limit = UINT32_MAX;
	expect_part(trace, mpi_json_of, &options, RANK_2 ",{\"rank\":3,");
	job_close(&job, trace);
}

/* Which are beyond the table of functions, and no more than a few. */
static void calls_that_are_not_there_are_told(void **state)
{
	struct report_options options = as_asked;
	struct made_job job;

	(void)state;
	job_open(&job, 3);
	put_all(&job);
	options.query.limit = 2;
	expect(&job, calls_of, &options,
	       "\n"
	       "calls as they were recorded, with exact times; the table above is from samples "
	       "alone\n"
	       "\n"
	       "     calls        time        mean     longest        sent        bytes    "
	       "received        bytes  call\n"
	       "         1    5.000 µs    5.000 µs    5.000 µs           0            -           "
	       "0            -  step\n"
	       "         2    3.000 µs    1.500 µs    2.000 µs           2      2.0 KiB           "
	       "0            -  MPI_Send\n"
	       "6 more; --all shows them\n");
	world_close(&job.w);
}

static void info_tells_how_calls_were_kept(void **state)
{
	struct made_job job;
	struct trace_process *process;
	struct trace *trace;

	(void)state;
	job_open(&job, 5);
	put_all(&job);
	process = tables_process(job.w.tables, 1);
	process->offset = -1500;
	process->offset_error = UINT64_MAX;
	process->flags = TRACE_PROCESS_MPI;
	process = tables_process(job.w.tables, 2);
	process->offset = 2500;
	process->offset_error = 10;
	process->lost = 7;
	process->flags = 0;
	process->world_size = 5;
	process->thread_level = 3;
	process->start = 1100;
	process->end = 9000;
	process->clock_error = 12;
	process->drift = -30;
	tables_process(job.w.tables, 4)->rank = -1;
	tables_add_instrument(job.w.tables, &(struct trace_instrument){.event = CALLS,
	                                                               .share = 2048,
	                                                               .policy = TRACE_POLICY_DEPTH,
	                                                               .from = 2000,
	                                                               .to = 5000,
	                                                               .lost = 9});
	expect(&job, info_of, NULL,
	       "  calls          9 seen, 9 of them stored, 12.9 bytes each\n"
	       "                 at least 2.0 KiB; when the memory is full, the deepest are "
	       "dropped first\n"
	       "                 complete from 1.000 µs to 4.000 µs\n"
	       "                 9 lost on their way to the recorder\n"
	       "\n"
	       "  MPI            A library of MPI\n"
	       "\n"
	       "    rank   process  host          clock\n"
	       "       0       201  a             as recorded\n"
	       "       1       202  b             -1.500 µs, as far as the hosts knew the real "
	       "time, ended without MPI_Finalize\n"
	       "       2       203  b             +2.500 µs ± 0.010 µs, 7 calls lost\n"
	       "       3       204  b             as recorded\n"
	       "       -       205  b             as recorded\n");
	trace = world_written(&job.w);
	expect_part(
		trace, info_json_of, NULL,
		"\"calls\":{\"bytes\":116,\"kinds\":[{\"name\":\"calls\",\"seen\":9,\"stored\":9,"
		"\"dropped\":0,\"lost\":9,\"untimed\":0,\"policy\":\"depth\",\"share\":2048,"
		"\"from_ns\":2000,\"to_ns\":5000}]},\"processes\":[");
	expect_part(trace, info_json_of, NULL,
	            "{\"rank\":1,\"pid\":202,\"host\":\"b\",\"world_size\":0,"
	            "\"library\":\"A library of MPI\",\"threads\":\"single\",\"finalized\":false,"
	            "\"start_ns\":0,\"end_ns\":0,\"lost\":0,\"clock_error_ns\":0,"
	            "\"offset_ns\":-1500,\"drift_ns\":0,\"offset_error_ns\":null},"
	            "{\"rank\":2,\"pid\":203,\"host\":\"b\",\"world_size\":5,"
	            "\"library\":\"A library of MPI\",\"threads\":\"multiple\",\"finalized\":false,"
	            "\"start_ns\":1100,\"end_ns\":9000,\"lost\":7,\"clock_error_ns\":12,"
	            "\"offset_ns\":2500,\"drift_ns\":-30,\"offset_error_ns\":10},");
	expect_part(trace, info_json_of, NULL, "{\"rank\":null,\"pid\":205,");
	trace_close(trace);
	hmb_close_lowest(job.w.hmb, CALLS, 11000, HMB_CAUSE_SHARE);
	expect(&job, info_of, NULL,
	       "  calls          9 seen, 0 of them stored\n"
	       "                 at least 2.0 KiB; when the memory is full, the deepest are "
	       "dropped first\n"
	       "                 complete from 1.000 µs to 4.000 µs\n"
	       "                 9 lost on their way to the recorder\n"
	       "                 dropped at 10.00 µs: they had more than their share\n"
	       "\n"
	       "  MPI            A library of MPI\n"
	       "\n"
	       "    rank   process  host          clock\n"
	       "       0       201  a             as recorded\n"
	       "       1       202  b             -1.500 µs, as far as the hosts knew the real "
	       "time, ended without MPI_Finalize\n"
	       "       2       203  b             +2.500 µs ± 0.010 µs, 7 calls lost\n"
	       "       3       204  b             as recorded\n"
	       "       -       205  b             as recorded\n");
	world_close(&job.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dump_tells_of_every_call),
		cmocka_unit_test(values_are_told),
		cmocka_unit_test(missing_ranks_are_told),
		cmocka_unit_test(no_numbers_are_no_values),
		cmocka_unit_test(time_in_mpi),
		cmocka_unit_test(balance_of_ranks),
		cmocka_unit_test(names_keep_their_ends),
		cmocka_unit_test(threads_have_ranks),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(many_ranks_are_told_as_pairs),
		cmocka_unit_test(calls_that_are_not_there_are_told),
		cmocka_unit_test(info_tells_how_calls_were_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
