#!/usr/bin/env python3
"""bench_addr2line.py BUILD [PROGRAM...]: lines and inlined functions, compared with what binutils and
LLVM answer for the same addresses of a program with debug information. Goal: >= 99.9 % as addr2line
-fi, or proven: where it answers something else, LLVM and readelf are asked what the debug
information says, and the differences are counted by their reasons. SHOW=1 shows some of each.
ASKED=PROGRAM: the same code, for the other readers, where they cannot read what we are to (after
dwz -m, or with units of types)."""
import bisect, collections, os, re, shutil, subprocess, sys

build = os.path.abspath(sys.argv[1])
programs = [os.path.abspath(path) for path in sys.argv[2:]] or [f'{build}/{name}' for name in
                            ('adaptrace', 'targets/step_throw', 'targets/step_panic')]
MOST = int(os.environ.get('ADDRESSES', 50000))


def addresses(program):
    """Addresses spread over the code, as hex numbers."""
    for line in subprocess.check_output(['readelf', '-SW', program], text=True).splitlines():
        found = re.search(r'\] \.text\s+(?:PROGBITS|NOBITS)\s+(\w+) \w+ (\w+)', line)
        if found:
            start, size = int(found[1], 16), int(found[2], 16)
            return [f'{start + at:x}' for at in range(0, size, size // MOST + 1)]


def ask(command, text):
    """{address: [(function, file, line)]}, innermost first."""
    out = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True,
                         stderr=subprocess.DEVNULL, check=True).stdout
    answers, lines = {}, iter(out.splitlines())
    for line in lines:
        if re.fullmatch('0x[0-9a-f]+', line):
            chain = answers.setdefault(int(line, 16), [])
        elif line:
            place = re.sub(r' \(discriminator \d+\)', '', next(lines))
            file, number = place.rsplit(':', 1)
            number = re.match(r'\d*', number)[0]
            chain.append((line, os.path.normpath(file), int(number or 0)))
    return answers


def demangled(answers):
    """Names as c++filt without limits writes them: each of the readers spells them otherwise, and
    gives up somewhere else."""
    names = sorted({name for chains in answers for chain in chains.values() for name, _, _ in chain})
    raw = [name for name in names if re.match('_[ZR]', name)]
    clear = subprocess.run(['c++filt', '-r', '-i'], input='\n'.join(raw), stdout=subprocess.PIPE, text=True,
                           check=True).stdout.splitlines() if raw else []
    clear = dict(zip(raw, clear))
    return [{address: [(clear.get(name, name), file, line) for name, file, line in chain]
             for address, chain in chains.items()} for chains in answers]


def rows(program):
    """[(address, file name, line)] as readelf decodes the line tables, by address."""
    out = subprocess.run(['readelf', '--debug-dump=decodedline', '-W', program], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, errors='replace').stdout
    found = re.findall(r'^(\S+)\s+(\d+|-)\s+(0x[0-9a-f]+|0)\b', out, re.M)
    return sorted(((int(at, 16), number, file, line) for number, (file, line, at) in
                   enumerate(found)), key=lambda row: row[:2])


def row_of(table, address):
    """The (file name, line) that holds at an address; an end of a sequence ("-") is none."""
    at = bisect.bisect_right(table, (address, len(table))) - 1
    return table[at][2:] if at >= 0 else None


def places(chain):
    """Without names. A file that is not known has no line, and is the symbol's with some."""
    chain = [(file, line) if line or '/' in file else ('', 0) for _, file, line in chain]
    return [] if chain == [('', 0)] else chain


def names(chain):
    return [name for name, _, _ in chain[:-1]]


def same(one, other):
    return places(one) == places(other) and names(one) == names(other)


def are_scoped(ours, theirs):
    """Whether our names are theirs, or these behind the scope that the function is in."""
    return len(ours) == len(theirs) and all(one == other or one.endswith('::' + other)
                                            for one, other in zip(ours, theirs))


def unknown(chain):
    """Without debug information addr2line names the file of the symbol, and no line."""
    return len(chain) == 1 and (not chain[0][1].startswith('/') or not chain[0][2])


def reason(address, chain, theirs, third, table):
    """Why addr2line says something else where debug information is with us; None: it is not known
    to be. LLVM reads it independently, and readelf decodes line tables by other code."""
    base = [re.sub(r' \[clone.*', '', name) for name in names(theirs)]
    if places(chain) == places(theirs) and are_scoped(names(chain), names(theirs)):
        return 'names with their scopes, which addr2line leaves out'
    if len(chain) == len(theirs) and places(chain) == places(theirs) and are_scoped(names(chain), names(third)):
        if all(are_scoped([one], [other]) or other in (chain[-1][0], third[-1][0])
               for one, other in zip(names(chain), base)):
            return 'symbol in place of an inlined function that has no linkage name'
    if places(chain) == places(third) and are_scoped(names(chain), names(third)):
        return 'functions or files that LLVM reads as we do'
    row = row_of(table, address)
    if row and chain and names(chain) == names(theirs) and places(chain)[1:] == places(theirs)[1:] and \
            row == (os.path.basename(chain[0][1]), str(chain[0][2])):
        return 'file that readelf reads as we do'
    return None


def show(examples):
    for kind, found in examples.items():
        if kind != 'as addr2line':
            for example in found[::max(1, len(found) // 4)][:4]:
                print(kind, hex(example[0]), *example[1:], sep='\n   ')


def compare(program):
    text = ''.join(f'0x{address}\n' for address in addresses(program))
    asked = os.environ.get('ASKED', program)
    ours = ask([build + '/bench/bench_symbolize', '--print', program], text)
    gnu = ask(['addr2line', '-afi', '-e', asked], text)
    llvm = ['llvm-symbolizer', '-afi', '--no-demangle', '--output-style=GNU', '-e', asked]
    llvm = ask(llvm, text) if shutil.which(llvm[0]) else {}
    ours, gnu, llvm = demangled([ours, gnu, llvm])
    kinds, examples, table = collections.Counter(), {}, None
    for address, chain in ours.items():
        theirs, third = gnu[address], llvm.get(address, [])
        if same(chain, theirs) or not places(chain) and unknown(theirs):
            kind = 'as addr2line'
        else:
            table = rows(asked) if table is None else table
            kind = reason(address, chain, theirs, third, table) or 'NOT EXPLAINED'
        kinds[kind] += 1
        examples.setdefault(kind, []).append((address, chain, theirs, third))
    total = sum(kinds.values())
    equal, bad = kinds.pop('as addr2line', 0), kinds.pop('NOT EXPLAINED', 0)
    percent = lambda n: f'{100 * n / total:.3f} %'
    print(f'{os.path.basename(program)}: {total} addresses: as addr2line {percent(equal)}, proven '
          f'otherwise {percent(sum(kinds.values()))}, not explained {percent(bad)}; goal 99.9 %')
    for kind, n in kinds.most_common():
        print(f'    {n}: {kind}')
    if os.environ.get('SHOW'):
        show(examples)


for program in programs:
    if os.path.exists(program):
        compare(program)
