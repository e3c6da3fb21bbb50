#!/usr/bin/env python3
"""bench_evaluation.py BUILD [PART [RUNS]]: the experiments of the papers that adaptrace follows, repeated;
doc/evaluation.md has the results. PART: one of

    scaling  full and scaled traces (Freitag, Caubet and Labarta 2002, figure 2): bytes of calls, CPU
             time with --scale-trace against --mpi, and whether both tell the same: calls and bytes of
             each MPI function, its time, and the share of samples in MPI
    replay   samples and calls written again, against OTF2 (Wagner and Knüpfer 2017, figure 5, left)
    online   slowdown, bytes and calls a second (Wagner, Hilbrich and Brunst 2014, figure 3) on 2, 4
             and 8 ranks: wall time and CPU time, for ranks share CPUs

Kernels of test/mpi/iterate.c, and LAMMPS, HPCC and GROMACS where they are installed. Ratios are medians of
RUNS pairs (3) whose sides take turns."""
import json, os, re, resource, shutil, statistics, subprocess, sys, tempfile, time
import workloads

build = os.path.abspath(sys.argv[1])
part = sys.argv[2] if len(sys.argv) > 2 else ''
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
adaptrace, examples = build + '/adaptrace', '/usr/share/lammps/examples/'
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
        """Wall time and CPU time of a command."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(command, cwd=self.where, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def told(self, *command):
        return json.loads(subprocess.check_output([adaptrace, *command, '--json', 'job.atr'],
                                                  cwd=self.where, stderr=subprocess.DEVNULL))


def ranks(n):
    return [mpirun, '--oversubscribe', '-n', str(n)]


def kernels(n, names=KERNELS):
    for name in names:
        yield Program(f'{name}', [*ranks(n), build + '/targets/iterate', name, str(KERNELS[name])])


def lammps():
    for name, steps in LAMMPS.items():
        if not (shutil.which('lmp') and os.path.isdir(examples + name)):
            continue
        program = Program(f'LAMMPS-{name}', [*ranks(2), 'lmp', '-in', 'in.short', '-log', 'none'])
        shutil.copytree(examples + name, program.where, dirs_exist_ok=True)
        script = re.sub(r'(?m)^run\b.*', f'run {steps}', open(f'{program.where}/in.{name}').read())
        open(f'{program.where}/in.short', 'w').write(re.sub(r'(?m)^thermo\s.*', f'thermo {steps}', script))
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
        program.command = ['env', 'OMP_NUM_THREADS=2', *command]
        yield program


# --- figure 2 of trace scaling --------------------------------------------------------------------

def contents(program):
    info, calls = program.told('info'), {}
    if program.option == '--mpi':
        calls = {c['call']: c for c in program.told('report', '--mpi')['calls']}
    return info['calls']['bytes'], calls


def share_of(calls, name):
    return calls[name]['time_ns'] / sum(c['time_ns'] for c in calls.values())


def differences(full, scaled):
    """Functions whose calls or bytes differ, but for those that wait for others by polling; and by how
    much the shares of time differ most."""
    counts = [name for name in full if name not in scaled or
              any(full[name][key] != scaled[name][key] for key in ('calls', 'bytes', 'bytes_in'))]
    times = max((abs(share_of(full, name) - share_of(scaled, name)) for name in full if name in scaled),
                default=0)
    return counts, times


def scaling():
    print('Full and scaled traces: bytes of calls; CPU time of --scale-trace against all calls;\n'
          'functions whose calls or bytes are not the same; largest difference of shares of the time in MPI')
    print(f'  {"":18s} {"full, B":>11s} {"scaled, B":>11s} {"%":>6s} {"time":>6s} {"differ":>7s} {"share":>7s}')
    for programs in kernels(2), lammps(), hpcc(), gromacs():
        for program in programs:
            ratios = []
            for _ in range(runs):
                _, full_time = program.run(program.record('-m', '1G', '--max-overhead', '0'))
                full, full_calls = contents(program)
                _, scaled_time = program.run(program.record('-m', '1G', '--max-overhead', '0', '--scale-trace'))
                scaled, scaled_calls = contents(program)
                ratios.append(scaled_time / full_time)
            counts, times = differences(full_calls, scaled_calls)
            print(f'  {program.name:18s} {full:11d} {scaled:11d} {100 * scaled / max(full, 1):6.1f} '
                  f'{statistics.median(ratios):6.2f} {len(counts):7d} {100 * times:6.1f}%', flush=True)


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
    print(f'  {"":12s} {"ranks":>5s} {"wall":>6s} {"CPU":>6s} {"calls/s":>10s} {"bytes/s":>10s}')
    for n in 2, 4, 8:
        for program in kernels(n):
            wall, cpu = [], []
            for _ in range(runs):
                alone = program.run(program.command)
                recorded = program.run(program.record('-m', '100M'))
                wall.append(recorded[0] / alone[0])
                cpu.append(recorded[1] / alone[1])
            info = program.told('info')
            calls = sum(c['calls'] for c in program.told('report', '--mpi')['calls'])
            seconds = info['duration_ns'] / 1e9 * n
            print(f'  {program.name:12s} {n:5d} {statistics.median(wall):6.2f} {statistics.median(cpu):6.2f} '
                  f'{calls / seconds:10.0f} {info["calls"]["bytes"] / seconds:10.0f}', flush=True)


for name, run in ('scaling', scaling), ('replay', replay), ('online', online):
    if part in ('', name):
        run()
