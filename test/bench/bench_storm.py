#!/usr/bin/env python3
"""bench_storm.py BUILD: what sampling adds to the birth and death of a process. Processes that do
nothing, one after the other; their CPU time and their parent's, each, alone, under adaptrace record
with cgroup events in step and apart and with inherited events, and under perf record, in turn, with
the same event, period and call graph. Goal: both ways of adaptrace <= 1.0 of perf, and the recorder's
own CPU time, too; in step <= 1.0 of apart."""
import os, resource, shutil, statistics, subprocess, sys, tempfile

build, count, turns = os.path.abspath(sys.argv[1]), 1500, 11
event = ['-e', 'cpu-clock', '-c', '970793']

if not shutil.which('perf'):
    print('bench_storm: no perf here')
    sys.exit(77)
folder = tempfile.TemporaryDirectory()


def seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cost(command):
    """us a process for the target, ms for all others."""
    before = seconds()
    # perf 6.1 crashes now and then when its target has ended.
    target = [build + '/targets/storm', str(count), '1', 'nothing', '0']
    out = subprocess.run(command + target, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         cwd=folder.name, text=True).stdout
    own = float(dict(line.split() for line in out.splitlines())['used'])
    return 1e6 * own / count, 1e3 * (seconds() - before - own)


ours = [build + '/adaptrace', 'record', '-q', '--max-overhead', '0', '-o', 'a.atr', *event]
ways = {
    'alone': [],
    'adaptrace': ours,
    'adaptrace --in-step=no': [*ours, '--in-step=no'],
    'adaptrace --inherit': [*ours, '--inherit'],
    'perf': ['perf', 'record', '-q', '-o', 'p.data', '--call-graph', 'dwarf,16384', *event],
}
rows = [{way: cost(command) for way, command in ways.items()} for _ in range(turns)]


def median(of):
    return statistics.median(of(row) for row in rows)


print(f'{count} processes: {median(lambda row: row["alone"][0]):.0f} us each; '
      + '; '.join(f'{way} {median(lambda row: row[way][0]):.0f} us, recorder '
                  f'{median(lambda row: row[way][1]):.0f} ms' for way in list(ways)[1:]))
in_step, apart = list(ways)[1:3]
print(f'{"in step":20s} against apart: target {median(lambda row: row[in_step][0] / row[apart][0]):.3f}, '
      f'recorder {median(lambda row: row[in_step][1] / row[apart][1]):.2f}; goal <= 1.0')
for way in 'adaptrace', 'adaptrace --inherit':
    print(f'{way:20s} against perf: target {median(lambda row: row[way][0] / row["perf"][0]):.3f}, '
          f'recorder {median(lambda row: row[way][1] / row["perf"][1]):.2f}; goal <= 1.0')
