"""Real programs to measure on, those of them that are installed: a name, a command, and the files
that it needs in its working directory. Each runs for a few seconds on one CPU."""
import glob, os, re, shutil, subprocess

EXAMPLES = '/usr/share/lammps/examples/'
MELT = EXAMPLES + 'melt/in.melt'
TOPOLOGY = '''#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
'''
RUN = '''integrator=md
dt=0.001
nsteps=100000
cutoff-scheme=Verlet
coulombtype=PME
rcoulomb=0.9
rvdw=0.9
gen-vel=yes
gen-temp=10
'''
CODE = '''#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
int main(int argc, char **argv)
{
	std::map<std::string, std::vector<int>> found;
	std::regex expression("a+b*(c|d)");
	for (int i = 0; i < argc; i++)
		if (std::regex_match(argv[i], expression))
			found[argv[i]].push_back(i);
	std::function<int(int)> size = [&](int n) { return n + static_cast<int>(found.size()); };
	std::vector<int> numbers(100);
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
	return size(numbers[0]);
}
'''
SCRIPT = '''
import json, re
class Node:
    def __init__(self, n): self.n = n
    def __lt__(self, other): return self.n < other.n
def deep(n): return deep(n - 1) + 1 if n else len(json.dumps(list(range(20))))
for i in range(3000):
    sorted(Node(n * 7919 % 1009) for n in range(200))
    deep(60)
    re.sub("(a|b)+", lambda m: m.group().upper(), "abcaab" * 9)
'''
PAGES = '''
let seen = {};
function deep(n) { return n ? deep(n - 1) + 1 : JSON.stringify([n, "x".repeat(9)]).length; }
for (let i = 0; i < 1500000; i++) {
	const key = "k" + (i % 1009);
	seen[key] = (seen[key] || 0) + deep(i % 17);
	if (i % 1000 === 0)
		Object.keys(seen).sort((a, b) => seen[a] - seen[b]);
}
'''


def quietly(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def put(name, text):
    with open(name, 'w') as file:
        file.write(text)


def lammps(steps):
    with open(MELT) as file:
        text = file.read().replace('0 10 0 10 0 10', '0 20 0 20 0 20')
    put('in.melt', '\n'.join(f'run {steps}' if line.startswith('run') else line
                             for line in text.splitlines()) + '\n')
    return ['lmp', '-in', 'in.melt', '-log', 'none', '-screen', 'none']


def has_lammps_example(name):
    return shutil.which('lmp') and os.path.isdir(EXAMPLES + name)


def lammps_example(name, steps, where):
    """Copies an example of LAMMPS to a folder, with so many steps and no output between; a command to run there."""
    shutil.copytree(EXAMPLES + name, where, dirs_exist_ok=True)
    with open(f'{where}/in.{name}') as file:
        script = re.sub(r'(?m)^run\b.*', f'run {steps}', file.read())
    with open(where + '/in.short', 'w') as file:
        file.write(re.sub(r'(?m)^thermo\s.*', f'thermo {steps}', script))
    return ['lmp', '-in', 'in.short', '-log', 'none']


def gromacs(steps):
    put('topol.top', TOPOLOGY)
    put('md.mdp', RUN)
    quietly('gmx', '-quiet', 'solvate', '-cs', 'spc216.gro', '-box', '4', '4', '4', '-o', 'box.gro',
            '-p', 'topol.top')
    quietly('gmx', '-quiet', 'grompp', '-f', 'md.mdp', '-c', 'box.gro', '-p', 'topol.top', '-o',
            'md.tpr', '-maxwarn', '2')
    return ['gmx', '-quiet', 'mdrun', '-s', 'md.tpr', '-deffnm', 'md', '-ntmpi', '1', '-ntomp', '1',
            '-pin', 'off', '-nsteps', str(steps)]


def cc1plus():
    compiler = sorted(glob.glob('/usr/lib/gcc/*-linux-gnu/*/cc1plus'))
    if not compiler:
        return None
    put('code.cc', CODE)
    quietly('g++', '-E', '-O2', 'code.cc', '-o', 'code.ii')
    return [compiler[-1], '-quiet', '-O2', 'code.ii', '-o', 'code.s']


def python3():
    put('script.py', SCRIPT)
    return ['/usr/bin/python3', 'script.py']


def node():
    put('pages.js', PAGES)
    return ['node', 'pages.js']


def xz():
    shutil.copy('/usr/bin/python3', 'program')
    return ['xz', '-3kfQ', 'program']


ALL = {'lammps': lambda: lammps(200), 'gromacs': lambda: gromacs(600), 'cc1plus': cc1plus,
       'python3': python3, 'node': node, 'xz': xz}


def installed():
    """(name, command) of each program that is here; run them in this working directory."""
    os.environ.update(OMP_NUM_THREADS='1', OMPI_ALLOW_RUN_AS_ROOT='1',
                      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
    for name, prepare in ALL.items():
        try:
            command = prepare()
        except (OSError, subprocess.CalledProcessError):
            command = None
        if command and shutil.which(command[0]):
            yield name, command
        else:
            print(f'{name}: not here')
