#!/usr/bin/env python3
"""bench_put_programs.py BUILD: bench_replay on recordings of real programs at 10 kHz. Goals: putting a
sample whose context is known <= 15 ns, and not slower than appending its stack cut or extended to 20
frames; interning a known stack of 20 frames <= 60 ns."""
import os, subprocess, sys, tempfile
import workloads

build = os.path.abspath(sys.argv[1])
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
for name, command in workloads.installed():
    subprocess.run([f'{build}/adaptrace', 'record', '-q', '--max-overhead', '0', '-e', 'cpu-clock',
                    '-o', 'a.atr', *command], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    print(f' {name}', flush=True)
    subprocess.run([f'{build}/bench/bench_replay', 'a.atr'], check=True)
