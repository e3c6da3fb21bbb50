#!/usr/bin/env python3
"""bench_pingpong.py BUILD: what sampling adds to a context switch. Two processes on one CPU wake each
other; their CPU time a switch, alone, under adaptrace record with cgroup events in step and apart and
with inherited events, and under perf record, in turn, with the same event, period and call graph.
Goal: both ways of adaptrace <= 1.0 of perf, and in step <= 1.0 of apart. With inherited events adaptrace also gets what each task used, as perf does
with -s, by the same means of the kernel: that is shown beside it."""
import os, shutil, statistics, subprocess, sys, tempfile

build, count, turns = os.path.abspath(sys.argv[1]), 40000, 11
event = ['-e', 'cpu-clock', '-c', '970793']

if not shutil.which('perf'):
    print('bench_pingpong: no perf here')
    sys.exit(77)
folder = tempfile.TemporaryDirectory()
cpu = str(min(os.sched_getaffinity(0)))


def switch_us(command):
    """CPU time of both processes, a switch, in us."""
    target = ['taskset', '-c', cpu, build + '/targets/pingpong', str(count)]
    out = subprocess.run(command + target, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         cwd=folder.name, check=True, text=True).stdout
    said = dict(line.split() for line in out.splitlines())
    return 1e6 * (float(said['ping']) + float(said['pong'])) / (2 * count)


ours = [build + '/adaptrace', 'record', '-q', '--max-overhead', '0', '-o', 'a.atr', *event]
perf = ['perf', 'record', '-q', '-B', '-N', '-o', 'p.data', '--call-graph', 'dwarf,16384']
ways = {
    'alone': [],
    'adaptrace': ours,
    'adaptrace --in-step=no': [*ours, '--in-step=no'],
    'adaptrace --inherit': [*ours, '--inherit'],
    'perf': [*perf, *event],
    'perf -s': [*perf, '-s', *event],
}
rows = [{way: switch_us(command) for way, command in ways.items()} for _ in range(turns)]


def median(of):
    return statistics.median(of(row) for row in rows)


print(f'ping-pong, {count} rounds on one CPU: {median(lambda row: row["alone"]):.2f} us a switch; '
      + '; '.join(f'{way} {median(lambda row: row[way]):.2f} us' for way in list(ways)[1:]))
for ours, theirs in (('adaptrace', 'adaptrace --in-step=no'), ('adaptrace', 'perf'), ('adaptrace --inherit', 'perf'),
                     ('adaptrace --inherit', 'perf -s')):
    print(f'{ours:20s} against {theirs:8s} ratio {median(lambda row: row[ours] / row[theirs]):.3f}; '
          'goal <= 1.0')
