#!/bin/sh
# report --fold: the inside of an iteration, from few samples in each of many. The program's steps are
# 25 % first(), 40 % second(), which touches pages at an even rate, and 35 % third().
. "$(dirname "$0")/scenario"
need_sampling

# Steps that others interrupt are not folded.
first=
chrt -r 1 true 2>/dev/null && first='chrt -r 1'
recorded --mpi -F 250 --counters page-faults $first "$TARGETS/folded" 300
"$ADAPTRACE" report --fold --json adaptrace.atr >fold.json || fail "--json ended with $?"
"$ADAPTRACE" report --fold adaptrace.atr >fold.txt || fail "text ended with $?"
"$ADAPTRACE" report --fold --svg adaptrace.atr >fold.svg || fail "--svg ended with $?"
"$ADAPTRACE" report --iterations --json adaptrace.atr >iterations.json || fail "--iterations"
check <<'E'
import json, xml.dom.minidom
fold = json.load(open('fold.json'))
bins = fold['bins']
phases = json.load(open('iterations.json'))['phases']
assert phases[fold['phase'] - 1]['unit'] and phases[fold['phase'] - 1]['iterations'] == fold['iterations_seen']
assert 290 <= fold['iterations_seen'] <= 300, fold['iterations_seen']
print(fold['iterations'], 'of', fold['iterations_seen'], 'iterations,', fold['samples'], 'samples')
assert fold['iterations'] > 150, 'the machine is too busy'

def true_share(function, bin):
    begin, end = {'first': (0, .25), 'second': (.25, .65), 'third': (.65, 1)}[function]
    return max(0, min(end, (bin + 1) / bins) - max(begin, bin / bins)) * bins

functions = {f['symbol']: f for f in fold['functions']}
three = [functions[name] for name in ('first', 'second', 'third')]
errors, covered, whole = [], 0, 0
for b in range(bins):
    ours = sum(f['share'][b] for f in three)
    for f in three:
        share, true = f['share'][b] / ours, true_share(f['symbol'], b)
        errors.append(abs(share - true))
        assert f['low'][b] <= f['share'][b] <= f['high'][b]
        covered += f['low'][b] / ours <= true + .01 and true - .01 <= f['high'][b] / ours
        whole += 1
error = sum(errors) / len(errors)
print('mean error', error, 'bands cover', covered / whole)
assert error <= .02 and covered >= .9 * whole, (error, covered, whole)

totals = {f['symbol']: f for f in fold['totals']}
assert all(totals[name]['samples'] >= functions[name]['samples'] for name in functions), totals.keys()
assert totals['main']['share'] == [1] * bins or totals['main']['samples'] > .97 * fold['samples']
assert all(t <= 1 and t >= f for name in functions
           for t, f in zip(totals[name]['share'], functions[name]['share']))
faults, = fold['counters']
assert faults['name'] == 'page-faults', faults
inside = [r for b, r in enumerate(faults['rate']) if true_share('second', b) > .999]
outside = [r for b, r in enumerate(faults['rate']) if true_share('second', b) < .001]
print('faults a second', inside, outside)
mean = sum(inside) / len(inside)
assert abs(mean / (64 / (.4 * fold['median_ns'] / 1e9)) - 1) < .2, mean
assert all(abs(r) < mean / 4 for r in outside)

svg = xml.dom.minidom.parse('fold.svg').documentElement
assert svg.tagName == 'svg' and len(svg.getElementsByTagName('path')) >= 8
text = open('fold.txt').read()
assert 'one iteration of loop %d' % fold['phase'] in text and 'page-faults' in text
E

"$ADAPTRACE" report --fold=1 adaptrace.atr >one.txt || fail "--fold=1 ended with $?"
"$ADAPTRACE" report --fold=99 adaptrace.atr 2>err && fail "loop 99 was folded"
one_complaint err "'adaptrace.atr' has no such loop;" || fail "$(cat err)"
"$ADAPTRACE" report --fold=x adaptrace.atr 2>err
[ $? = 2 ] || fail "--fold=x: $(cat err)"
"$ADAPTRACE" report --svg adaptrace.atr 2>err
[ $? = 2 ] && grep -q 'svg is not for' err || fail "--svg alone: $(cat err)"
pass
