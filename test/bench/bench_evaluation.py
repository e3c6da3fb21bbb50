#!/usr/bin/env python3
"""bench_evaluation.py BUILD [PART [RUNS]]: the experiments of the papers that adaptrace follows, repeated;
doc/evaluation.md has the results. PART: one of

    scaling  full and scaled traces (Freitag, Caubet and Labarta 2002, figure 2): bytes of calls, CPU
             time with --scale-trace against --mpi, and whether both tell the same: calls and bytes of
             each MPI function, its time, and the share of samples in MPI
    replay   samples and calls written again, against OTF2 (Wagner and Knüpfer 2017, figure 5, left)
    online   slowdown, bytes and calls a second (Wagner, Hilbrich and Brunst 2014, figure 3) on 2, 4
             and 8 ranks: time of the steps, and CPU time of everything, for ranks share CPUs

Kernels of test/mpi/iterate.c, and LAMMPS, HPCC and GROMACS where they are installed. Ratios are medians of
RUNS pairs (3) whose sides take turns."""
import json, os, re, resource, shutil, statistics, subprocess, sys, tempfile
import workloads

build = os.path.abspath(sys.argv[1])
part = sys.argv[2] if len(sys.argv) > 2 else ''
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
adaptrace = build + '/adaptrace'
mpirun = 'mpirun.openmpi'
if not shutil.which(mpirun):
    print('bench_evaluation: install openmpi-bin for this')
    sys.exit(77)
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', OMP_NUM_THREADS='1')
folder = tempfile.TemporaryDirectory()
KERNELS = {'wavefront': 2000, 'cg': 2000, 'adi': 2000, 'multigrid': 1000, 'solver': 1000, 'farm': 2000,
           'noise': 2000, 'change': 1000, 'slow': 5000, 'polls': 1000}
LAMMPS = {'rigid': 20000, 'colloid': 20000, 'melt': 2500}


class Program:
    """A command, its working directory, and the option by which its calls are recorded."""
    def __init__(self, name, command, option='--mpi'):
        self.name, self.command, self.option = name, command, option
        self.where = os.path.join(folder.name, name.split()[0])
        os.makedirs(self.where, exist_ok=True)

    def record(self, *options):
        return [adaptrace, 'record', '-q', self.option, *options, '-o', 'job.atr', '--', *self.command]

    def run(self, command):
        """The time of the steps, if it is a kernel, and the CPU time of a command."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run(command, cwd=self.where, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        steps = [json.loads(line)['ns'] for line in said.splitlines() if line.startswith(b'{"kind"')]
        return max(steps, default=0) / 1e9, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def told(self, *command):
        return json.loads(subprocess.check_output([adaptrace, *command, '--json', 'job.atr'],
                                                  cwd=self.where, stderr=subprocess.DEVNULL))


def ranks(n):
    return [mpirun, '--oversubscribe', '-n', str(n)]


def kernels(n, times=1):
    for name, steps in KERNELS.items():
        yield Program(name, [*ranks(n), build + '/targets/iterate', name, str(times * steps)])


def lammps():
    for name, steps in LAMMPS.items():
        if not workloads.has_lammps_example(name):
            continue
        program = Program(f'LAMMPS-{name}', [])
        program.command = [*ranks(2), *workloads.lammps_example(name, steps, program.where)]
        yield program


def hpcc():
    if shutil.which('hpcc') and os.path.exists('/usr/share/doc/hpcc/examples/_hpccinf.txt'):
        program = Program('HPCC', [*ranks(2), 'hpcc'])
        text = open('/usr/share/doc/hpcc/examples/_hpccinf.txt').read()
        text = re.sub(r'(?m)^\S+(\s+Ps)$', r'1\1', text)
        open(program.where + '/hpccinf.txt', 'w').write(re.sub(r'(?m)^\S+(\s+Qs)$', r'2\1', text))
        yield program


def gromacs():
    """Its MPI is its own threads: what can be seen is OpenMP."""
    if shutil.which('gmx'):
        program = Program('GROMACS', [], '--openmp')
        here = os.getcwd()
        os.chdir(program.where)
        command = workloads.gromacs(2000)
        os.chdir(here)
        command[command.index('-ntomp') + 1] = '2'
        program.command = ['env', 'OMP_NUM_THREADS=2', *command]
        yield program


# --- figure 2 of trace scaling --------------------------------------------------------------------

class Contents:
    """Calls and functions of the trace that was recorded last."""
    def __init__(self, program):
        self.bytes, self.calls = program.told('info')['calls']['bytes'], {}
        if program.option == '--mpi':
            self.calls = {c['call']: c for c in program.told('report', '--mpi')['calls']}
        report = program.told('report')
        total = report['total_weight'] or 1
        self.functions = {(f['symbol'], f['module']): (f['self'] / total, f['error'] / total)
                          for f in report['functions']}

    def counts(self):
        return {name: [c[key] for key in ('calls', 'bytes', 'bytes_in')] for name, c in self.calls.items()}

    def share_of_time(self, name):
        all_calls = sum(c['time_ns'] for c in self.calls.values()) or 1
        return self.calls[name]['time_ns'] / all_calls if name in self.calls else 0


def largest_difference(one, other):
    """Of the shares that MPI's functions have of the time in MPI."""
    return max((abs(one.share_of_time(name) - other.share_of_time(name))
                for name in {*one.calls, *other.calls}), default=0)


def differing_functions(one, other):
    """Functions of 2 % or more whose error bars do not meet; and how many have as much."""
    large = [f for f, (share, _) in one.functions.items() if share >= 0.02]
    nothing = 0, 0
    differ = [f for f in large if abs(one.functions[f][0] - other.functions.get(f, nothing)[0]) >
              one.functions[f][1] + other.functions.get(f, nothing)[1]]
    return len(differ), len(large)


def recorded(program, *options):
    _, cpu = program.run(program.record('-m', '1G', '--max-overhead', '0', *options))
    return cpu, Contents(program)


def scaling():
    print('Full and scaled traces: bytes of calls; CPU time of recording with --scale-trace against without;\n'
          'MPI functions with other counts or bytes; largest difference of a share of the time in MPI, and\n'
          'sampled functions whose error bars do not meet: scaled against full (and full against full)')
    print(f'  {"":16s} {"full, B":>10s} {"scaled, B":>10s} {"%":>6s} {"time":>5s} {"counts":>6s} '
          f'{"time in MPI":>14s} {"functions":>16s}')
    for programs in kernels(2), lammps(), hpcc(), gromacs():
        for program in programs:
            ratios = []
            for _ in range(runs):
                full_time, full = recorded(program)
                scaled_time, scaled = recorded(program, '--scale-trace')
                ratios.append(scaled_time / full_time)
            _, again = recorded(program)
            counts, exact = full.counts(), scaled.counts()
            other = sum(counts.get(name) != exact.get(name) for name in {*counts, *exact})
            (differ, of), (noise, _) = differing_functions(full, scaled), differing_functions(full, again)
            print(f'  {program.name:16s} {full.bytes:10d} {scaled.bytes:10d} '
                  f'{100 * scaled.bytes / max(full.bytes, 1):6.1f} {statistics.median(ratios):5.2f} {other:6d} '
                  f'{100 * largest_difference(full, scaled):6.1f} ({100 * largest_difference(full, again):4.1f}) '
                  f'{differ:4d} of {of:2d} ({noise:2d})', flush=True)


# --- figure 5, left, of adaptive sampling ---------------------------------------------------------

def replay():
    for programs in lammps(), gromacs():
        for program in programs:
            program.run(program.record('-m', '1G', '--max-overhead', '0', '-F', '10000'))
            print(program.name, flush=True)
            subprocess.run([build + '/bench/bench_replay_otf2', 'job.atr'], cwd=program.where, check=True)


# --- figure 3 of online analysis ------------------------------------------------------------------

def online():
    print('Slowdown by record --mpi, and what a rank gives a second')
    print(f'  {"":12s} {"ranks":>5s} {"steps":>6s} {"CPU":>6s} {"calls/s":>10s} {"bytes/s":>10s}')
    for n in 2, 4, 8:
        for program in kernels(n, 2):
            steps, cpu = [], []
            for _ in range(runs):
                alone = program.run(program.command)
                recorded = program.run(program.record('-m', '100M'))
                steps.append(recorded[0] / alone[0])
                cpu.append(recorded[1] / alone[1])
            info = program.told('info')
            calls = sum(c['calls'] for c in program.told('report', '--mpi')['calls'])
            seconds = info['wall_ns'] / 1e9 * n
            print(f'  {program.name:12s} {n:5d} {statistics.median(steps):6.2f} {statistics.median(cpu):6.2f} '
                  f'{calls / seconds:10.0f} {info["calls"]["bytes"] / seconds:10.0f}', flush=True)


for name, run in ('scaling', scaling), ('replay', replay), ('online', online):
    if part in ('', name):
        run()
