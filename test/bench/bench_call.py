#!/usr/bin/env python3
"""bench_call.py BUILD: what a recorded call costs the program: of a library that does nothing, alone,
recorded, recorded when the memory is full and few records are wanted, thinned so that hardly any call
is timed, with --scale-trace, preloaded without a recorder, and with whole iterations to be dropped; in turn,
least of several. `steps` are of 12 calls; in other loops each call is an iteration. In the least time of `random`,
where nothing repeats, hardly any call is searched: see bench_period. Goals: <= 60 ns beyond two readings of the
clock; thinned <= 10 ns beyond the call alone; steps scaled <= 3 ns and random <= 10 ns beyond recorded; a macro of
adaptrace.h without a recorder <= 5 ns."""
import os, subprocess, sys, tempfile

SCALED_GOALS = {'steps': '; goal <= 3', 'random': '; goal <= 10'}
build, turns = os.path.abspath(sys.argv[1]), 5
here = os.path.dirname(os.path.abspath(__file__))
folder = tempfile.TemporaryDirectory()
work = folder.name
clock = r'''
#include "preload/call_ring.h"
#include <stdio.h>
int main(void)
{
	double least = 1e18;
	for (int i = 0; i < 200; i++) {
		uint64_t start = ring_ticks(RING_CLOCK_MONOTONIC), sum = 0;
		for (int j = 0; j < 10000; j++)
			sum += ring_counter();
		double ns = (double)(ring_ticks(RING_CLOCK_MONOTONIC) - start) / 10000;
		least = sum && ns < least ? ns : least;
	}
	printf("%.2f\n", least);
}
'''


def run(command, **more):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, cwd=work, **more).stdout


cc = ['cc', '-std=gnu11', '-O2', '-D_GNU_SOURCE', f'-I{here}/../../include', f'-I{here}/../../src']
run([*cc, '-shared', '-fPIC', '-fno-builtin', '-o', 'libmpi_fake.so', f'{here}/fake_mpi.c'])
run([*cc, '-o', 'loop', f'{here}/call_loop.c', '-L.', '-lmpi_fake', f'-Wl,-rpath,{work}'])
open(work + '/clock.c', 'w').write(clock)
run([*cc, '-o', 'clock', 'clock.c'])
record = [build + '/adaptrace', 'record', '-q', '-F', '10', '-g', 'none', '--mpi', '-o', 'x.atr']
ways = {
    'alone': ['./loop'],
    'recorded': [*record, '--max-overhead', '0', '-m', '256M', './loop'],
    'used up': [*record, '--max-overhead', '0', '-m', '64K', './loop'],
    'thinned': [*record, '--max-overhead', '0.1', '-m', '256M', './loop'],
    'scaled': [*record, '--max-overhead', '0', '-m', '256M', '--scale-trace', './loop'],
    'no recorder': ['env', f'LD_PRELOAD={build}/libadaptrace-mpi.so', './loop'],
    'iterations': [*record, '--max-overhead', '0', '-m', '256M', '--events-policy', 'iterations', './loop'],
}
least = {}
for _ in range(turns):
    for way, command in ways.items():
        for line in run(command).splitlines():
            what, ns = line.split()
            key = way, what
            least[key] = min(least.get(key, 1e18), float(ns))
ticks = min(float(run(['./clock'])) for _ in range(turns))
print(f'a call of a library that does nothing, ns (two readings of the clock: {2 * ticks:.1f})')
print(f'{"":24s}' + ''.join(f'{way:>14s}' for way in ways) + '   beyond the clock, thinned beyond alone')
for what in dict.fromkeys(what for _, what in least):
    row = [least[way, what] for way in ways]
    goal = '<= 5 alone' if what.startswith('ADAPTRACE') else '<= 60'
    readings = 1 if what.startswith('ADAPTRACE') else 2
    print(f'{what:24s}' + ''.join(f'{ns:14.1f}' for ns in row) +
          f'   {row[1] - row[0] - readings * ticks:.1f}; goal {goal}; {row[3] - row[0]:.1f}; goal <= 10; '
          f'scaled beyond recorded {row[4] - row[1]:+.1f}{SCALED_GOALS.get(what, "")}; iterations {row[6] - row[1]:+.1f}')
