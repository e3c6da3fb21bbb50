#!/usr/bin/env python3
"""Another reader of traces, written from adaptrace-trace(5) alone.

Prints what `adaptrace dump --json` prints, so far as both can know it: one JSON array a line, of
time, pid, tid, command, CPU, event, level, weight, the counters by name and the frames of the stack
as numbers with their file, line and whether they are inlined, sorted.
"""
import bisect
import json
import struct
import sys

SECTIONS = dict(RUN=1, STRINGS=2, EVENTS=3, STREAMS=4, MODULES=5, THREADS=6, COMMANDS=7,
                REDUCTIONS=8, GRANULES=9, BINS=10, SYMBOLS=11, SOURCES=12, LINES=13,
                REGIONS=14, COUNTERS=20)
ANY_CPU = 0xffffffff
KERNEL, ANON = 3, 4  # kinds of modules


class Trace:
    def __init__(self, data):
        magic, version, nr, size, _ = struct.unpack_from('<8sIIQQ', data)
        assert magic == b'ADAPTRC\0' and version == 11 and size == len(data)
        self.data = data
        self.sections = {}
        for i in range(nr):
            kind, step, at, size, _ = struct.unpack_from('<IIQQQ', data, 32 + 32 * i)
            self.sections[kind] = (at, step, size // step)
        run, = self.entries('RUN', '<' + 'I' * 8 + 'ii' + 'I' * 4)
        self.bin_shift, self.sub_shift = run[11], run[12]
        self.events = list(self.entries('EVENTS', '<IIQIIQQ'))
        self.periods = {(s[0], s[1]): s[2] for s in self.entries('STREAMS', '<IIQQQ')}
        self.modules = list(self.entries('MODULES', '<IBB20sHiQ'))
        self.threads = list(self.entries('THREADS', '<iiIIQQQ'))
        self.granules = [g for g, in self.entries('GRANULES', '<I')]
        self.symbols = list(self.entries('SYMBOLS', '<IIII'))
        self.sources = list(self.entries('SOURCES', '<IIII'))
        self.lines = list(self.entries('LINES', '<III'))
        self.counters = [self.string(c[0]) for c in self.entries('COUNTERS', '<IIIIQQQ')]

    def entries(self, name, layout):
        at, step, nr = self.sections.get(SECTIONS[name], (0, 0, 0))
        for i in range(nr):
            yield struct.unpack_from(layout, self.data, at + i * step)

    def string(self, offset):
        at = self.sections[SECTIONS['STRINGS']][0] + offset
        return self.data[at:self.data.index(b'\0', at)].decode(errors='replace')

    def weight(self, event, cpu):
        _, _, base, shift, floor, _, _ = self.events[event]
        base = self.periods.get((event, cpu), self.periods.get((event, ANY_CPU), base))
        return base << max(shift, floor)

    def stack(self, leaf, node):
        frames = [leaf]
        while node:
            frame, node = self.node(node)
            frames.append(frame)
        return frames

    def node(self, node):
        at = 16 * node
        number = self.granules[at >> self.bin_shift]
        at = (self.sections[SECTIONS['BINS']][0] + (number - 1 << self.bin_shift) +
              at % (1 << self.bin_shift))
        frame, _, parent = struct.unpack_from('<QII', self.data, at)
        return frame & (1 << 48) - 1, parent

    def source(self, module, offset):
        """The number of a frame's source + 1, or 0."""
        function = bisect.bisect(self.symbols, (module, offset, 1 << 32, 0)) - 1
        line = bisect.bisect(self.lines, (module, offset, 1 << 32)) - 1
        if function < 0 or line < 0 or self.lines[line][0] != module:
            return 0
        of, lo, hi, _ = self.symbols[function]
        return self.lines[line][2] if of == module and lo <= self.lines[line][1] and offset < hi else 0

    def places(self, frame):
        module, offset = frame >> 32, frame & 0xffffffff
        number = self.source(module, offset)
        if module and self.modules[module][1] in (KERNEL, ANON):
            offset |= self.modules[module][6] << 32
        if not module or not number:
            return [[offset if module else None, None, None, False]]
        found = []
        while number:
            _, file, line, number = self.sources[number - 1]
            found.append([offset, self.string(file) or None, line or None, number != 0])
        return found

    def bins(self):
        first, size, nr = self.sections[SECTIONS['BINS']]
        for at in range(first, first + nr * size, size):
            if self.data[at + 7] == self.bin_shift:
                yield at
            else:
                yield from range(at, at + size, 1 << self.sub_shift)

    def samples(self):
        for at in self.bins():
            (_, use, event, level, shift, _, record_bytes, _, nr, base, time_shift,
             nr_counters, owner) = struct.unpack_from('<IBBBBIIIIQBBB', self.data, at)
            if use != 1 or level < self.events[event][4]:
                continue
            records = Records(self.data[at + 40:at + 40 + record_bytes], base, owner, self)
            counters = Counters(records, nr_counters)
            for _ in range(nr):
                time, thread, cpu, context, leaf = records.next()
                stream = records.stream_of(thread, cpu)
                yield (time << time_shift, event, level, thread, cpu, context, leaf, stream,
                       counters.next(stream))
            assert records.at == len(records.data)


def unzigzag(value):
    return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)


class Bytes:
    """The records of a bin, as bytes."""

    def __init__(self, data, base):
        self.data, self.at, self.time = data, 0, base

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def little(self, size):
        self.at += size
        return int.from_bytes(self.data[self.at - size:self.at], 'little')

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


class Records(Bytes):
    def __init__(self, data, base, owner, trace):
        super().__init__(data, base)
        self.trace = trace
        self.stream_of = (lambda thread, cpu: thread) if owner else (lambda thread, cpu: cpu)
        self.sites, self.nr_sites, self.thread = {}, 0, 0
        self.streams, self.stream, self.step = {}, None, 0
        self.pairs, self.turn, self.leaves = [], 0, []
        self.contexts, self.context_turn = [], 0
        self.blocks, self.last = {}, (0, 0)
        self.new_blocks, self.nr_modules = [], 0
        self.trails, self.trail, self.vicinities = [0, 0], 0, {}

    def likely_cpu(self, which):
        if self.stream is None:
            return 0
        stream = self.streams[self.stream]
        return (self.streams[stream['next']] if which == 'next' else stream)['site'][1]

    def number(self):
        byte = self.byte()
        return byte if byte < 240 else 240 + 256 * (byte - 240) + self.byte()

    def switch(self, code):
        if code >= 31:
            if code == 63:
                value = self.varint()
                self.thread = self.thread + unzigzag(value >> 1) & 0xffffffff
                cpu = self.varint() if value % 2 else self.likely_cpu('next')
            else:
                near, last = divmod(code - 31, 2)
                self.thread = self.thread + near - 3 & 0xffffffff
                cpu, second = self.likely_cpu('next'), self.likely_cpu('last')
                if last:
                    cpu = second if second != cpu else cpu ^ 1
            site = self.sites[self.nr_sites % 256] = self.thread, cpu
            self.nr_sites += 1
        else:
            age = self.byte() if code == 30 else code
            site = self.sites[(self.nr_sites - 1 - age) % 256]
        number = self.stream_of(*site) % 256
        if number not in self.streams:
            self.step ^= self.varint()
            self.streams[number] = dict(step=self.step, next=number, last=self.time - self.step)
        if self.stream is not None:
            self.streams[self.stream]['next'] = number
        stream = self.streams[number]
        if self.stream_of(*stream.get('site', site)) != self.stream_of(*site):
            stream['next'] = number
        self.stream = number
        stream['site'] = site

    def new_leaf(self, leaf):
        if len(self.leaves) < 2048:
            self.leaves.append(leaf)
        return leaf

    def block(self, code):
        if code < 232:
            return self.blocks.get(code - 168, 0)
        if code < 252:
            module, high = divmod(code - 232, 5)
            block = self.new_blocks[module] + unzigzag(256 * high + self.byte()) & 0xffffffff
        else:
            assert code == 255
            block = self.varint() << 16 | self.varint()
        self.new_block(block)
        return block

    def new_block(self, block):
        modules = [b >> 16 for b in self.new_blocks]
        if block >> 16 in modules:
            self.new_blocks[modules.index(block >> 16)] = block
        else:
            self.new_blocks[self.nr_modules % 4:self.nr_modules % 4 + 1] = [block]
            self.nr_modules += 1
        self.blocks[block % 64] = block

    def context(self):
        code = self.byte()
        if code < 64:
            self.trail ^= code & 1
            context = self.trails[self.trail] + unzigzag(code >> 1) & 0xffffffff
            self.trails[self.trail] = context
        else:
            if code < 152:
                context = self.vicinities.get(code - 64, 0) << 8 | self.byte()
            elif code < 252:
                context = code - 152 << 16 | self.little(2)
            else:
                context = code - 252 << 24 | self.little(3) if code < 255 else self.little(4)
            self.trails[1 - self.trail] = context
        self.vicinities[(context >> 8) % 88] = context >> 8
        return context

    def leaf(self, context):
        code = self.byte()
        if code < 32:
            return self.leaves[code]
        if code < 40:
            return self.leaves[256 * (code - 32) + self.byte()]
        if code < 168:
            caller = self.trace.node(context)[0]
            value = (256 * (code - 40) + self.byte() if code < 120 else
                     65536 * (code - 120) + self.little(2))
            return self.new_leaf(self.at_distance(caller, value))
        block = self.block(code)
        return self.new_leaf(block << 16 | self.byte() | self.byte() << 8)

    def at_distance(self, leaf, value):
        return leaf >> 32 << 32 | leaf + unzigzag(value) & 0xffffffff

    def near(self, context, leaf):
        value = self.varint()
        if not value:
            return self.leaf(context)
        if value % 2:
            return self.leaves[value >> 1]
        return self.new_leaf(self.at_distance(leaf, value >> 1))

    def known_context(self, number):
        pair = self.contexts[number]
        if number >= 239:
            turn = self.context_turn
            self.contexts[number], self.contexts[turn] = self.contexts[turn], pair
            self.context_turn = (turn + 1) % 239
        return pair

    def pair(self, number):
        pair = self.pairs[number]
        if number >= 240:
            self.pairs[number], self.pairs[self.turn] = self.pairs[self.turn], pair
            self.turn = (self.turn + 1) % 240
        return pair

    def where(self, how):
        if how == 0:
            return self.pair(self.number())
        if how == 1:
            number = self.number()
            pair = self.known_context(number - 1) if number else self.last
            pair = pair[0], self.near(*pair)
        else:
            context = self.context()
            pair = context, self.leaf(context)
            if len(self.pairs) < 4096:
                self.contexts.append(pair)
        if len(self.pairs) < 4096:
            self.pairs.append(pair)
        return pair

    def next(self):
        control = self.byte()
        if control & 3 == 3:
            self.switch(control >> 2)
            control = self.byte()
        else:
            self.stream = self.streams[self.stream]['next']
        stream, residual = self.streams[self.stream], control >> 2
        if 49 <= residual < 60:
            residual = 49 + 256 * (residual - 49) + self.byte()
        elif residual == 63:
            residual = 2865 + self.varint()
        elif residual == 62:
            residual = 2865 + self.little(3)
        elif residual >= 60:
            residual = 2865 + 65536 * (residual - 60) + self.little(2)
        due = (stream['last'] + stream['step']) % 2**64
        self.time = (due + unzigzag(residual) if due > self.time else self.time + residual) % 2**64
        stream['last'] = self.time
        self.last = context, leaf = self.where(control & 3)
        return self.time, *stream['site'], context, leaf


class Counters:
    """The running totals behind the records of a bin."""
    def __init__(self, records, nr):
        self.records, self.nr, self.shifts, self.streams = records, nr, None, {}
        self.usual, self.sums, self.nrs = [0] * nr, [64] * nr, [1] * nr

    def bits(self, nr):
        value = 0
        for i in range(nr):
            if not self.left:
                self.hold, self.left = self.records.byte(), 8
            value |= (self.hold & 1) << i
            self.hold, self.left = self.hold >> 1, self.left - 1
        return value

    def u(self, i):
        k = 0
        while k < 40 and self.nrs[i] << k < self.sums[i]:
            k += 1
        ones = 0
        while ones < 16 and self.bits(1):
            ones += 1
        u = self.bits(self.bits(6) + 1) if ones == 16 else ones << k | self.bits(k)
        self.sums[i] += min(u, 1 << 40)
        self.nrs[i] += 1
        if self.nrs[i] == 16:
            self.sums[i], self.nrs[i] = self.sums[i] // 2, 8
        return u

    def first(self, i):
        length = self.bits(7)
        total = self.bits(length - 1) | 1 << length - 1 if length else 0
        return [total, self.usual[i]]

    def more(self, i, last, step):
        total = (last + step + unzigzag(self.u(i))) % 2**64
        off = (total - last - step) % 2**64
        off -= 2**64 if off >= 2**63 else 0
        step = step + (abs(off) // 2) * (1 if off > 0 else -1) if step else total - last
        self.usual[i] = step % 2**64
        return [total, step % 2**64]

    def next(self, stream):
        if not self.nr:
            return []
        if self.shifts is None:
            self.shifts = [self.records.byte() for _ in range(self.nr)]
        self.hold = self.left = 0
        number, state = self.streams.get(stream % 256, (None, None))
        if number == stream:
            state = [self.more(i, *state[i]) for i in range(self.nr)]
        else:
            state = [self.first(i) for i in range(self.nr)]
        self.streams[stream % 256] = stream, state
        return [total << shift for (total, _), shift in zip(state, self.shifts)]


def from_file(path):
    trace = Trace(open(path, 'rb').read())
    last = {}
    samples = sorted(trace.samples(), key=lambda s: s[:3])
    for time, event, level, thread, cpu, context, leaf, stream, totals in samples:
        pid, tid, comm = trace.threads[thread][:3]
        before = last.setdefault(stream, [0] * len(totals)) if totals else []
        counters = {name: max(total - old, 0)
                    for name, total, old in zip(trace.counters, totals[1:], before[1:])}
        if totals:
            last[stream] = [max(pair) for pair in zip(totals, before)]
        yield [time, pid, tid, trace.string(comm), cpu, trace.string(trace.events[event][0]),
               level, trace.weight(event, cpu), counters,
               [place for f in trace.stack(leaf, context) for place in trace.places(f)]]


def from_dump(lines):
    for line in lines:
        d = json.loads(line)
        yield [d['time_ns'], d['pid'], d['tid'], d['comm'], d['cpu'], d['event'], d['level'],
               d['weight'], d['counters'], [[f[k] for k in ('offset', 'file', 'line', 'inlined')] for f in d['stack']]]


if __name__ == '__main__':
    ours, theirs = sorted(from_file(sys.argv[1]), key=str), sorted(from_dump(sys.stdin), key=str)
    for a, b in zip(ours, theirs):
        if a != b:
            sys.exit(f'read {a}\ndump {b}')
    if len(ours) != len(theirs):
        sys.exit(f'read {len(ours)} samples, dump has {len(theirs)}')
    print(f'{len(ours)} samples agree')
