#!/usr/bin/env python3
"""bench_ctl.py BUILD [OTHER]: what steering costs, and how fast it is.

From a packet to its answer while the recorder is idle; `event only` in a cgroup with 500 threads; how long a
program that was paused stands still after a SIGKILL of its recorder; bytes a sample of watch --json --samples
on LAMMPS. With OTHER, the build of a version without the control socket, pairs of recordings alone: CPU time of
the program and of the recorder, and wall time. PAIRS is their number, 20 unless it is set: about 5 minutes on a
machine that does nothing else. Goals: 0.2 ms; 0.5 ms; 100 ms; 32 bytes; a median of 0.5 % or an interval with 0,
the recorder within 2 %."""
import json, mmap, os, resource, shutil, signal, statistics, struct, subprocess, sys, tempfile, time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../cli'))
import control_socket

build = os.path.abspath(sys.argv[1])
other = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
pairs = int(os.environ.get('PAIRS', 20))
ROUNDS = '2500'  # two seconds
adaptrace = build + '/adaptrace'
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)

THREADS = r"""
#include <pthread.h>
#include <unistd.h>
static void *rest(void *arg)
{
	for (;;)
		usleep(100000);
	return arg;
}
int main(void)
{
	pthread_t thread;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < 500; i++)
		pthread_create(&thread, &attr, rest, NULL);
	rest(NULL);
}
"""
# Writes the time into a file all the time.
CLOCK = r"""
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
int main(void)
{
	volatile uint64_t *to = mmap(NULL, 8, PROT_WRITE, MAP_SHARED, open("clock", O_RDWR), 0);
	struct timespec now;

	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		*to = now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
	}
}
"""


def compile(name, text):
    with open(name + '.c', 'w') as file:
        file.write(text)
    subprocess.run(['cc', '-O1', '-o', name, name + '.c', '-pthread'], check=True)


class Recording:
    def __init__(self, *options, command):
        self.recorder = subprocess.Popen([adaptrace, 'record', '-q', '-o', 'bench.atr', *options, '--', *command],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (names := control_socket.names_of(self.recorder.pid)):
            if self.recorder.poll() is not None:
                sys.exit('bench_ctl: no recording with a socket here')
            time.sleep(0.05)
        time.sleep(0.5)
        self.socket = control_socket.connect(names.pop())

    def ask(self, **members):
        """Returns the seconds until the answer came."""
        packet = json.dumps({'v': 1, **members}).encode()
        start = time.perf_counter()
        self.socket.send(packet)
        answer = self.socket.recv(4096)
        seconds = time.perf_counter() - start
        if not json.loads(answer)['ok']:
            raise RuntimeError(answer)
        return seconds

    def ran(self):
        """Returns the seconds that its first thread has run, and has waited for a CPU."""
        pid = self.recorder.pid
        run, wait, _ = map(int, open(f'/proc/{pid}/task/{pid}/schedstat').read().split())
        return run / 1e9, wait / 1e9

    def end(self):
        self.socket.close()
        self.recorder.send_signal(signal.SIGTERM)
        self.recorder.wait()


def show(what, seconds, goal):
    seconds.sort()
    print(f'{what}: median {statistics.median(seconds) * 1e3:.3f} ms, 9 of 10 below '
          f'{seconds[len(seconds) * 9 // 10] * 1e3:.3f}, most {seconds[-1] * 1e3:.3f}' + (f' (goal {goal})' if goal else ''), flush=True)


def answers():
    recording = Recording(command=['sleep', '1000'])
    seconds = []
    for _ in range(500):
        seconds.append(recording.ask(ctl='overhead', percent=5))
        time.sleep(0.002)
    recording.end()
    show('from a packet to its answer', seconds, 'median 0.2 ms')


def switches():
    recording = Recording('-e', 'cpu-clock', command=['./threads'])
    seconds, ran = [], []
    try:
        for i in range(60):
            before = recording.ran()
            seconds.append(recording.ask(ctl='event', change='only', text=['page-faults', 'cpu-clock'][i % 2]))
            ran.append([now - then for now, then in zip(recording.ran(), before)])
            time.sleep(0.01)
    except RuntimeError as error:
        print('event only:', error)
    recording.end()
    if seconds:
        show('event only, first opening', seconds[:1], '0.5 ms')
        show('event only, 500 threads in a cgroup', seconds[1:], 'median 0.5 ms')
        show('  of that the recorder ran', [run for run, _ in ran[1:]], '')
        show('  and waited for a CPU', [wait for _, wait in ran[1:]], '')


def killed():
    seconds = []
    with open('clock', 'wb') as file:
        file.write(bytes(8))
    for i in range(10):
        recording = Recording(*['--inherit'] * (i % 2), command=['./clock_program'])
        with open('clock', 'rb') as file:
            clock = mmap.mmap(file.fileno(), 8, prot=mmap.PROT_READ)
        children = open(f'/proc/{recording.recorder.pid}/task/{recording.recorder.pid}/children').read().split()
        recording.ask(ctl='pause')
        time.sleep(0.2)
        stood = struct.unpack('Q', clock[:])[0]
        start = time.monotonic_ns()
        recording.recorder.kill()
        while (now := struct.unpack('Q', clock[:])[0]) == stood:
            time.sleep(0.0002)
        seconds.append((now - start) / 1e9)
        recording.recorder.wait()
        for child in map(int, children):
            try:
                if os.readlink(f'/proc/{child}/exe').endswith('clock_program'):
                    os.kill(child, signal.SIGKILL)
            except OSError:
                pass
        subprocess.run([adaptrace, 'recover', '-q', 'bench.atr'], capture_output=True)
    show('a paused program runs again after SIGKILL of the recorder', seconds, 'at most 100 ms')


def watched():
    bench = '/usr/share/lammps/examples/melt'
    if not shutil.which('lmp') or not os.path.isdir(bench):
        print('watch: install lammps and lammps-examples for this')
        return
    shutil.copytree(bench, '.', dirs_exist_ok=True)
    script = open('in.melt').read().replace('run\t\t250', 'run 100000')
    open('in.melt', 'w').write(script)
    recording = Recording('-F', '4000', '--max-overhead', '0', command=['lmp', '-in', 'in.melt', '-log', 'none'])
    watch = subprocess.Popen([adaptrace, 'watch', '--json', '--samples', str(recording.recorder.pid)],
                             stdout=subprocess.PIPE, text=True)
    size = samples = 0
    end = time.monotonic() + 8
    settled = time.monotonic() + 3
    for line in watch.stdout:
        if time.monotonic() > end:
            break
        told = json.loads(line)
        if time.monotonic() > settled and 'samples' in told:
            size += len(line)
            samples += told['nr']
    watch.terminate()
    recording.end()
    if samples:
        print(f'watch --json --samples: {size / samples:.1f} bytes a sample, {samples} samples (goal 32)')


def costs_of(version):
    """Of a recording of a fixed work: CPU seconds of the program and of the recorder, and wall seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([version + '/adaptrace', 'record', '-q', '-F', '1000', '-o', 'pair.atr',
                    build + '/targets/fixed_work', 'cost', ROUNDS], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = sum(map(float, open('cost').read().split()[:2]))
    return program, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - program, wall


def median_interval(values):
    """The median and its 95 % interval, by the ranks of a sign test."""
    values = sorted(values)
    rank = max(0, int(len(values) / 2 - 1.96 * len(values) ** 0.5 / 2))
    return statistics.median(values), values[rank], values[-1 - rank]


def nobody_looks():
    """A pair is four recordings, new old old new and the other way round in turn, so that what drifts on the
    machine weighs on both builds alike."""
    differences = [[], [], []]
    costs_of(build), costs_of(other)
    for i in range(pairs):
        first, second = (build, other) if i % 2 else (other, build)
        runs = [(version, costs_of(version)) for version in (first, second, second, first)]
        for nr, values in enumerate(differences):
            new, old = (sum(costs[nr] for version, costs in runs if version is of) for of in (build, other))
            values.append((new / old - 1) * 100)
    for what, values in zip(('CPU time of the program', 'CPU time of the recorder', 'wall time'), differences):
        print('nobody looks, {} pairs, {}: median {:+.2f} %, 95 % interval {:+.2f} to {:+.2f}'.format(
            pairs, what, *median_interval(values)))


if other:
    nobody_looks()
    sys.exit()
compile('threads', THREADS)
compile('clock_program', CLOCK)
answers()
switches()
killed()
watched()
