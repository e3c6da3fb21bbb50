#!/usr/bin/env python3
"""bench_memory.py BUILD: private memory of the recorder beyond its budget, at its highest while the
target runs, with events of a cgroup and with inherited ones. Goal: <= 16 MB, whatever the target
does."""
import os, subprocess, sys, tempfile, time

build, budget = os.path.abspath(sys.argv[1]), 1 << 20
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
targets = {
    '10,000 threads at once': ['threads', '10000', '0.01'],
    '100,000 threads in turn': ['chain', 'threads', '100000', '0'],
    '100,000 processes': ['storm', '100000', '2', 'nothing', '0'],
    '10 million call paths': ['contexts', '10000000', '5'],
}


def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children') as file:
        return file.read().split()


def private(pid):
    """Bytes that nobody else has, the buffer's among them. The kernel counts no rings."""
    with open(f'/proc/{pid}/smaps_rollup') as file:
        return sum(1024 * int(line.split()[1]) for line in file if line.startswith('Private_'))


def highest(command):
    recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    most = 0
    try:
        while not children(recorder.pid) and recorder.poll() is None:
            time.sleep(0.001)
        while children(recorder.pid):
            most = max(most, private(recorder.pid))
            time.sleep(0.02)
    except (FileNotFoundError, ProcessLookupError):
        pass
    if recorder.wait():
        sys.exit(f'bench_memory: {command} ended with {recorder.returncode}')
    return most


for name, (target, *arguments) in targets.items():
    for way in [], ['--inherit']:
        most = highest([build + '/adaptrace', 'record', '-q', '-m', str(budget), '-o', 'a.atr', '-F', '10000',
                        '--max-overhead', '0', *way, build + '/targets/' + target, *arguments])
        print(f'{name:24s} {way[0] if way else "":10s} {(most - budget) / 1e6:6.2f} MB beyond a budget '
              f'of {budget / 1e6:.2f} MB; goal <= 16', flush=True)
