"""
A window late in a run: how many samples more it has, and whether the run notices.

A program that spends 70 % of its time in one function and 30 % in another is recorded at 10 kHz until
its rate has fallen by a factor of 64 or more. It spends half of its time in each while a window is
open. Both parts must be right, and the run must weigh what the kernel counted. What is missing without
a window is not the window's fault: every other recording has none. Where the host of a virtual machine takes
CPU time away, ticks of the clock are missing in both.

    bench_windows.py BUILD [RUNS [SECONDS]]
"""
import json, os, subprocess, sys, tempfile, time

PROGRAM = r"""
#include <signal.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned long x;
static volatile sig_atomic_t half;
static void change(int number) { half = number == SIGUSR1; }
__attribute__((noinline)) void alpha(unsigned n) { for (unsigned i = 0; i < n; i++) x += i; }
__attribute__((noinline)) void beta(unsigned n) { for (unsigned i = 0; i < n; i++) x ^= i; }
int main(int argc, char **argv)
{
	time_t end = time(NULL) + atoi(argv[argc - 1]);

	signal(SIGUSR1, change);
	signal(SIGUSR2, change);
	while (time(NULL) < end)
		for (unsigned i = 0; i < 100; i++) {
			alpha(half ? 5000 : 7000);
			beta(half ? 5000 : 3000);
		}
	return 0;
}
"""
FLOOR = 6
SECONDS = int(sys.argv[3]) if len(sys.argv) > 3 else 40


def run(adaptrace, *args, **options):
    return subprocess.run([adaptrace, *args], check=True, capture_output=True, text=True, **options).stdout


def shares(adaptrace, *options):
    report = json.loads(run(adaptrace, "report", "--json", *options))
    return {f["symbol"]: f["self"] / report["sampled_weight"] for f in report["functions"]}


def stolen():
    return int(open("/proc/stat").readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def once(adaptrace, program, detail):
    before = stolen()
    recorder = subprocess.Popen([adaptrace, "record", "-q", "-m", "512K", "-F", "10000", "--max-overhead", "0",
                                 "--detail-share", "50", program, str(SECONDS)], stderr=subprocess.DEVNULL)
    ctl = lambda *words: run(adaptrace, "ctl", str(recorder.pid), *words)
    time.sleep(1)
    ctl("overhead", "0.1")
    while json.loads(ctl("status", "--json"))["events"][0]["floor"] < FLOOR:
        time.sleep(0.1)
    ctl("overhead", "0")
    time.sleep(2)
    target, = [int(p) for p in open(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read().split()
               if os.readlink(f"/proc/{p}/exe") == program]
    if detail:
        os.kill(target, 10)
        ctl("detail", "2")
        time.sleep(2)
        os.kill(target, 12)
    recorder.wait()
    info = json.loads(run(adaptrace, "info", "--json"))
    event = info["events"][0]
    weight = json.loads(run(adaptrace, "report", "--json"))["sampled_weight"] / event["exact"]
    if not detail:
        print(f"without a window: the run weighs {weight:.4f} of what the kernel counted, "
              f"{stolen() - before:.1f} s were stolen", flush=True)
        return weight
    window = info["windows"][0]
    seconds = (window["to_ns"] - window["from_ns"]) / 1e9
    inside, whole = shares(adaptrace, "--window", "1"), shares(adaptrace)
    usual = window["weight"] / event["final_period"] # samples of the run in as much CPU time
    print(f"floor {info['reductions'][-1]['floor']}: {window['stored'] / seconds:.0f} samples/s in the window, "
          f"{window['stored'] / usual:.1f} times as many as the run has; "
          f"alpha {100 * inside['alpha']:.1f} % there, {100 * whole['alpha']:.1f} % of the run; "
          f"the run weighs {weight:.4f} of what the kernel counted, "
          f"{stolen() - before:.1f} s were stolen", flush=True)
    return weight


adaptrace = os.path.abspath(os.path.join(sys.argv[1], "adaptrace"))
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    open("program.c", "w").write(PROGRAM)
    subprocess.run(["gcc", "-O1", "-g", "-o", "program", "program.c"], check=True)
    program, pairs = os.path.join(folder, "program"), []
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
        pairs.append([once(adaptrace, program, detail) for detail in (True, False)])
    mean = [sum(of) / len(of) for of in zip(*pairs)]
    print(f"mean weight with a window {mean[0]:.4f}, without {mean[1]:.4f}")
