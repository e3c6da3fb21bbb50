#!/usr/bin/env python3
"""bench_unwind_programs.py BUILD: bench_unwind on real programs. Goals: libunwind takes >= 20 times
as long, <= 25 ns a frame warm (rules known, stacks in another CPU's cache), no stall over 1 ms."""
import os, subprocess, sys, tempfile
import workloads

bench = os.path.abspath(sys.argv[1]) + '/bench/bench_unwind'
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
for name, command in workloads.installed():
    print(f'{name}:', flush=True)
    status = subprocess.run([bench, *command], stderr=subprocess.DEVNULL).returncode
    if status:
        sys.exit(status)
