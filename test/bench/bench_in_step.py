#!/usr/bin/env python3
"""bench_in_step.py BUILD [RUNS]: what sampling costs programs whose CPUs wait for each other, alone, with
--in-step=no and with --in-step=yes, medians of RUNS (7) runs of each in turn: threads at a barrier that
spins, LAMMPS `rigid` with MPI where it is installed, and a stencil with OpenMP; as root also with user 65534,
without privilege, and the threads attached to (-p). At the default rate, and at 10 kHz with
--max-overhead 0. Works from 2 CPUs on.

lost       share of the program's speed; beside it what info says: cost.one_cpu_pct / cost.coupled_pct
apart      the largest difference between the phases of two CPUs in windows of 100 ms, median, from the
           times of the trace's samples; one CPU: difference from the grid
recorder   its CPU time, as a share of one CPU

UNDER='chrt -f 1' runs the programs in real time, for a machine that others use as well. ONLY=NAME runs
those whose name contains it, SECONDS=S lets the threads at the barrier run so long, and HERTZ=F is instead
of 10 kHz: where a sample takes half of the period, the program loses nearly all, in step or not.
Goals at 10 kHz: the barrier program loses in step at most 0.7 of what it loses otherwise on 2 CPUs."""
import collections, itertools, json, os, re, shlex, shutil, statistics, subprocess, sys, tempfile, time
import workloads

build, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get('RUNS', 7))
adaptrace, window = build + '/adaptrace', 100000000
under, only = shlex.split(os.environ.get('UNDER', '')), os.environ.get('ONLY', '')
hertz, seconds = int(os.environ.get('HERTZ', 10000)), os.environ.get('SECONDS', '2')
nr_cpus = len(os.sched_getaffinity(0))
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                   OMP_NUM_THREADS='1', OMP_PROC_BIND='true', OMP_WAIT_POLICY='active')
loads = {'default': [], f'{hertz / 1000:g} kHz': ['-F', str(hertz), '--max-overhead', '0']}
ways = {'alone': None, 'apart': '--in-step=no', 'in step': '--in-step=yes'}

environment['HOME'] = folder.name
os.chmod(folder.name, 0o777)
unprivileged = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] if os.geteuid() == 0 else []

# name: the command, what makes out of its output how fast it was, whether each rank is recorded, the number of
# OpenMP threads, the command that runs it and the recorder, and whether the recorder attaches to it
Program = collections.namedtuple('Program', 'name command speed each threads user attached',
                                 defaults=(False, 1, [], False))


STENCIL = '''
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096 }; /* a thread */

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, begin = omp_get_wtime(), now = begin;
	int size = N * omp_get_max_threads();
	double *from = calloc(size + 2, sizeof(*from)), *to = calloc(size + 2, sizeof(*to)), *swap;
	unsigned long steps = 0;

	for (from[0] = to[0] = 1; now < begin + seconds; now = omp_get_wtime())
		for (int i = 0; i < 64; i++, steps++) {
#pragma omp parallel for schedule(static)
			for (int x = 1; x <= size; x++)
				to[x] = 0.5 * from[x] + 0.25 * (from[x - 1] + from[x + 1]);
			swap = from, from = to, to = swap;
		}
	printf("rate %.3f\\n", steps / (now - begin) / 1000);
}
'''


def rounds(output):
    return float(re.search(r'^rate (\S+)', output, re.M).group(1))


def loops(output):
    return 1 / sum(map(float, re.findall(r'Loop time of (\S+)', output)))


def programs():
    for threads, us in itertools.product(sorted({nr_cpus - 1, nr_cpus}), (3.4, 34)):
        barrier = Program(f'barrier {threads} threads {us} us',
                          [build + '/targets/barrier', str(threads), str(us), seconds], rounds)
        yield barrier
        yield barrier._replace(name=barrier.name + ', unprivileged', user=unprivileged)
        yield barrier._replace(name=barrier.name + ', attached, unprivileged', user=unprivileged, attached=True)
    if not workloads.has_lammps_example('rigid'):
        print('LAMMPS: not here')
        return
    job = workloads.lammps_example('rigid', 150000, '.')
    os.chmod('.', 0o777) # the copy has the example's mode
    for ranks in sorted({max(nr_cpus - 1, 2), nr_cpus}):
        if shutil.which('mpirun.openmpi'):
            mpirun = ['mpirun.openmpi', '-n', str(ranks)]
            for rights, user in ('', []), (', unprivileged', unprivileged):
                yield Program(f'LAMMPS {ranks} ranks{rights}', [*mpirun, *job], loops, user=user)
                yield Program(f'LAMMPS {ranks} ranks, a recorder each{rights}', [*mpirun, *job], loops, True, user=user)


def openmp_programs():
    """A stencil, as many OpenMP codes have: each step is a parallel loop of some us, and ends at a barrier."""
    with open('stencil.c', 'w') as file:
        file.write(STENCIL)
    if subprocess.run(['cc', '-O2', '-fopenmp', '-o', 'stencil', 'stencil.c', '-lm'], stderr=subprocess.DEVNULL).returncode:
        print('OpenMP: no compiler here')
        return
    for threads in sorted({max(nr_cpus - 1, 2), nr_cpus}):
        for rights, user in ('', []), (', unprivileged', unprivileged):
            yield Program(f'OpenMP stencil {threads} threads{rights}', ['./stencil', seconds], rounds, threads=threads,
                          user=user)


def recorded(program, load, way):
    """The command to run."""
    options = loads[load] + [ways[way]]
    if not program.each:
        return [adaptrace, 'record', '-q', '-o', 'a.atr', *options, '--', *program.command]
    at = program.command.index('lmp')
    return [*program.command[:at], adaptrace, 'record', '-q', '-o', 'a%r.atr', *options, '--',
            *program.command[at:]]


def samples_of(trace):
    """(time, CPU) of each sample, in ns."""
    lines = subprocess.Popen([adaptrace, 'dump', trace], stdout=subprocess.PIPE, text=True)
    for line in lines.stdout:
        found = re.match(r'(\d+)\.(\d{9}) .*? \[(\d+)\] ', line)
        if found:
            yield int(found[1]) * 1000000000 + int(found[2]), int(found[3])
    lines.wait()


def middle(phases, period):
    """The phase that most have: the one with the least sum of distances."""
    some = phases[::max(1, len(phases) // 25)]
    return min(some, key=lambda phase: sum(distance(phase, other, period) for other in some))


def distance(phase, other, period):
    away = (phase - other) % period
    return min(away, period - away)


def phases_apart(trace, info):
    """Median of the largest difference between two CPUs in each window, in us."""
    period, windows = info['events'][0]['final_period'], collections.defaultdict(lambda: collections.defaultdict(list))
    for time, cpu in samples_of(trace):
        windows[time // window][cpu].append(time % period)
    apart = []
    for cpus in windows.values():
        means = [middle(phases, period) for phases in cpus.values() if len(phases) >= 10]
        if len(means) > 1:
            apart.append(max(distance(a, b, period) for a, b in itertools.combinations(means, 2)))
    if apart:
        return statistics.median(apart) / 1e3
    return info['in_step']['median_off_ns'] / 1e3 if info['in_step']['grid_ns'] else float('nan')


def output_of(program, load, way):
    """Runs the program, and the recorder but for `alone`."""
    launched = way == 'alone' or program.attached
    command = under + program.user + (program.command if launched else recorded(program, load, way))
    with subprocess.Popen(command, env=dict(environment, OMP_NUM_THREADS=str(program.threads)),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        if program.attached and way != 'alone':
            time.sleep(0.1)
            subprocess.run([*program.user, adaptrace, 'record', '-q', '-o', 'a.atr', *loads[load], ways[way],
                            '-p', str(running.pid)], check=True, stderr=subprocess.DEVNULL)
        output = running.communicate()[0]
    if running.returncode:
        sys.exit(f'{program.name}: status {running.returncode}')
    return output


def run(program, load, way):
    """Figures of one run; None: alone."""
    result = {'speed': program.speed(output_of(program, load, way))}
    traces = [name for name in sorted(os.listdir('.')) if re.fullmatch(r'a\d*\.atr', name)]
    infos = [json.loads(subprocess.check_output([adaptrace, 'info', '--json', trace])) for trace in traces]
    if way == 'alone':
        return result
    result['apart'] = phases_apart(traces[0], infos[0])
    for trace in traces:
        os.unlink(trace)
    for key in 'one_cpu_pct', 'coupled_pct':
        result[key] = max(info['cost'][key] for info in infos)
    result['hertz'] = 1e9 / infos[0]['events'][0]['final_period']
    result['price'] = infos[0]['cost']['sample_ns'] / 1e3
    result['off'] = infos[0]['in_step']['p90_off_ns'] / 1e3
    result['recorder'] = 100 * sum(info['recorder_cpu_ns'] / info['wall_ns'] for info in infos)
    result['restarts'] = sum(info['in_step']['restarts'] for info in infos)
    result['taken'] = sum(info['samples']['taken'] for info in infos)
    result['unsteered'] = max(info['in_step']['unsteered_cpus'] for info in infos)
    return result


def medians(rows):
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def report(program, load):
    rows = {way: [] for way in ways}
    for _ in range(runs):
        for way in ways:
            rows[way].append(run(program, load, way))
    alone, lost = medians(rows['alone'])['speed'], {}
    print(f'{program.name}, {load}: alone {alone:.4g}')
    for way in list(ways)[1:]:
        m = medians(rows[way])
        lost[way] = 100 * (1 - m['speed'] / alone)
        print(f'  {way:8s}{m["hertz"]:6.0f} Hz, {m["speed"]:8.4g}, lost {lost[way]:5.1f} % (info: '
              f'{m["one_cpu_pct"]:.1f} / {m["coupled_pct"]:.1f}), {m["apart"]:6.1f} us apart (90 % off by '
              f'{m["off"]:.0f}), recorder {m["recorder"]:.1f} %, {m["restarts"]:.0f} restarts, '
              f'{m["taken"]:.0f} samples of {m["price"]:.0f} us, {m["unsteered"]:.0f} CPUs not steered')
    if lost['apart'] > 0:
        print(f'  in step costs {lost["in step"] / lost["apart"]:.2f} of what apart costs', flush=True)


print(f'{nr_cpus} CPUs, medians of {runs}')
for program in itertools.chain(programs(), openmp_programs()):
    for load in loads:
        if only in f'{program.name}, {load}':
            report(program, load)
