#!/usr/bin/env python3
"""bench_perf.py BUILD: adaptrace record against perf record, with the same event, period and call
graph, in turn on the same fixed work: what the target's own CPU time grows to, and what CPU time
the recorder uses itself. Goal: both ratios <= 1.0."""
import os, resource, shutil, statistics, subprocess, sys, tempfile

build, rounds, turns = sys.argv[1], '1500', 7
period = 970793  # ns

if not shutil.which('perf'):
    print('bench_perf: no perf here')
    sys.exit(77)
folder = tempfile.TemporaryDirectory()
cost = os.path.join(folder.name, 'cost')
target = [os.path.abspath(build + '/targets/fixed_work'), cost, rounds]


def run(command):
    """(CPU seconds of the target, CPU seconds of everything else)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command + target, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   cwd=folder.name, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    own = sum(map(float, open(cost).read().split()))
    return own, total - own


def report(mode, graph, perf_graph):
    ours = [os.path.abspath(build + '/adaptrace'), 'record', '-q', '--max-overhead', '0', '-e',
            'cpu-clock', '-c', str(period), '-g', graph, '-o', 'a.atr']
    perf = ['perf', 'record', '-q', '-e', 'cpu-clock', '-c', str(period), '-o', 'p.data'] + perf_graph
    rows = []
    for _ in range(turns):
        plain, _ = run([])
        (a, a_own), (p, p_own) = run(ours), run(perf)
        rows.append((a / plain - 1, p / plain - 1, a_own, p_own, a / p, a_own / p_own))
    m = [statistics.median(column) for column in zip(*rows)]
    print(f'{mode:28s} target +{100 * m[0]:.1f} % (perf +{100 * m[1]:.1f} %), ratio {m[4]:.3f}; '
          f'recorder {1000 * m[2]:.0f} ms (perf {1000 * m[3]:.0f} ms), ratio {m[5]:.2f}; '
          f'goal <= 1.0 each')


report('1 kHz, 16 KiB of stack', 'dwarf,16384', ['--call-graph', 'dwarf,16384'])
report('1 kHz, frame pointers', 'fp', ['--call-graph', 'fp'])
report('1 kHz, no stacks', 'none', [])
