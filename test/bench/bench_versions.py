#!/usr/bin/env python3
"""bench_versions.py BUILD [OTHER]: how long a recording takes to end once its target has ended, and how long
commands take to read its trace; and the CPU time of each, with that of processes they leave. With OTHER, the build of another version, runs of both alternate, each
version reads its own trace, and medians of all and of the paired differences are printed. RUNS is the number
of runs, 7 unless it is set; ONLY names one target."""
import ctypes, os, resource, statistics, subprocess, sys, tempfile, time

builds = [os.path.abspath(build) for build in sys.argv[1:3]]
runs = int(os.environ.get('RUNS', 7))
targets_of_build = builds[0] + '/targets/'
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
FILES = 300


def make_many_files():
    """A program that is hot in many source files, whose debug information has no MD5 of them."""
    os.mkdir('many')
    names = [f'many/f{i}.c' for i in range(FILES)]
    for i, name in enumerate(names):
        with open(name, 'w') as file:
            file.write(f'volatile int x{i};\nvoid f{i}(void)\n{{\n\tfor (int i = 0; i < 200000; i++)\n'
                       f'\t\tx{i} += i;\n}}\n')
    with open('many/main.c', 'w') as file:
        file.write(''.join(f'void f{i}(void);\n' for i in range(FILES)) + 'int main(void)\n{\n'
                   + ''.join(f'\tf{i}();\n' for i in range(FILES)) + '}\n')
    subprocess.run(['cc', '-g', '-O1', '-o', 'many/many', 'many/main.c', *names], check=True)


def make_cxx():
    with open('x.cpp', 'w') as file:
        file.write('#include <regex>\n#include <iostream>\nint main() { std::cout << '
                   'std::regex_match("x", std::regex("x*")); }\n')


make_many_files()
make_cxx()
targets = {
    'true': 'true',
    'many source files': 'many/many',
    'python3': 'python3 -c "import ssl, json, sqlite3, decimal, ctypes, xml.etree.ElementTree, asyncio"',
    'gdb': f'gdb -batch -ex "info functions burn" {targets_of_build}burn',
    'cc1plus': 'g++ -O1 -c x.cpp',
    '200 processes': 'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done',
}
# The last process notes the time, and ends without delay.
note = 'python3 -Sc "import os, time; open(\'ended\', \'w\').write(str(time.monotonic_ns())); os._exit(0)"'
readers = {
    'report': ['report'],
    'report --tree': ['report', '--tree'],
    'report --symbols': ['report', '--symbols'],
    'info': ['info'],
    'convert --pprof': ['convert', '--pprof', '-o', '-'],
}


PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def cpu_ns():
    """Of all children so far. Those that a command left to whoever reaps them are waited for."""
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return int(1e9 * (usage.ru_utime + usage.ru_stime))


def run(arguments):
    cpu, start = cpu_ns(), time.monotonic_ns()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic_ns()
    return start, end, cpu_ns() - cpu


def record(build, command, trace):
    start, end, cpu = run([build + '/adaptrace', 'record', '-q', '-F', '2000', '-o', trace, 'sh', '-c',
                           f'{command} >/dev/null 2>&1; exec {note}'])
    with open('ended') as file:
        return {'whole': end - start, 'end of the recording': end - int(file.read()), 'whole, CPU': cpu}


def measure(name, command):
    figures = {}
    for i in range(-1, runs):
        for k in range(len(builds)):
            which = k if i % 2 else len(builds) - 1 - k
            trace = f'{which}.atr'
            times = record(builds[which], command, trace)
            for reader, arguments in readers.items():
                start, end, cpu = run([builds[which] + '/adaptrace', *arguments, trace])
                times[reader] = end - start
                times[reader + ', CPU'] = cpu
            os.unlink(trace)
            for what, ns in times.items():
                if i >= 0: # the first run warms caches
                    figures.setdefault(what, [[] for build in builds])[which].append(ns / 1e6)
    for what, of in figures.items():
        text = f'{name:20s} {what:23s} {statistics.median(of[0]):8.1f} ms'
        if len(builds) > 1:
            differences = [a - b for a, b in zip(*of)]
            text += (f', other {statistics.median(of[1]):8.1f} ms, difference '
                     f'{statistics.median(differences):+7.1f} ms')
        print(text, flush=True)


for name, command in targets.items():
    if os.environ.get('ONLY', name) == name:
        measure(name, command)
