#!/usr/bin/env python3
"""bench_lammps.py BUILD [TURNS [STEPS]]: LAMMPS, example `rigid`, 2 ranks: two million MPI calls a second
and rank. Its loop time alone, sampled ten times a second, the same with events recorded, and with
the share of events used up; in turn, least of each, because ranks that spin wait double every
disturbance. What events cost is told against the run that was sampled without them. Goals:
recording <= 12 % (EZTrace 2.0 costs 43 %), used up <= 2 %; <= 8 bytes an event; the trace within
-m 16M."""
import json, os, re, resource, shutil, statistics, subprocess, sys, tempfile
import workloads

build, turns = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 6
steps = int(sys.argv[3]) if len(sys.argv) > 3 else 150000
if not (workloads.has_lammps_example('rigid') and shutil.which('mpirun.openmpi')):
    print('bench_lammps: install lammps, lammps-examples and openmpi-bin for this')
    sys.exit(77)
folder = tempfile.TemporaryDirectory()
work = folder.name
environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                   OMP_NUM_THREADS='1')
job = ['mpirun.openmpi', '-n', '2', *workloads.lammps_example('rigid', steps, work)]
sample = [build + '/adaptrace', 'record', '-q', '-F', '10', '-g', 'none']
record = [*sample, '--mpi']
ways = {
    'alone': job,
    'sampled': [*sample, '-m', '1G', '-o', 'none.atr', '--', *job],
    'recorded': [*record, '-m', '1G', '-o', 'all.atr', '--', *job],
    'used up': [*record, '-m', '256K', '-o', 'few.atr', '--', *job],
}


def loop_time(command):
    out = subprocess.run(command, cwd=work, env=environment, check=True, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return float(re.search(r'Loop time of (\S+)', out).group(1))


def info(trace):
    return json.loads(subprocess.check_output([build + '/adaptrace', 'info', '--json', trace],
                                              cwd=work, text=True))


def cpu_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


times = {way: [] for way in ways}
cpu = {way: [] for way in ways} # of all processes, from start to end: steadier than the time
for _ in range(turns):
    for way, command in ways.items():
        before = cpu_time()
        times[way].append(loop_time(command))
        cpu[way].append(cpu_time() - before)
least = {way: min(all) for way, all in times.items()}
print(f'LAMMPS rigid, 2 ranks, {steps} steps, least of {turns}: alone {least["alone"]:.3f} s, '
      f'sampled {least["sampled"]:.3f} s, {100 * (least["sampled"] / least["alone"] - 1):+.1f} %')
for way, goal in ('recorded', 12), ('used up', 2):
    pairs = sorted(with_events / without for with_events, without in zip(times[way], times['sampled']))
    print(f'  {way:10s} {least[way]:.3f} s, {100 * (least[way] / least["sampled"] - 1):+.1f} %; '
          f'middle of the pairs {100 * (pairs[len(pairs) // 2] - 1):+.1f} %; goal <= {goal} %')
print('  CPU time: ' + ', '.join(f'{way} {statistics.median(all):.2f} s' for way, all in cpu.items()))
told = info('all.atr')
kind, = told['calls']['kinds']
print(f'  {kind["stored"]} events stored, {kind["lost"]} lost, '
      f'{told["calls"]["bytes"] / kind["stored"]:.2f} bytes each; goal <= 8')
without = info('none.atr')
print(f'  the recorder used {(told["recorder_cpu_ns"] - without["recorder_cpu_ns"]) / kind["stored"]:.0f} '
      f'ns an event')
subprocess.run([*record, '-m', '16M', '-o', 'small.atr', '--', *job], cwd=work, env=environment,
               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(f'  with -m 16M the trace has {os.path.getsize(work + "/small.atr") / 2**20:.2f} MiB; goal <= 16')
