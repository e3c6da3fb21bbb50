#!/usr/bin/env python3
"""bench_addr2line.py BUILD [PROGRAM...]: lines and inlined functions, compared with what binutils and
LLVM answer for the same addresses of a program with debug information. Goal: >= 99.9 % as addr2line
-fi. Where it answers something else, llvm-symbolizer is asked who is right."""
import collections, os, re, shutil, subprocess, sys, tempfile

build = os.path.abspath(sys.argv[1])
programs = [os.path.abspath(path) for path in sys.argv[2:]] or [f'{build}/{name}' for name in
                            ('adaptrace', 'targets/step_throw', 'targets/step_panic')]
MOST = 50000


def addresses(program):
    """Addresses spread over the code, as hex numbers."""
    for line in subprocess.check_output(['readelf', '-SW', program], text=True).splitlines():
        found = re.search(r'\] \.text\s+PROGBITS\s+(\w+) \w+ (\w+)', line)
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


def places(chain):
    """Without names; a file that is not known has no line."""
    chain = [(file, line) if file != '??' else ('', 0) for _, file, line in chain]
    return [] if chain == [('', 0)] else chain


def names(chain):
    return [name for name, _, _ in chain[:-1]]


def same(one, other):
    return places(one) == places(other) and names(one) == names(other)


for program in programs:
    if not os.path.exists(program):
        continue
    text = ''.join(f'0x{address}\n' for address in addresses(program))
    ours = ask([build + '/bench/bench_symbolize', '--print', program], text)
    gnu = ask(['addr2line', '-afiC', '-e', program], text)
    llvm = ask(['llvm-symbolizer', '-afiC', '--output-style=GNU', '-e', program], text) \
        if shutil.which('llvm-symbolizer') else {}
    kinds, examples = collections.Counter(), {}
    for address, chain in ours.items():
        theirs, third = gnu[address], llvm.get(address, [])
        if same(chain, theirs) or not places(chain) and not theirs[0][1].startswith('/'):
            kind = 'as addr2line'
        elif same(chain, third):
            kind = 'as LLVM, not addr2line'
        elif same(theirs, third):
            kind = 'NOT as addr2line and LLVM'
        else:
            kind = 'as neither'
        kinds[kind] += 1
        examples.setdefault(kind, []).append((address, chain, theirs, third))
    total = sum(kinds.values())
    print(f'{os.path.basename(program)}: {total} addresses: ' +
          ', '.join(f'{kind} {100 * n / total:.3f} %' for kind, n in kinds.most_common()))
    if os.environ.get('SHOW'):
        for kind, list_ in examples.items():
            if kind != 'as addr2line':
                for e in list_[:: max(1, len(list_) // 4)][:4]:
                    print(kind, hex(e[0]), *e[1:], sep='\n   ')
