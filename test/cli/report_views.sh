#!/bin/sh
# Callers, callees and code of a function, trees to a depth, and tables by process.
. "$(dirname "$0")/scenario"
need_sampling

cp "$TARGETS/contexts" app
recorded -m 1M -F 1000 ./app 64 0.4 >said

echo "-- callers and callees"
check <<'END'
import recording

rows = {row["symbol"]: row for row in recording.report()["functions"]}


def walk(nodes, depth=1):
    for node in nodes:
        yield depth, node
        yield from walk(node.get("children", []), depth + 1)


def view(option, name, *more):
    report = recording.report("adaptrace.atr", option, name, *more)
    assert report["direction"] == option[2:], report
    roots = [root for tree in report["trees"] for root in tree["children"]]
    assert [root["symbol"] for root in roots] == [report["function"]["symbol"]], roots
    return report["function"], roots


# A function below itself counts once, in rows as in views.
for option in "--callers", "--callees":
    for name in "left", "explore", "main":
        function, roots = view(option, name, "--all")
        row = rows[name]
        assert function["total"] == row["total"] == roots[0]["total"], (function, row)
        assert function["self"] == row["self"] and function["samples"] == row["samples"]
        for _, node in walk(roots):
            below = sum(child["total"] for child in node["children"])
            assert below + node.get("self", 0) <= node["total"], node
            assert option == "--callers" or below + node["self"] == node["total"], node

function, roots = view("--callers", "burn_step", "--all")
assert "main" in [node["symbol"] for _, node in walk(roots)]
function, roots = view("--callees", "explore", "--all")
assert "burn_step" in [node["symbol"] for _, node in walk(roots)]
for option in "--callers", "--callees":
    function, roots = view(option, "left", "--all", "--max-depth=2")
    assert max(depth for depth, _ in walk(roots)) == 2
tree = recording.report("adaptrace.atr", "--tree", "--all", "--max-depth=3")
assert max(depth for depth, _ in walk(tree["trees"][0]["children"])) == 3
END

echo "-- names"
"$ADAPTRACE" report --callers no_such_function >out 2>err && fail "a function that is not there"
one_complaint err no_such_function || fail "$(cat err)"
[ ! -s out ] || fail "output about nothing"
"$ADAPTRACE" report --callers brun_until >out 2>err && fail "a misspelt name"
grep -q "did you mean 'burn_until'" err || fail "$(cat err)"
"$ADAPTRACE" report --callees burn_ >out 2>err && fail "a part of several names"
grep -q "^adaptrace: 'burn_' may be [0-9]* functions" err && grep -qx '  burn_until' err || fail "$(cat err)"
"$ADAPTRACE" report --callers urn_ste | grep -q '^callers of burn_step: ' || fail "a part of one name"
"$ADAPTRACE" report --callees left -q | head -1 | grep -q ' 100.00% .* left$' || fail "rows alone"
for wrong in "--tree --max-depth=0" "--tree --max-depth=x" --max-depth=3 --callers= "--callers=a --callees=b" --sort=process,process
do
	"$ADAPTRACE" report $wrong >out 2>err
	[ $? = 2 ] && [ ! -s out ] || fail "$wrong is understood"
done

echo "-- a part of the run"
check <<'END'
import re
import recording

part = recording.report("adaptrace.atr", "--time", "25%,75%")
samples = sum(row["samples"] for row in part["functions"])
head = recording.output_of("report", "--time", "25%,75%", "adaptrace.atr").decode().split("\n\n")[0]
assert head.splitlines()[-1].startswith("shown: from "), head
assert re.search(rf" of the run, {samples} of \d+ samples$", head), (head, samples)
for span in "0.1,0.2", "0.1s,0.2s":
    head = recording.output_of("report", "--time", span, "adaptrace.atr").decode()
    assert "\nshown: from 100.0 ms to 200.0 ms of the run, " in head, head
assert "\nshown:" not in recording.output_of("report", "adaptrace.atr").decode().split("\n\n")[0]
END

"$ADAPTRACE" report --time 150%, >said 2>errors
[ $? = 2 ] && grep -q 'after the end of the run' errors || fail "$(cat said errors)"

echo "-- code"
cat >annotated.py <<'END'
import recording


def inside(sample):
    """The frames of the leaf: what was inlined, and the function around it."""
    for frame in sample["stack"]:
        yield frame["symbol"]
        if not frame["inlined"]:
            return


def check(name):
    report = recording.report("adaptrace.atr", "--annotate", name)
    function, code, lines = report["function"], report["code"], report["lines"]
    total = function["self"]
    factor = ([scaled["factor"] for scaled in report["scaled"]] or [1])[0]
    want = sum(sample["weight"] for sample in recording.samples() if name in inside(sample))
    # Every sample's weight was rounded, if it was scaled.
    assert abs(total - want * factor) <= function["samples"] * (factor != 1), (function, want)
    assert sum(line["self"] for line in lines) == total, lines
    assert sum(line["samples"] for line in lines) == function["samples"]
    assert sum(i["self"] for c in code for i in c["instructions"]) == total, code
    for line in lines:
        if line["source"] is not None:
            with open(line["file"]) as file:
                assert file.read().splitlines()[line["line"] - 1] == line["source"], line
    assert all(c["begin"] <= i["offset"] < c["end"] for c in code for i in c["instructions"]), code
    return total


assert check("burn_step") > 0
check("turn")  # which is inlined
END
python3 annotated.py || fail "code"
check <<'END'
import recording

report = recording.report("adaptrace.atr", "--annotate", "burn_step")
assert any(line["source"] for line in report["lines"]), report["lines"]
for code in report["code"]:
    if code["problem"] is None:
        assert all(i["text"] and i["text"] != "(bad)" for i in code["instructions"]), code
    else:
        assert "without a disassembler" in code["problem"], code
whole = recording.report("adaptrace.atr", "--annotate", "burn_step", "--all")["code"]
for code, least in zip(whole, report["code"]):
    offsets = [i["offset"] for i in code["instructions"]]
    assert offsets == sorted(set(offsets))
    assert code["problem"] or offsets[0] == code["begin"]
    assert {i["offset"] for i in least["instructions"]} <= set(offsets)
END
"$ADAPTRACE" report --annotate burn_step >out
grep -q '^code of burn_step: ' out && grep -q '%.* x = x \*' out || fail "$(cat out)"

echo "-- the same code in another file"
cp app again && mv again app
"$ADAPTRACE" report --annotate burn_step | grep ': its file ' && fail "not the same"

echo "-- code that has gone"
rm app
cp "$TARGETS/threads" app
"$ADAPTRACE" report --annotate burn_step | grep -q ': its file has changed since$' || fail "another file"
python3 annotated.py || fail "code of another file"
rm app
mkfifo app
"$ADAPTRACE" report --annotate burn_step | grep -q ': its file ' || fail "a pipe"
rm app
"$ADAPTRACE" report --annotate burn_step | grep -q ': its file is gone$' || fail "no file"
python3 annotated.py || fail "code without a file"

echo "-- the kernel's code is where it is in memory"
recorded -e page-faults -o kernel.atr "$TARGETS/burn" 0.1 >said
check <<'END'
import os
import subprocess

import recording

names = [row["symbol"] for row in recording.report("kernel.atr")["functions"]
         if row["module"] == "[kernel]" and row["self"] and "+0x" not in row["symbol"]]
for name in names[:1]:
    text = subprocess.check_output([os.environ["ADAPTRACE"], "report", "--annotate", name,
                                    "kernel.atr"], text=True)
    assert "[kernel] [ffff" in text, text
    places = [part["offset"] for code in recording.report("kernel.atr", "--annotate", name)["code"]
              for part in code["instructions"]]
    assert places and all(f" {place:x}" in text for place in places), (places, text)
END

echo "-- processes"
for way in '' --inherit; do
	recorded $way -o two.atr sh -c '"$TARGETS/quarters" 2 0.1 & "$TARGETS/quarters" 1 0.2; wait' >said
	check <<'END'
import recording

report = recording.report("two.atr", "--sort", "process,comm")
rows = [row for row in report["functions"] if "unsampled" not in row]
factors = {scaled["comm"]: scaled["factor"] for scaled in report["scaled"]}
sums = recording.weights(recording.samples("two.atr"),
                         lambda sample: (sample["pid"], sample["comm"]))
assert {(row["pid"], row["comm"]) for row in rows} == set(sums), (rows, sums)
for row in rows:
    want = sums[row["pid"], row["comm"]] * factors.get(row["comm"], 1)
    # Every sample's weight was rounded, if it was scaled.
    assert abs(row["self"] - want) <= row["samples"] * (row["comm"] in factors), (row, want)
assert len([pid for pid, comm in sums if comm == "quarters"]) == 2, sums
END
done

echo "-- names in wide letters"
cp "$TARGETS/quarters" 日本語
recorded -o wide.atr sh -c './日本語 1 0.1; "$TARGETS/quarters" 1 0.1' >said
check <<'END'
import unicodedata

import recording

def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)

lines = recording.output_of("report", "-s", "comm,cpu,symbol", "--limit=20", "wide.atr").decode().splitlines()
title, = (line for line in lines if "comm" in line and "symbol" in line)
places = {columns(line[:line.index(comm)] + comm) + len(line.split(comm)[1]) - len(line.split(comm)[1].lstrip())
          for comm in ("日本語", "quarters") for line in lines[lines.index(title) + 1:] if comm in line.split()}
assert places == {title.index("cpu")}, (places, title)
END
pass
