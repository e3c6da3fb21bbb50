#!/usr/bin/env python3
"""bench_ordinals.py: why samples are numbered by count, and not by the tick of the common grid. Simulated:
one task works for a part of each cycle, and its event counts only while it runs, as events of a cgroup and
of threads do. After K reductions the weight of what remains is compared with that of all samples: 1 is
right, and the deviation is that of RUNS runs of 30 s at 1 kHz that begin at random times."""
import os, random, statistics

PERIOD, SECONDS, RUNS = 1 / 1030.3, 30, int(os.environ.get('RUNS', 40))


def level(n):
    return (n & -n).bit_length() - 1 if n else 64


def sample_times(work, cycle, jitter, seed):
    chance = random.Random(seed)
    begin, left, times = chance.random() * cycle, PERIOD * chance.random(), []
    while begin < SECONDS:
        end, now = begin + max(work * (1 + chance.gauss(0, jitter)), 1e-6), begin
        while now + left <= end:
            now += left
            times.append(now)
            left = PERIOD
        left -= end - now
        begin = max(end, begin + cycle * (1 + chance.gauss(0, jitter)))
    return times


def remaining(ordinals, count, reductions):
    return sum(2 ** reductions for n in ordinals if level(n) >= reductions) / count


print('works  of, ms  jitter  reductions   by count: mean, deviation   by tick')
for work, cycle, jitter in ((1, 10, 0), (1.3, 10, 0), (.5, 8, 0), (4, 16, 0), (1, 10, .05), (3, 7, .3), (9.9, 10, 0)):
    runs = [sample_times(work / 1e3, cycle / 1e3, jitter, seed) for seed in range(RUNS)]
    for reductions in (3, 6):
        starts = [random.Random(seed).randrange(1 << 20) for seed in range(RUNS)]
        count = [remaining(range(s, s + len(t)), len(t), reductions) for s, t in zip(starts, runs)]
        tick = [remaining((round(x / PERIOD) for x in t), len(t), reductions) for t in runs]
        print(f'{work:5} {cycle:7} {jitter:7} {reductions:11}       {statistics.mean(count):12.4f} '
              f'{statistics.pstdev(count):11.4f}  {statistics.mean(tick):8.4f} {statistics.pstdev(tick):7.4f}')
