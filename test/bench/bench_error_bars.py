#!/usr/bin/env python3
"""bench_error_bars.py BUILD: how often the stated 95 % error bars cover what a program's own clocks say.
Each of 50 short runs (RUNS) is of a program whose threads change from function to function all together,
and of one whose threads do so each for itself; recorded in step and not. The width is how wide the bars
are against what would cover 95 % if errors were normal. Goal: >= 93 % in step, of both programs. THREADS
is one for each CPU unless it is set, FREQUENCY 1000 Hz."""
import json, math, os, subprocess, sys, tempfile

build = os.path.abspath(sys.argv[1])
runs, frequency = int(os.environ.get('RUNS', 50)), os.environ.get('FREQUENCY', '1000')
threads = int(os.environ.get('THREADS', len(os.sched_getaffinity(0))))
folder = tempfile.TemporaryDirectory()
ours = build + '/adaptrace'


def recorded(way, in_step, seed):
    """What the program's own clocks say of each function, and what report says."""
    said = subprocess.run(
        [ours, 'record', '-q', '-e', 'cpu-clock', '-F', frequency, '--max-overhead', '0', '-o', 'a.atr',
         f'--in-step={in_step}', build + '/targets/together', str(threads), '0.4', way, str(seed)],
        stdout=subprocess.PIPE, cwd=folder.name, check=True, text=True).stdout
    report = subprocess.run([ours, 'report', '--no-inline', '--json', 'a.atr'], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, cwd=folder.name, check=True, text=True).stdout
    info = subprocess.run([ours, 'info', '--json', 'a.atr'], stdout=subprocess.PIPE, cwd=folder.name,
                          check=True, text=True).stdout
    return (dict(line.split() for line in said.splitlines()),
            {f['symbol']: f for f in json.loads(report)['functions']}, json.loads(info)['in_step'])


def compared(way, in_step):
    nr = held = stated = off = steered = 0
    for seed in range(runs):
        used, functions, step = recorded(way, in_step, seed)
        steered += step['grid_ns'] > 0 and step['unsteered_cpus'] == 0
        # Shares of what both know of: the kernel's part has rows of its own in the report alone.
        all_used = sum(map(float, used.values()))
        all_self = sum(functions[name]['self'] for name in used if name in functions)
        for name in used:
            function = functions.get(name, {'self': 0, 'error': 0})
            error = function['error'] / all_self
            distance = function['self'] / all_self - float(used[name]) / all_used
            nr += 1
            held += abs(distance) <= error
            stated += error ** 2
            off += distance ** 2
    print(f'{way:8s} in step {in_step:3s}: {held / nr:6.1%} covered, width '
          f'{math.sqrt(stated / off) / 1.96:4.2f}, ± {100 * math.sqrt(stated / nr):.2f} points; '
          f'{steered} of {runs} runs with all CPUs in step', flush=True)


print(f'{threads} threads, {frequency} Hz; goal: >= 93 % covered in step')
for in_step in 'yes', 'no':
    for way in 'together', 'apart':
        compared(way, in_step)
