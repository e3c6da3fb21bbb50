"""check.py FOLDER: looks at what the emulated machine recorded on its counters."""

import collections
import json
import os
import sys
import traceback

import recording

COUNTERS, SIGNED, STEERED = (sys.argv[1] + f"/{part}/out/" for part in ("counters", "signed", "steered"))


def text_of(path):
    with open(path) as file:
        return file.read()


def event_of(info, name):
    event, = [e for e in info["events"] if e["name"].split(":")[0] == name]
    return event


def taken_is_count_by_period(trace, name):
    """All that the kernel counted by the period; some overflows pass while the other processor has
    its turn, of perf's as well."""
    event = event_of(recording.info(COUNTERS + trace), name)
    assert recording.close(event["taken"], event["exact"] / event["base_period"], 0.05, 2)


def shares_are_right(trace, name, folder=COUNTERS):
    """What each function and what is inlined into it took, of all that the three took; and what
    chance makes of so few samples."""
    took, nr = collections.Counter(), 0
    for sample in recording.samples(folder + trace):
        for frame in sample["stack"] if sample["event"].split(":")[0] == name else []:
            if frame["symbol"] in ("one", "three", "six"):
                took[frame["symbol"]] += sample["weight"]
                nr += 1
    for function, share in (("one", 0.1), ("three", 0.3), ("six", 0.6)):
        chance = 3 * (share * (1 - share) / nr) ** 0.5
        assert recording.close(took[function] / sum(took.values()), share, 0, chance), function


def cycles():
    taken_is_count_by_period("cycles.atr", "cycles")
    shares_are_right("cycles.atr", "cycles")


def several_events():
    """Instructions are half as many as cycles: by the clock of this machine."""
    for name in "instructions", "cycles":
        taken_is_count_by_period("both.atr", name)
        shares_are_right("both.atr", name)
    info = recording.info(COUNTERS + "both.atr")
    instructions, cycles = (event_of(info, name)["exact"] for name in ("instructions", "cycles"))
    assert recording.close(instructions, cycles / 2, 0.001)


def group():
    """Counters that are read with every sample, in groups of the hardware; if record can."""
    if not os.path.exists(COUNTERS + "group.atr"):
        return
    samples = recording.samples(COUNTERS + "group.atr")
    cycles = event_of(recording.info(COUNTERS + "group.atr"), "cycles")["exact"]
    assert recording.close(sum(s["counters"]["instructions"] for s in samples), cycles / 2, 0.02)
    assert "counter 'r03' counted nothing" in text_of(COUNTERS + "group.report")


def as_perf_says():
    """perf record of the same program, event and period."""
    theirs = collections.Counter()
    for line in text_of(COUNTERS + "perf.script").splitlines():
        fields = line.split()
        if fields and fields[0] == "shares":
            theirs[fields[-1]] += 1
    ours = collections.Counter()
    for sample in recording.samples(COUNTERS + "cycles.atr"):
        if sample["comm"] == "shares":
            function, = [f["symbol"] for f in sample["stack"] if not f["inlined"]][:1]
            ours[function] += 1
    print("perf:", dict(theirs), "adaptrace:", dict(ours))
    assert recording.close(sum(ours.values()), sum(theirs.values()), 0.05, 2)
    for function in "one", "three", "six":
        assert recording.close(ours[function] / sum(ours.values()),
                               theirs[function] / sum(theirs.values()), 0, 0.03), function


def read_alike_elsewhere():
    """A trace says here what it said there."""
    assert json.loads(text_of(COUNTERS + "cycles.report")) == recording.report(
        COUNTERS + "cycles.atr")


def old_threads(trace):
    """The buffer fills, twice; from then on threads that began before it are sampled less often."""
    info = recording.info(COUNTERS + trace)
    event = event_of(info, "cycles")
    full = [r for r in info["reductions"] if r["cause"] == "memory" and r["event"] == event["name"]]
    assert all(r["cause"] == "memory" for r in info["reductions"]), info["reductions"]
    assert event["final_period"] == event["initial_period"] * 2 ** len(full), event
    samples = [s for s in recording.samples(COUNTERS + trace) if s["event"] == event["name"]]
    first, second = (r["time_ns"] for r in full[:2])
    marks = collections.defaultdict(dict)
    for line in text_of(COUNTERS + trace.replace(".atr", ".said")).splitlines():
        if line.startswith("quarter"):
            _, tid, number, time, cpu = map(int, line.split()[1:])
            marks[tid][number] = time, cpu
    assert len(marks) == 2
    for tid, mark in marks.items():
        (start, cpu_start), (end, cpu_end) = mark[3], mark[4]
        # Until the second time the kernel's period may be the first.
        assert mark[0][0] < first < second < start, "the buffer was full too late"
        late = [s for s in samples if s["tid"] == tid and start <= s["time_ns"] < end]
        # A nanosecond is a cycle here. Handlers do not count themselves, and some overflows pass
        # while the other processor has its turn.
        assert recording.close(sum(s["weight"] for s in late), cpu_end - cpu_start, 0.25)
    return event, samples


def old_threads_of_a_cgroup():
    assert recording.info(COUNTERS + "old.atr")["counting"] == "cgroup"
    event, samples = old_threads("old.atr")
    # The kernel's period doubled as well.
    assert event["taken"] * event["initial_period"] < 0.9 * sum(s["weight"] for s in samples)


def old_threads_that_inherited():
    assert recording.info(COUNTERS + "old_inherit.atr")["counting"] == "inherit"
    old_threads("old_inherit.atr")


def silent_event():
    """One that the processor opens and never counts: that is said, the other one is there."""
    taken_is_count_by_period("silent.atr", "cycles")
    assert event_of(recording.info(COUNTERS + "silent.atr"), "r03")["taken"] == 0
    assert "r03 never occurred" in text_of(COUNTERS + "silent.report")


def chain(sample):
    """The names of a stack, repeated ones once."""
    names = [f["symbol"] or f["module"] for f in sample["stack"]]
    return tuple(n for n, before in zip(names, [None] + names) if n != before)


ROOT = ("main", "libc.so.6", "__libc_start_main", "_start")
CHAINS = {
    ("leaf", "recurse") + ROOT,
    ("leaf", "recurse", "other", "libc.so.6"),
    ("leaf", "on_signal", "__kernel_rt_sigreturn", "syscall", "signal_oneself") + ROOT,
}


def is_nowhere(sample):
    """Neither in the program before, nor in the next: there is no stack to see. Of what a function
    without a frame of its own was called by, the kernel says nothing."""
    return {"do_exit", "do_group_exit", "do_execveat_common"} & {f["symbol"] for f in sample["stack"]}


def stacks(path, cut=0):
    """All but a share reach their root, and those that end in leaf() are the known ones."""
    samples = [s for s in recording.samples(path) if s["comm"].startswith("frames")]
    chains = collections.Counter(chain(s) for s in samples if s["stack"][0]["symbol"] == "leaf")
    for known in CHAINS:
        print(chains[known], *known)
        assert chains[known] > 0.1 * len(samples), chains
        del chains[known]
    for other in chains: # by the sort of libc
        print(chains[other], *other)
        assert other[:3] == ("leaf", "compare", "libc.so.6"), other
        assert other[-6:] == ("qsort_r", "sort") + ROOT, other
    depths = {sum(f["symbol"] == "recurse" for f in s["stack"])
              for s in samples if chain(s)[:2] == ("leaf", "recurse")}
    assert depths == {61}, depths
    lost = [chain(s) for s in samples if not s["complete"] and not is_nowhere(s)]
    assert len(lost) <= cut * len(samples), lost


def known_stacks():
    stacks(COUNTERS + "frames.atr")


def known_stacks_by_libunwind():
    """It does not find its way out of every instruction of pthread_create()."""
    stacks(COUNTERS + "frames_libunwind.atr", cut=0.01)


def signed_return_addresses():
    stacks(SIGNED + "signed.atr")


def signed_return_addresses_by_libunwind():
    """libunwind knows nothing of them before 1.7, but then the stacks are said to be incomplete."""
    samples = recording.samples(SIGNED + "signed_libunwind.atr")
    if any(chain(s)[:4] == ("leaf", "recurse", "main", "libc.so.6") for s in samples):
        stacks(SIGNED + "signed_libunwind.atr", cut=0.01)
    else:
        assert not any(s["complete"] for s in samples if s["stack"][0]["symbol"] == "leaf")


def switched_events():
    """ctl event only, add, drop: each event is sampled while it is on, and not in its gaps. Of the overflows
    many pass here, while the commands have their turn on the other processor."""
    info = recording.info(STEERED + "switched.atr")
    gaps = collections.defaultdict(list)
    for gap in info["gaps"]:
        gaps[gap["event"].split(":")[0]].append((gap["from_ns"], gap["to_ns"]))
    assert {name: len(of) for name, of in gaps.items()} == {"cycles": 1, "instructions": 2}, gaps
    for name in "cycles", "instructions":
        shares_are_right("switched.atr", name, STEERED)
    for sample in recording.samples(STEERED + "switched.atr"):
        assert not any(a < sample["time_ns"] < b for a, b in gaps[sample["event"].split(":")[0]]), sample
    # While both were on, and one alone: by the clock of this machine.
    sampled = {e["name"].split(":")[0]: e["exact"] / e["sampled_ns"] for e in info["events"]}
    assert recording.close(sampled["instructions"], sampled["cycles"] / 2, 0.1)


def weighs_as_the_run(part, event, samples):
    """What the run has of the same time, of which it took fewer of the same samples."""
    there = [s["weight"] for s in samples if part["from_ns"] <= s["time_ns"] <= part["to_ns"]]
    assert recording.close(part["weight"], sum(there), 0, 4 * max(len(there), 4) ** 0.5 * event["final_period"])


def windows_on_a_counter():
    """A window and the history have the first period, while the run's own has grown."""
    info = recording.info(STEERED + "windowed.atr")
    event, (window,) = event_of(info, "cycles"), info["windows"]
    assert event["final_period"] >= 4 * event["initial_period"], event
    # The window finds room for a part of its samples, and weighs the same.
    history = info["history"]
    assert history["period"] == event["initial_period"] and history["full"] and not history["cut"], history
    assert window["taken"] > 4 * window["stored"] * event["initial_period"] / event["final_period"], (window, event)
    samples = recording.samples(STEERED + "windowed.atr")
    weighs_as_the_run(window, event, samples)
    weighs_as_the_run(history, event, samples)
    assert event["taken"] == event["stored"] + info["samples"]["reduced"], event


def nothing_failed_there():
    for part in "counters", "unit", "signed", "steered":
        console = text_of(f"{sys.argv[1]}/{part}/console")
        assert "status" not in console and "FAILED" not in console, console


failed = 0
for test in (nothing_failed_there, cycles, several_events, group, as_perf_says, read_alike_elsewhere,
             old_threads_of_a_cgroup, old_threads_that_inherited, silent_event, switched_events,
             windows_on_a_counter, known_stacks,
             known_stacks_by_libunwind, signed_return_addresses,
             signed_return_addresses_by_libunwind):
    print("--", test.__name__)
    try:
        test()
    except Exception: # one test's failure is not the others'
        failed += 1
        traceback.print_exc(file=sys.stdout)
        print("FAILED ", test.__name__)
sys.exit(failed > 0)
