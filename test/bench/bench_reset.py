"""
How long a reset takes: from its packet to the answer, beside a command that only marks a time.

A program is recorded with a window and a history in a buffer of 100 MB. Clearing a buffer that is full takes
no longer than one that is not (bench_reduce); the rest of a reset is the session's.

    bench_reset.py BUILD [RESETS]
"""
import os, subprocess, sys, tempfile, time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
import control_socket

PROGRAM = "int main(void) { for (;;) __asm__ volatile(\"\"); }"


def ask(client, **request):
    begin = time.perf_counter()
    answer = control_socket.ask(client, **request)
    assert answer["ok"], answer
    return 1e6 * (time.perf_counter() - begin)


def figures(name, us):
    us.sort()
    print(f"{name}: mean {sum(us) / len(us):.0f} us, median {us[len(us) // 2]:.0f}, 99 % {us[len(us) * 99 // 100]:.0f}")
    return sum(us) / len(us), us[len(us) // 2]


adaptrace, nr = os.path.abspath(os.path.join(sys.argv[1], "adaptrace")), int(sys.argv[2]) if len(sys.argv) > 2 else 200
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run(["gcc", "-x", "c", "-O1", "-o", "program", "-"], input=PROGRAM, text=True, check=True)
    recorder = subprocess.Popen([adaptrace, "record", "-q", "-m", "100M", "--history", "1s", "./program"],
                                stderr=subprocess.DEVNULL)
    time.sleep(1)
    client = control_socket.client_of(recorder.pid)
    resets, marks = [], []
    for _ in range(nr):
        ask(client, ctl="detail", seconds=60)
        time.sleep(0.03)
        marks.append(ask(client, ctl="mark", text="x"))
        time.sleep(0.03)
        resets.append(ask(client, ctl="reset"))
    recorder.terminate()
    recorder.wait()
    mean, median = (a - b for a, b in zip(figures("a reset", resets), figures("a mark", marks)))
    print(f"a reset takes {mean:.0f} us more than a mark on average, {median:.0f} in the median (goal: 400 us)")
