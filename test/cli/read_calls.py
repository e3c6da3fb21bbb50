#!/usr/bin/env python3
"""read_calls.py FILE <DUMP: another reader of instrumented calls, written from adaptrace-trace(5)
alone. DUMP is what `adaptrace dump --json FILE` prints; both must have the same calls."""
import json
import struct
import sys

from read_trace import Bytes, Trace, unzigzag

# What parts of a kind have: c(omm) p(eer) t(ag) b(ytes) i(n) r(equest)
PARTS = ["cptb", "cptb", "cptbr", "r", "r", "cptbr", "r", "r", "cpbi", "r", "cpbir", "c", "c",
         "cpb", "cpb", "cpb", "b", "b", "b", "ct", "c", "cbi", "cbi", "cir", "cbir", "cir",
         "cbir"]
NAMES = ["send", "receive", "send-posted", "send-done", "receive-posted", "receive-done",
         "test-failed", "cancelled", "collective", "collective-posted", "collective-done",
         "communicator-created", "communicator-freed", "put", "get", "atomic", "read", "write",
         "value", "file-opened", "file-closed", "read", "write", "read-posted",
         "read-done", "write-posted", "write-done"]
POSTED, VALUE = (2, 4, 9, 23, 25), 18


def signed32(value):
    return (value & 0xffffffff ^ 0x80000000) - 0x80000000


def swapped(value):
    return int.from_bytes(value.to_bytes(8, "little"), "big")


class Calls(Bytes):
    def __init__(self, data, base):
        super().__init__(data, base)
        self.threads, self.nr_threads, self.thread = {}, 0, None
        self.shapes, self.nr_parts = [], 0

    def control(self):
        byte = self.byte()
        if byte == 254:
            self.thread = self.threads[self.byte()]
            return self.byte()
        if byte == 255:
            self.thread = dict(thread=self.varint(), enter=self.time, last=self.time, posted=0,
                               done=0)
            self.threads[self.nr_threads % 256] = self.thread
            self.nr_threads += 1
            return self.byte()
        return byte

    def part(self):
        part = dict(kind=self.byte())
        for has in PARTS[part["kind"]].replace("r", ""):
            value = self.varint()
            if has in "pt":
                value = signed32(unzigzag(value))
            elif has == "b" and part["kind"] == VALUE:
                value = swapped(value)
            part[has] = value
        return part

    def shape(self, control):
        """A shape, and whether it was known."""
        if control < 253:
            if control >= 240:
                control = 240 + 256 * (control - 240) + self.byte()
            return self.shapes[control], True
        flags, region, depth = self.byte(), self.varint(), self.varint()
        if flags & 128:
            self.varint()  # the place that made the call
        nr = self.byte()
        return dict(flags=flags, region=region, depth=depth,
                    parts=[self.part() for _ in range(nr)]), False

    def request(self, part, written):
        which = "posted" if part["kind"] in POSTED else "done"
        part["r"] = self.thread[which] + 1
        if written:
            part["r"] += unzigzag(self.varint())
        if part["kind"] != 6:
            self.thread[which] = part["r"]

    def difference(self, part, flags):
        for has in PARTS[part["kind"]].replace("r", ""):
            if has in "pt" and flags & 64:
                part[has] = signed32(part[has] + unzigzag(self.varint()))
            elif has == "b" and flags & 32 and part["kind"] == VALUE:
                part["b"] ^= swapped(self.varint())
            elif has in "bi" and flags & 32:
                part[has] += unzigzag(self.varint())

    def next(self):
        shape, known = self.shape(self.control())
        flags, thread = shape["flags"], self.thread
        if not flags & 8:
            gap, duration = self.varint(), self.varint()
            thread["enter"] = thread["last"] + (-gap if flags & 4 else gap)
            thread["last"] = thread["enter"] + duration
        parts = [dict(part) for part in shape["parts"]]
        for part in parts:
            if "r" in PARTS[part["kind"]]:
                self.request(part, flags & 16)
        if known:
            for part, kept in zip(parts, shape["parts"]):
                self.difference(part, flags)
                kept.update((k, v) for k, v in part.items() if k != "r")
        elif len(self.shapes) < 1024 and self.nr_parts + len(parts) <= 2048:
            self.shapes.append(shape)
            self.nr_parts += len(parts)
        self.time = thread["last"]
        return (flags, thread["thread"], shape["region"], thread["enter"], thread["last"],
                shape["depth"], parts)


def calls(trace):
    last = None
    for at in sorted(trace.bins(), key=lambda at: (trace.data[at + 5], trace.data[at + 6],
                                                   *struct.unpack_from("<I", trace.data, at + 8))):
        (_, use, event, level, _, _, size, _, nr, base, shift) = struct.unpack_from(
            "<IBBBBIIIIQB", trace.data, at)
        if use != 4 or level < trace.events[event][4]:
            continue
        records = Calls(trace.data[at + 40:at + 40 + size], base)
        for _ in range(nr):
            flags, thread, region, enter, leave, depth, parts = records.next()
            if last:
                parts = last + parts
            last = parts if flags & 2 else None
            if not last:
                yield thread, region, enter << shift, leave << shift, depth, level, parts
        assert records.at == size


def shown(part):
    if part["kind"] == VALUE:
        return [NAMES[VALUE], struct.unpack("<d", struct.pack("<Q", part["b"]))[0]]
    peer = part.get("p")
    return [NAMES[part["kind"]], part.get("c"), None if peer == -1 else peer, part.get("t"),
            part.get("b"), part.get("i"), part.get("r")]


def dumped(part):
    if part["kind"] == "value":
        return ["value", part["value"]]
    return [part["kind"]] + [part.get(k, part.get(of_file)) for k, of_file in (
        ("communicator_number", "file_number"), ("peer", ""), ("tag", "mode"), ("bytes", ""),
        ("bytes_in", "asked"), ("request", ""))]


def main(path):
    with open(path, "rb") as file:
        trace = Trace(file.read())
    regions = [trace.string(r[0]) for r in trace.entries("REGIONS", "<IIII")]
    mine = [[enter, leave, trace.threads[thread][1], regions[region], depth, level,
             [shown(p) for p in parts]]
            for thread, region, enter, leave, depth, level, parts in calls(trace)]
    theirs = [[c["time_ns"], c["end_ns"], c["tid"], c["call"], c["depth"], c["level"],
               [dumped(p) for p in c["parts"]]]
              for c in map(json.loads, sys.stdin) if "call" in c]
    mine.sort(key=json.dumps)
    theirs.sort(key=json.dumps)
    assert mine and len(mine) == len(theirs), (len(mine), len(theirs))
    for a, b in zip(mine, theirs):
        assert a == b, (a, b)


if __name__ == "__main__":
    main(sys.argv[1])
