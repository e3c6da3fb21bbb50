"""convert_check.py FORMAT OUTPUT SUMS: reads a converted trace the way its own tools do, and compares
what every function got with SUMS: what a walk over all samples finds (make_trace sums), or what
report --json says.

convert_check.py places FORMAT OUTPUT DUMP: the same by source file and line, and by thread and time,
as far as the format has them, against dump --json.

convert_check.py inclusive CALLGRIND REPORT: inclusive costs, as KCachegrind understands them.

convert_check.py shares FORMAT OUTPUT REDUCED: whether a trace whose period doubled again and again
shows the same shares as one that was never reduced, within what its number of samples allows."""
import collections
import gzip
import json
import os
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree


def clean(name):
    """A name in a format that cannot hold control characters."""
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in name)


# Each reader returns {event: {function: (self, total)}}; total None: the format does not tell.
# The event is None where a format has one only and does not name it.

def unworded(event):
    """Its name in a trace, by that in a format where such names are words."""
    return event.removesuffix("_u").replace("_", "-")


def tally(stacks):
    """(stack of names from the root, weight) added up, recursion counted once."""
    self_, total = collections.Counter(), collections.Counter()
    for stack, weight in stacks:
        self_[stack[-1]] += weight
        for name in set(stack):
            total[name] += weight
    return {name: (self_[name], total[name]) for name in total}


def read_folded(path):
    def stacks():
        for line in open(path, encoding="utf-8", newline="\n"):
            stack, weight = line.rstrip("\n").rsplit(" ", 1)
            yield stack.split(";")[1:], int(weight)
    return {None: tally(stacks())}


def folded_name(name):
    return clean(name).replace(";", ":")


def read_otf2(path):
    import otf2
    self_ = collections.defaultdict(collections.Counter)
    total = collections.defaultdict(collections.Counter)
    with otf2.reader.open(path + "/traces.otf2") as trace:
        above = {}

        def names(context):
            if context not in above:
                above[context] = {context.region.name} | (
                    names(context.parent) if context.parent is not None else set())
            return above[context]
        for _, event in trace.events:
            generator = event.interrupt_generator
            self_[generator.name][event.calling_context.region.name] += generator.period
            for name in names(event.calling_context):
                total[generator.name][name] += generator.period
    return {event: {name: (self_[event][name], total[event][name]) for name in total[event]}
            for event in total}


def read_flamegraph(path):
    self_, total = collections.Counter(), collections.Counter()
    svg = "{http://www.w3.org/2000/svg}"
    boxes, above = [], []
    whole = None
    for box in xml.etree.ElementTree.parse(path).getroot().find(svg + "g[@id='frames']"):
        rect = box.find(svg + "rect")
        title, weight = box.find(svg + "title").text, int(box.get("data-total"))
        whole = whole or weight
        told = re.search(r" \(([0-9.]+) ([mµn]?s), ([0-9.]+) %\)$", title)
        unit = told and {"s": 10**9, "ms": 10**6, "µs": 10**3, "ns": 1}[told.group(2)]
        assert not whole or (abs(float(told.group(1)) * unit - weight) <= 0.00051 * weight and
                             abs(float(told.group(3)) - 100 * weight / whole) <= 0.0051), title
        boxes.append((title.rsplit(" (", 1)[0], float(rect.get("x")),
                      float(rect.get("width")), int(rect.get("y")), box))
    assert boxes[0][0] == "all"
    bottom, row = boxes[0][3], 17
    for name, x, width, y, box in sorted(boxes, key=lambda b: (b[1], -b[3], -b[2])):
        depth = (bottom - y) // row
        del above[depth:]
        assert len(above) == depth, "a box in the air"
        assert depth == 0 or x + width <= above[-1][1] + above[-1][2] + 1e-2, "it juts out"
        if depth > 1:  # behind the command
            self_[name] += int(box.get("data-self"))
            if name not in [a[0] for a in above[2:]]:
                total[name] += int(box.get("data-total"))
        elif name.endswith(("unsampled]", "[unobserved]")):  # of a command, beside its box
            name = name[name.rindex("["):]
            self_[name] += int(box.get("data-self"))
            total[name] += int(box.get("data-total"))
        above.append((name, x, width))
    return {None: {name: (self_[name], total[name]) for name in total}}


def read_speedscope(path):
    profile = json.load(open(path, encoding="utf-8"))
    frames = [f["name"] for f in profile["shared"]["frames"]]
    stacks = collections.defaultdict(list)
    for p in profile["profiles"]:
        assert p["type"] == "sampled" and len(p["samples"]) == len(p["weights"])
        assert p["endValue"] == sum(p["weights"])
        event = "cpu-clock" if p["unit"] == "nanoseconds" else p["name"].rsplit(": ", 1)[1]
        stacks[event] += [([frames[i] for i in stack], weight)
                          for stack, weight in zip(p["samples"], p["weights"])]
    return {event: tally(stacks[event]) for event in stacks}


def read_firefox(path):
    profile = json.loads(gzip.open(path).read().decode("utf-8"))
    shared = profile["shared"]
    for table in shared.values():
        for name, column in table.items() if isinstance(table, dict) else ():
            assert name == "length" or len(column) == table["length"], name
    strings, frames = shared["stringArray"], shared["frameTable"]
    functions = [strings[i] for i in shared["funcTable"]["name"]]
    stacks = []
    for frame, prefix in zip(shared["stackTable"]["frame"], shared["stackTable"]["prefix"]):
        stacks.append((stacks[prefix] if prefix is not None else []) +
                      [functions[frames["func"][frame]]])

    def samples():
        for thread in profile["threads"]:
            table = thread["samples"]
            unit = {"tracing-ms": 10**6, "samples": 1}[table["weightType"]]
            assert table["time"] == sorted(table["time"])
            assert table["length"] == len(table["stack"]) == len(table["weight"])
            for stack, weight in zip(table["stack"], table["weight"]):
                yield stacks[stack], round(weight * unit)
    return {None: tally(samples())}


# pprof's own definition of its profiles, of the package golang-github-google-pprof-dev.
PPROF_PROTO = "/usr/share/gocode/src/github.com/google/pprof/proto/profile.proto"


def read_pprof(path):
    """By way of protoc --decode, which writes text: {field: [number, string or the same again]}."""
    proto, message = PPROF_PROTO, "perftools.profiles.Profile"
    if not os.path.exists(proto):
        print("no golang-github-google-pprof-dev: the profile was read by a definition of our own", file=sys.stderr)
        proto, message = os.path.join(os.path.dirname(__file__), "../../src/output/convert/pprof.proto"), "pprof.Profile"
    text = subprocess.run(["protoc", "--decode=" + message, "-I" + os.path.dirname(proto), proto],
                          input=gzip.open(path).read(), stdout=subprocess.PIPE, check=True).stdout
    top = collections.defaultdict(list)
    levels = [top]
    for line in text.decode("utf-8").splitlines():
        line = line.strip()
        if line == "}":
            levels.pop()
        elif line.endswith("{"):
            levels.append(collections.defaultdict(list))
            levels[-2][line[:-2]].append(levels[-1])
        else:
            field, value = line.split(": ", 1)
            levels[-1][field].append(unquote(value) if value[0] == '"' else
                                     value == "true" if value in ("true", "false") else int(value))
    assert not any(field.isdigit() for field in top), "unknown fields"
    return top


def unquote(text):
    """The C escapes of protoc."""
    def one(match):
        c = match.group(1)
        return bytes([int(c, 8)]) if c.isdigit() else {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(c, c)
    raw = text[1:-1].encode("utf-8")
    return re.sub(rb"\\([0-7]{3}|.)", lambda m: one(m), raw).decode("utf-8")


def read_pprof_stacks(path):
    """{event: [(stack from the root down, value)]}, of a profile that keeps the rules of its definition."""
    profile = read_pprof(path)
    strings = profile["string_table"]
    assert strings[0] == ""
    functions = {f["id"][0]: strings[f["name"][0]] for f in profile["function"]}
    mappings = [m["id"][0] for m in profile["mapping"]]
    for table in "mapping", "function", "location":
        ids = [entry["id"][0] for entry in profile[table]]
        assert len(ids) == len(set(ids)) and 0 not in ids, (table, ids)
    locations = {}  # innermost first, what was inlined before the function itself
    for place in profile["location"]:
        assert not place["mapping_id"] or place["mapping_id"][0] in mappings
        locations[place["id"][0]] = [functions[line["function_id"][0]] for line in place["line"]]
    types = [strings[t["type"][0]] for t in profile["sample_type"]]
    assert strings[profile["period_type"][0]["type"][0]] == types[0]
    assert all(re.fullmatch(r"\w+", name, re.ASCII) for name in types), types  # or servers refuse them
    types = [unworded(name) for name in types]
    stacks = collections.defaultdict(list)
    for sample in profile["sample"]:
        assert len(sample["value"]) == len(types), sample
        stack = [name for i in sample["location_id"] for name in locations[i]]
        for event, value in zip(types, sample["value"]):
            if value:
                stacks[event].append((stack[::-1], value))
    return stacks


def read_pprof_functions(path):
    return {event: tally(stacks) for event, stacks in read_pprof_stacks(path).items()}


def read_callgrind(path):
    """As callgrind_annotate understands it; functions of one name are one to it, in all modules."""
    functions = {}
    events, = (line.split()[1:] for line in open(path, encoding="utf-8") if line.startswith("events: "))
    for event in events:
        out = subprocess.run(["callgrind_annotate", "--auto=no", "--threshold=100", "--show=" + event,
                              "--sort=" + event, path], stdout=subprocess.PIPE, check=True).stdout
        self_ = collections.Counter()
        for line in out.decode("utf-8").splitlines():
            match = re.match(r"\s*([\d,]+) \([ \d.]+%\)  (?:[^:]*):(.*?)(?: \[(?:/[^]]*|\[[^]]*\])\])?$", line)
            if match:
                self_[match.group(2)] += int(match.group(1).replace(",", ""))
        functions[unworded(event)] = {name: (self_[name], None) for name in self_}
    return functions


def perf_frame(line):
    """A function and how far in it; one without a symbol is named by its module: module+0x4580."""
    name, offset, module = re.match(r"\t *[0-9a-f]+ ([^(].*?)(\+0x[0-9a-f]+)? \(([^() ]*)\)$", line).groups()
    name = name.removeprefix("::") if name.startswith("::(") else name  # which no parser drops
    return name + offset if offset and name == os.path.basename(module) else name


def read_perf_script(path):
    stacks = collections.defaultdict(list)
    for sample in open(path, encoding="utf-8", newline="\n").read().split("\n\n"):
        lines = sample.split("\n")
        if not lines[0]:
            continue
        head = re.match(r"(\S\S+|\S ) (\d+)/(\d+) \[\d+\] \d+\.\d{6}: +(\d+) (\S+): $", lines[0])
        frames = [perf_frame(line) for line in lines[1:]]
        stacks[head.group(5)].append((frames[::-1], int(head.group(4))))
    return {event: tally(stacks[event]) for event in stacks}


def read_chrome(path):
    threads = collections.defaultdict(list)
    for e in json.load(open(path, encoding="utf-8"))["traceEvents"]:
        if e["ph"] == "X":
            start = round(1000 * e["ts"])
            threads[e["tid"]].append((start, start + round(1000 * e["dur"]), e))
    self_, total = collections.Counter(), collections.Counter()
    for slices in threads.values():
        above = []
        for start, end, e in sorted(slices, key=lambda s: s[0]):
            assert start < end
            while above and above[-1][0] <= start:
                above.pop()
            # Strictly within its caller: no viewer can take one for the other.
            assert not above or end < above[-1][0], "slices overlap"
            above.append((end, e["name"]))
            own = e.get("args", {"self": 0})
            assert own.get("samples") != 0, "arguments without a sample"
            self_[e["name"]] += own["self"]
            for name in {name for _, name in above}:
                total[name] += own["self"]
    return {None: {name: (self_[name], total[name]) for name in total}}


def same(name):
    return name


FORMATS = {
    "callgrind": (read_callgrind, clean),
    "perf-script": (read_perf_script, clean),
    "chrome": (read_chrome, same),
    "folded": (read_folded, folded_name),
    "flamegraph": (read_flamegraph, clean),
    "otf2": (read_otf2, clean),
    "firefox": (read_firefox, same),
    "pprof": (read_pprof_functions, clean),
    "speedscope": (read_speedscope, same),
}
UNSAMPLED = {"folded", "flamegraph"}  # those with .unsampled in src/output/converters.c


def bare(event):
    """An event's name, of whichever side: ordinary users may sample one alone."""
    return event and event.removesuffix(":u")


def read_sums(path):
    """Of make_trace, or of report --json for its event."""
    sums = json.load(open(path, encoding="utf-8"))
    if "events" in sums:
        return {bare(event["name"]): event for event in sums["events"]}
    functions = collections.defaultdict(lambda: {"self": 0, "total": None})
    factors = {s["comm"]: s["factor"] for s in sums["scaled"]}  # the report's alone
    for f in sums["functions"]:  # by command and module as well
        functions[f["symbol"]]["self"] += f["self"] / factors.get(f["comm"], 1)
    return {bare(sums["event"]): {"functions": functions, "rounded": sums["scaled"] and sums["samples"]}}


def wanted(sums, rename):
    functions = {}
    for name, f in sums["functions"].items():
        old = functions.get(rename(name), (0, 0))
        functions[rename(name)] = (old[0] + f["self"], f["total"] and old[1] + f["total"])
    return functions


def compare(fmt, output, path):
    read, rename = FORMATS[fmt]
    events, compared = read_sums(path), 0
    for event, functions in read(output).items():
        event = bare(event)
        if event and event not in events:
            continue
        compared += 1
        sums = events[event] if event else next(iter(events.values()))
        slack = sums.get("rounded") or 0  # every sample's weight was
        want = wanted(sums, rename)
        seen = {name for name, (self_, _) in functions.items() if self_}
        missing = {name for name, (self_, _) in want.items() if self_} - seen
        if fmt not in UNSAMPLED:
            missing -= {"[unsampled]", "[kernel or unsampled]", "[unobserved]"}  # and it says so
        assert not missing, "missing: %r" % sorted(missing)[:3]
        for name, (self_, total) in functions.items():
            if slack and name == "[unsampled]":
                continue  # the report has scaled what was sampled instead
            assert name in want or not self_, "unknown function %r" % name
            expected = want.get(name, (0, None))
            assert abs(self_ - expected[0]) <= slack, (name, "self", self_, expected[0])
            assert None in (total, expected[1]) or total == expected[1], (name, total, expected)
        print("%s: %s: %d functions" % (fmt, event or "the event", len(functions)))
    assert compared, "none of %r" % sorted(events)


def shares(fmt, output, reduced):
    def of(path):
        events = FORMATS[fmt][0](path)
        functions = events.get("cpu-clock") or events[None]
        total = sum(self_ for self_, _ in functions.values())
        return {name: self_ / total for name, (self_, _) in functions.items() if self_}
    want, got = of(output), of(reduced)
    assert set(want) == set(got), (sorted(want), sorted(got))
    for name, share in want.items():
        error = 4 * (share * (1 - share) / 2900) ** 0.5  # of the samples that are left
        assert abs(got[name] - share) < error, (name, share, got[name], error)
    print("%s: shares hold: %r" % (fmt, {n: round(s, 3) for n, s in got.items()}))


# --- places: for each sample of the clock who, when, where and how much; None: it is not told

def dump_places(path):
    for sample in map(json.loads, open(path, encoding="utf-8")):
        if bare(sample["event"]) == "cpu-clock":
            leaf = sample["stack"][0]
            yield ((sample["pid"], sample["tid"]), sample["cpu"], sample["time_ns"],
                   (leaf["symbol"], leaf["module"], leaf["file"], leaf["line"])), sample["weight"]


def base(path):
    return path.rpartition("/")[2]


def pprof_places(path):
    profile = read_pprof(path)
    strings = profile["string_table"]
    modules = {m["id"][0]: base(strings[m["filename"][0]]) for m in profile["mapping"]}
    functions = {f["id"][0]: (strings[f["name"][0]], strings[f["filename"][0]] if f["filename"] else None)
                 for f in profile["function"]}
    locations = {place["id"][0]: place for place in profile["location"]}
    for sample in profile["sample"]:
        place = locations[sample["location_id"][0]]
        line = place["line"][0]
        name, file = functions[line["function_id"][0]]
        module = modules[place["mapping_id"][0]] if place["mapping_id"] else "[unknown]"
        where = name, module, file, line["line"][0] if line["line"] else None
        yield (None, None, None, where), sample["value"][0] if sample["value"] else 0


def firefox_places(path):
    profile = json.loads(gzip.open(path).read().decode("utf-8"))
    shared, start = profile["shared"], profile["meta"]["startTimeAsClockMonotonicNanosecondsSinceBoot"]
    strings, frames, functions = shared["stringArray"], shared["frameTable"], shared["funcTable"]
    sources = shared["sources"]["filename"]
    for thread in profile["threads"]:
        assert thread["isMainThread"] == (int(thread["pid"]) == thread["tid"]), thread["tid"]
        table = thread["samples"]
        for stack, weight, time in zip(table["stack"], table["weight"], table["time"]):
            frame = shared["stackTable"]["frame"][stack]
            source = functions["source"][frames["func"][frame]]
            resource = functions["resource"][frames["func"][frame]]
            where = (strings[functions["name"][frames["func"][frame]]],
                     "[unknown]" if resource < 0 else base(strings[shared["resourceTable"]["name"][resource]]),
                     None if source is None else strings[sources[source]], frames["line"][frame])
            yield ((int(thread["pid"]), thread["tid"]), None, start + round(time * 10**6), where), round(weight * 10**6)


def callgrind_places(path, edges=None):
    names, now = {}, {}
    files = collections.defaultdict(set)  # by function: said of it, and of its lines
    calls = False
    for line in open(path, encoding="utf-8"):
        match = re.match(r"(c?(?:fl|fi|fn|ob))=(\(\d+\))(?: (.*))?\n", line)
        if match:
            kind = match.group(1)
            key = (kind[-2:].replace("fl", "fi"), match.group(2))
            names.setdefault(key, match.group(3))
            now[kind] = names[key]
            if kind in ("fn", "fi"):
                files[kind, now["fn"]].add(now["fl" if kind == "fn" else "fi"])
        elif line.startswith("calls="):
            calls = True
        elif line[0].isdigit():
            number, weight = line.split()[:2]
            if calls and edges is not None:
                edges[tuple((now[kind + "fn"], base(now.get(kind + "ob", now["ob"])))
                            for kind in ("", "c"))] += int(weight)
            if not calls and int(weight):
                file = None if now["fi"] == "???" else now["fi"]
                yield (None, None, None, (now["fn"], base(now["ob"]), file, int(number) or None)), int(weight)
            calls = False
    for function in {name for _, name in files}:
        assert files["fn", function] <= files["fi", function], function


def callgrind_calls(path, dump):
    """Whether what a function cost its callers is what samples with both in their stacks weigh, where
    it was not called by itself; [root] calls what is called elsewhere. Nameless functions are left
    out, because dump does not tell them apart."""
    got, want, roots = collections.Counter(), collections.Counter(), collections.Counter()
    called = set()
    list(callgrind_places(path, got))
    for sample in map(json.loads, open(dump, encoding="utf-8")):
        functions = [(frame["symbol"], frame["module"] or "???") for frame in sample["stack"]]
        called.update(functions[:-1])
        if bare(sample["event"]) != "cpu-clock":
            continue
        for i, (callee, caller) in enumerate(zip(functions, functions[1:])):
            if callee not in functions[i + 1:]:
                want[caller, callee] += sample["weight"]
        roots[functions[-1]] += sample["weight"]
    for function in called & roots.keys():
        want[("[root]", "???"), function] += roots[function]
    got, want = ({edge: weight for edge, weight in edges.items()
                  if weight and not any(is_nameless(*function) for function in edge)} for edges in (got, want))
    assert got == want, [(edge, got.get(edge), want.get(edge)) for edge in got.keys() | want.keys()
                         if got.get(edge) != want.get(edge)][:3]
    print("callgrind: %d calls" % len(want))


def callgrind_inclusive(path, report):
    """Whether inclusive costs, as KCachegrind adds them up, are what report --json says: of what is
    called the calls of it, else itself and the calls from it, without calls of itself."""
    calls, out, names, now, callee = collections.Counter(), collections.Counter(), {}, {}, None
    for line in open(path, encoding="utf-8"):
        match = re.match(r"(c?(?:fn|ob))=(\(\d+\))(?: (.*))?\n", line)
        if match:
            names.setdefault((match.group(1)[-2:], match.group(2)), match.group(3))
            now[match.group(1)] = names[match.group(1)[-2:], match.group(2)]
        elif line.startswith("calls="):
            callee = now["cfn"], base(now.get("cob", now["ob"]))
        elif line[0].isdigit():
            caller = now["fn"], base(now["ob"])
            if caller != callee:
                out[caller] += int(line.split()[1])
                calls[callee] += int(line.split()[1]) if callee else 0
            callee = None
    got = {name: calls.get(name, out[name]) for name in out.keys() | calls.keys() if name}
    got.pop(("[root]", "???"), None)
    want = {(f["symbol"], f["module"]): f["total"] for f in json.load(open(report))["functions"]}
    assert got == want, [(name, got.get(name), want.get(name)) for name in got.keys() | want.keys()
                         if got.get(name) != want.get(name)]
    print("callgrind: inclusive costs of %d functions" % len(want))


def perf_script_places(path):
    for sample in open(path, encoding="utf-8", newline="\n").read().split("\n\n"):
        head = re.match(r"\S+ (\d+)/(\d+) \[(\d+)\] (\d+)\.(\d{6}): +(\d+) cpu-clock(?::u)?: \n", sample)
        if head:
            pid, tid, cpu, seconds, us, weight = map(int, head.groups())
            yield ((pid, tid), cpu, (seconds * 10**6 + us) * 1000, None), weight


PLACES = {
    "pprof": pprof_places,
    "firefox": firefox_places,
    "callgrind": callgrind_places,
    "perf-script": perf_script_places,
}


def as_dumped(where):
    """dump has no name for a function that is called by its module and address."""
    name, module = where[:2]
    return (None, *where[1:]) if is_nameless(name, module) else where


def is_nameless(name, module):
    return name is None or re.fullmatch(re.escape(module or "") + r"\+0x[0-9a-f]+", name)


def places(fmt, output, dump):
    got, want = collections.Counter(), collections.Counter()
    told = [False] * 4
    for place, weight in PLACES[fmt](output):
        place = (*place[:3], place[3] and as_dumped(place[3]))
        told = [a or b is not None for a, b in zip(told, place)]
        got[place] += weight
    for place, weight in dump_places(dump):
        if fmt == "perf-script":  # which tells microseconds
            place = (*place[:2], place[2] // 1000 * 1000, place[3])
        want[tuple(part if t else None for part, t in zip(place, told))] += weight
    assert +got == want, (list((got - want).items())[:3], list((want - got).items())[:3])
    assert len(want) > 1 and (not told[3] or any(where[3] for _, _, _, where in want))
    print("%s: %d places" % (fmt, len(want)))
    if fmt == "callgrind":
        callgrind_calls(output, dump)


if __name__ == "__main__":
    if sys.argv[1] == "shares":
        shares(*sys.argv[2:])
    elif sys.argv[1] == "places":
        places(*sys.argv[2:])
    elif sys.argv[1] == "inclusive":
        callgrind_inclusive(*sys.argv[2:])
    else:
        compare(*sys.argv[1:])
