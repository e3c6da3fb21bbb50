#!/usr/bin/env python3
"""layers.py [BUILD]: checks the structure of src against src/layers; prints what is wrong.

Checked are the includes between folders, the headers that other folders may include, the files of
base, the number of files in a folder, the number of comments that open with a fragment, and, where
BUILD has objects, how many files call each other in a circle.
"""
import pathlib
import re
import subprocess
import sys

SRC = pathlib.Path("src")
MAX_FILES = 60   # in a folder, without its sub-folders
MAX_CIRCLE = 3   # files that call each other in a circle
FRAGMENT = re.compile(r"/\*(?:\n\s*\*)? (?:What|Of|Who|Those|As|Which|That|Whom|Whose) ")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
wrong = []


class Table:
    """src/layers: `FOLDER: FOLDER...`, `public FOLDER: HEADER...`, `files FOLDER: NAME...`, `except FILE -> HEADER`,
    `circle FILE...`, `fragments N`."""

    def __init__(self, path):
        self.allowed, self.public, self.excepted, self.fragments, self.circles = {}, None, set(), None, set()
        self.names = {}
        text = re.sub(r"#.*", "", path.read_text()).replace("\n\t", " ")
        for line in filter(None, map(str.strip, text.splitlines())):
            kind, _, rest = line.partition(" ")
            if kind == "public":
                folder, _, names = rest.partition(":")
                self.public = self.public or set()
                self.public |= {f"{folder.strip()}/{name}" for name in names.split()}
            elif kind == "files":
                folder, _, names = rest.partition(":")
                self.names[folder] = set(names.split())
                self.public = self.public or set()
                self.public |= {f"{folder}/{name}.h" for name in names.split()}
            elif kind == "except":
                self.excepted.add(tuple(rest.replace("->", " ").split()))
            elif kind == "circle":
                self.circles.add(frozenset(rest.split()))
            elif kind == "fragments":
                self.fragments = int(rest)
            else:
                folder, _, names = line.partition(":")
                self.allowed[folder] = names.split()


def may_include(table, folder, header):
    own = header.rpartition("/")[0]
    return own == folder or any(own == a or own.startswith(a + "/") for a in table.allowed[folder])


def check_includes(table, files):
    used = set()
    for path in files:
        name = str(path.relative_to(SRC))
        folder = name.rpartition("/")[0]
        if folder not in table.allowed:
            wrong.append(f"{path}: folder {folder} is not in src/layers")
            continue
        for header in INCLUDE.findall(path.read_text()):
            if "/" not in header: # generated, or of include/
                continue
            if (name, header) in table.excepted:
                used.add((name, header))
            elif not may_include(table, folder, header):
                wrong.append(f"{path}: {folder} may not include {header}")
            elif table.public is not None and header.split("/")[0] != name.split("/")[0] \
                    and header not in table.public:
                wrong.append(f"{path}: {header} is private to its folder; src/layers lists the public ones")
    for name, header in sorted(table.excepted - used):
        wrong.append(f"src/layers: the exception {name} -> {header} is not needed")
    for header in sorted(table.public or ()):
        if not (SRC / header).exists():
            wrong.append(f"src/layers: public header {header} does not exist")


def check_order(table):
    """The folders must be in an order in which each uses earlier ones alone."""
    seen = []
    for folder, names in table.allowed.items():
        for name in names:
            if not any(s == name or s.startswith(name + "/") for s in seen):
                wrong.append(f"src/layers: {folder} uses {name}, which comes later or does not exist")
        seen.append(folder)


def check_files(table, files):
    """Folders stay small, and folders whose files are listed get no others."""
    found = {}
    for path in files:
        found.setdefault(str(path.parent.relative_to(SRC)), set()).add(path.stem)
    for folder in sorted(found):
        count = sum(str(p.parent.relative_to(SRC)) == folder for p in files)
        if count > MAX_FILES:
            wrong.append(f"src/{folder}: {count} files, {MAX_FILES} are the most: make a sub-folder")
    for folder, names in table.names.items():
        for name in sorted(found.get(folder, set()) - names):
            wrong.append(f"src/{folder}/{name} is not listed in src/layers: does it belong to one other folder?")
        for name in sorted(names - found.get(folder, set())):
            wrong.append(f"src/layers: {folder} has no file {name}")


def check_comments(table, files):
    count = sum(len(FRAGMENT.findall(p.read_text())) for p in files)
    if table.fragments is None:
        return
    if count > table.fragments:
        wrong.append(f"{count} comments open with a fragment (What, Of, Who, ...), {table.fragments} did before: "
                     "give each a subject and a verb")
    elif count < table.fragments:
        print(f"lint: {count} comments open with a fragment: 'fragments' in src/layers may be lowered to that")


def calls_between(build):
    """object -> objects that define what it refers to."""
    defined, needed = {}, {}
    objects = [path for path in build.glob("src/**/*.o")
               if (SRC / path.relative_to(build / "src").with_suffix(".c")).exists()]
    listing = subprocess.run(["nm", "-g", "-A", *objects], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        path, entry = line.split(":", 1)
        source = str(pathlib.Path(path).relative_to(build / "src").with_suffix(".c"))
        kind, symbol = entry.split()[-2:]
        needed.setdefault(source, set())
        if kind in "Uwv":
            needed[source].add(symbol)
        elif source.split("/")[0] != "preload":
            defined[symbol] = source
        else:
            defined["preload", symbol] = source
    return {source: {found for s in symbols
                     if (found := defined.get(("preload", s) if source.startswith("preload/") else s, source)) != source}
            for source, symbols in needed.items()}


def circles(graph):
    """Sets of more than one file that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in graph:
        if node not in index:
            visit(node)
    return found


def check_circles(table, build):
    for circle in circles(calls_between(build)):
        if len(circle) > MAX_CIRCLE and frozenset(circle) not in table.circles:
            wrong.append("files call each other in a circle: " + " ".join(circle))


def main():
    table = Table(SRC / "layers")
    files = sorted(p for p in SRC.rglob("*") if p.suffix in (".c", ".h"))
    check_order(table)
    check_includes(table, files)
    check_files(table, files)
    check_comments(table, files)
    if len(sys.argv) > 1:
        check_circles(table, pathlib.Path(sys.argv[1]))
    for line in wrong:
        print(f"lint: {line}")
    sys.exit(bool(wrong))


main()
