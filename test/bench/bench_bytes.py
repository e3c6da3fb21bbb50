#!/usr/bin/env python3
"""bench_bytes.py BUILD [SECONDS]: bytes per stored sample on real programs at 10 kHz. Goals: records
alone <= 4 (LAMMPS, GROMACS, python3) and <= 6 (anything); with contexts <= 5 (LAMMPS, GROMACS) over
60 s. Programs that are not installed are left out: lammps, lammps-examples, openmpi-bin, gromacs,
gcc, python3, x264. Of those on several CPUs a sample also says which thread took its turn; of
commands that end at once, who they were."""
import json, os, shutil, subprocess, sys, tempfile

build = os.path.abspath(sys.argv[1])
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
adaptrace = build + '/adaptrace'
env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
           OMP_NUM_THREADS='1')
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)


def measure(name, command, record_goal=6, goal=None):
    command = ['timeout', '-s', 'INT', str(seconds)] + command
    subprocess.run([adaptrace, 'record', '-q', '-e', 'cpu-clock', '--max-overhead', '0', '-o',
                    name, '--'] + command, **quiet)
    info = json.loads(subprocess.check_output([adaptrace, 'info', '--json', name]))
    stored, memory = info['samples']['stored'], info['memory']
    print(f'{name:10s} {stored:8d} samples in {seconds:g} s, {memory["records"] / stored:5.2f} bytes a '
          f'record (goal <= {record_goal}), {(memory["records"] + memory["contexts"]) / stored:6.2f} with '
          f'contexts{f" (goal <= {goal} over 60 s)" if goal else ""}; truncated stacks {100 * info["samples"]["truncated_stacks"] / stored:.2f} %')


def lammps(name='LAMMPS', ranks=(), record_goal=4, goal=5):
    melt = '/usr/share/lammps/examples/melt/in.melt'
    if not shutil.which('lmp') or not os.path.exists(melt):
        return
    text = open(melt).read().replace('run\t\t250', 'run\t\t100000000')
    open('in.melt', 'w').write(text)
    measure(name, [*ranks, 'lmp', '-in', 'in.melt', '-log', 'none', '-screen', 'none'],
            record_goal, goal)


def gromacs():
    if not shutil.which('gmx'):
        return
    open('topol.top', 'w').write('#include "oplsaa.ff/forcefield.itp"\n'
                                 '#include "oplsaa.ff/spce.itp"\n[ system ]\nwater\n[ molecules ]\n')
    common = 'cutoff-scheme=Verlet\ncoulombtype=PME\nrcoulomb=0.9\nrvdw=0.9\n'
    open('em.mdp', 'w').write('integrator=steep\nnsteps=100\nemtol=500\nconstraints=none\n' + common)
    open('md.mdp', 'w').write('integrator=md\ndt=0.002\nnsteps=10000000\ntcoupl=v-rescale\n'
                              'tc-grps=System\ntau-t=0.5\nref-t=300\nconstraints=h-bonds\n'
                              'gen-vel=yes\ngen-temp=300\n' + common)
    for step in ('solvate -cs spc216.gro -box 4 4 4 -o box.gro -p topol.top',
                 'grompp -f em.mdp -c box.gro -p topol.top -o em.tpr -maxwarn 2',
                 'mdrun -s em.tpr -deffnm em -ntmpi 1 -ntomp 1 -pin off',
                 'grompp -f md.mdp -c em.gro -p topol.top -o md.tpr -maxwarn 2'):
        subprocess.run(['gmx', '-quiet'] + step.split(), **quiet)
    measure('GROMACS', 'gmx -quiet mdrun -s md.tpr -deffnm md -ntmpi 1 -ntomp 1 -pin off'.split(), 4, 5)


def compiler():
    if not shutil.which('g++'):
        return
    open('t.cc', 'w').write('#include <bits/stdc++.h>\n#include <regex>\n'
                            'int main() { return std::regex_match("a", std::regex("a+")); }\n')
    measure('cc1plus', ['sh', '-c', 'while :; do g++ -O2 -c t.cc -o t.o; done'])
    open('Makefile', 'w').write('all: $(addsuffix .o,$(shell seq 1000))\n'
                                '%.o:\n\t@g++ -O2 -c -o $@ t.cc\n')
    measure('make -j', ['make', '-j2'])


def encoder():
    if not shutil.which('x264'):
        return
    lines = [bytes((x * x + y * y) // 64 % 256 for x in range(640)) for y in range(720)]
    with open('in.y4m', 'wb') as video:
        video.write(b'YUV4MPEG2 W640 H360 F25:1\n')
        for frame in range(360):
            video.write(b'FRAME\n' + b''.join(lines[frame:frame + 360]) + bytes(640 * 180))
    measure('x264', ['sh', '-c', 'while :; do x264 --threads 6 -o /dev/null in.y4m; done'])


def shell():
    measure('shell', ['sh', '-c', 'while :; do expr 1 + 2 | sed s/3/4/ | cut -c1; done'])


lammps()
if shutil.which('mpirun'):
    lammps('4 ranks', ['mpirun', '--oversubscribe', '-n', '4'], 6, None)
gromacs()
measure('python3', ['python3', '-c', 'while True: sum(hash(str(i)) & 3 for i in range(1000000))'], 4)
compiler()
encoder()
shell()
