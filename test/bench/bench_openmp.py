#!/usr/bin/env python3
"""bench_openmp.py BUILD: what a parallel region, a barrier and a critical section that do nothing cost a
program, alone, recorded with --openmp, preloaded without a recorder, and with a tool of OMPT that asks for
nothing, which shows what the library takes for any tool; in turn, least of several.
Goal: a region <= 100 ns more for each thread."""
import os, shutil, subprocess, sys, tempfile

build, turns = os.path.abspath(sys.argv[1]), 5
here = os.path.dirname(os.path.abspath(__file__))
folder = tempfile.TemporaryDirectory()
work = folder.name


def run(command, threads):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, cwd=work,
                          env={**os.environ, 'OMP_NUM_THREADS': str(threads)}).stdout


TOOL = '''
#include <stddef.h>
static int begin(void *lookup, int device, void *data) { return 1; }
static void end(void *data) {}
static struct { void *begin, *end, *data; } tool = {begin, end, NULL};
void *ompt_start_tool(unsigned version, const char *runtime) { return &tool; }
'''
subprocess.run(['cc', '-shared', '-fPIC', '-w', '-o', work + '/tool.so', '-xc', '-'], input=TOOL, text=True, check=True)
record = [build + '/adaptrace', 'record', '-q', '-F', '10', '-g', 'none', '-m', '64M', '--openmp',
          '-o', 'x.atr']
for compiler in 'gcc', 'clang':
    if not shutil.which(compiler) or subprocess.call(
            [compiler, '-O2', '-fopenmp', '-o', work + '/loop', here + '/openmp_loop.c'],
            stderr=subprocess.DEVNULL):
        print(f'{compiler}: no OpenMP')
        continue
    for threads in 1, 2:
        ways = {'alone': ['./loop'], 'recorded': [*record, './loop'],
                'no recorder': ['env', f'LD_PRELOAD={build}/libadaptrace-mpi.so', './loop'],
                'a tool': ['env', f'LD_PRELOAD={work}/tool.so', './loop']}
        least = {}
        for _ in range(turns):
            for way, command in ways.items():
                for line in run(command, threads).splitlines():
                    what, ns = line.split()
                    key = what, way
                    least[key] = min(float(ns), least.get(key, 1e18))
        for what in 'region', 'barrier', 'critical':
            alone = least[what, 'alone']
            print(f'{compiler}, {threads} thread{"s" * (threads > 1)}, {what:8}: {alone:7.1f} ns alone, '
                  f'recorded {(least[what, "recorded"] - alone) / threads:+6.1f} ns a thread, preloaded '
                  f'{(least[what, "no recorder"] - alone) / threads:+6.1f}, with an empty tool '
                  f'{(least[what, "a tool"] - alone) / threads:+6.1f}')
