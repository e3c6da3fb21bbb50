#!/usr/bin/env python3
"""bench_scale.py BUILD [PAIRS [PART]]: what --scale-trace stores of the calls of kernels and of LAMMPS, on two
ranks, against all calls: bytes of calls, and of the iterations' times; calls and steps found. Then the loop time
of LAMMPS rigid in PAIRS pairs (15), with --scale-trace and with --mpi alone, in turns, and the CPU time of both
recorders. PART of the steps is run (1). KIND=kernels, lammps, pairs or a name runs these alone, as in
KIND=pairs python3 test/bench/bench_scale.py build 15. Goals are those of doc/iterations.md."""
import json, os, re, shutil, statistics, subprocess, sys, tempfile
import workloads

build = os.path.abspath(sys.argv[1])
pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 15
part = float(sys.argv[3]) if len(sys.argv) > 3 else 1
wanted = os.environ.get('KIND', '')
top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
if not shutil.which('mpicc.openmpi'):
    print('bench_scale: install libopenmpi-dev for this')
    sys.exit(77)
folder = tempfile.TemporaryDirectory()
work = folder.name
environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', OMP_NUM_THREADS='1')
adaptrace = build + '/adaptrace'
record = [adaptrace, 'record', '-q', '-F', '10', '-g', 'none', '--mpi', '--max-overhead', '0', '--events-wait', '10000']
mpirun = ['mpirun.openmpi', '--oversubscribe', '-n', '2']


def output(command, where=work):
    return subprocess.run(command, cwd=where, env=environment, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def told(*arguments):
    return json.loads(output([adaptrace, *arguments, '--json', work + '/x.atr']))


def recorded(job, where, *options):
    out = output([*record, '-m', '1G', *options, '-o', work + '/x.atr', '--', *mpirun, *job], where)
    return out, told('info')


def row(name, steps, goal, job, where=work):
    if wanted and wanted not in (name.split()[0], 'lammps' if job[0] == 'lmp' else 'kernels'):
        return
    _, all = recorded(job, where)
    _, scaled = recorded(job, where, '--scale-trace')
    found = max((p['iterations'] for p in told('report', '--iterations')['phases'] if p['rank'] == 0), default=0)
    kind, = scaled['calls']['kinds']
    share = scaled['calls']['bytes'] / all['calls']['bytes']
    times = scaled['iterations']['bytes'] / all['calls']['bytes']
    print(f'{name:10s} {steps:7d} steps, {found:7d} found, {kind["stored"]} of {kind["seen"]} calls: '
          f'{100 * share:.1f} % of the bytes, goal <= {goal} %; times of iterations {100 * times:.1f} % more; '
          f'recorder {100 * scaled["recorder_cpu_ns"] / all["recorder_cpu_ns"]:.0f} % of the CPU time', flush=True)


def script(name, steps):
    where = f'{work}/{name}'
    return workloads.lammps_example(name, steps, where), where


def loop_time(job, where, *options):
    out, info = recorded(job, where, *options)
    return float(re.search(r'Loop time of (\S+)', out).group(1)), info['recorder_cpu_ns']


def compare_loop_times():
    times, costs = [], []
    for _ in range(pairs):
        job, where = script('rigid', int(100000 * part))
        plain, plain_cost = loop_time(job, where)
        scaled, cost = loop_time(job, where, '--scale-trace')
        times.append(scaled / plain)
        costs.append(cost / plain_cost)
        print(f'rigid, {plain:.2f} s with --mpi, {scaled:.2f} s with --scale-trace', flush=True)
    print(f'rigid, {pairs} pairs: loop time with --scale-trace {statistics.median(times):.3f} of that with --mpi '
          f'({min(times):.2f} to {max(times):.2f}); goal <= 1; CPU time of the recorder {statistics.median(costs):.2f}; '
          'goal <= 0.3')


subprocess.run(['mpicc.openmpi', '-O1', '-w', '-o', work + '/iterate', top + '/test/mpi/iterate.c', '-lm'], check=True)
for kind, steps, goal in (('wavefront', 250, 10), ('wavefront', 2000, 3), ('cg', 2000, 5), ('adi', 2000, 5), ('solver', 2000, 5)):
    row(kind, steps, goal, ['./iterate', kind, str(steps)])
if not workloads.has_lammps_example('rigid'):
    print('bench_scale: install lammps and lammps-examples for the rest')
    sys.exit(0)
for name, steps, goal in (('rigid', 100000, 7), ('colloid', 50000, 4), ('melt', 5000, 8)):
    steps = int(steps * part)
    row(name, steps, goal, *script(name, steps))
if pairs and wanted in ('', 'pairs'):
    compare_loop_times()
