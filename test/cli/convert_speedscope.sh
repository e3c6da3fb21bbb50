#!/bin/sh
# speedscope: its schema, where npm has installed it, and the numbers.
. "$(dirname "$0")/convert_traces"
check_format speedscope .speedscope.json
"$ADAPTRACE" info --json plain.atr >info.json
python3 -c 'import json
threads = {"%s %d" % (t["comm"], t["tid"]) for t in json.load(open("info.json"))["threads"]}
names = {p["name"].partition(":")[0] for p in json.load(open("plain.speedscope.json"))["profiles"]}
assert names == threads, names'
release=$(npm root -g 2>/dev/null || echo none)/speedscope/dist/release
schema=$release/file-format-schema.json
if [ -e "$schema" ] && python3 -c 'import jsonschema' 2>/dev/null; then
	for kind in plain reduced hostile; do
		python3 -c 'import json, sys, jsonschema
jsonschema.validate(*(json.load(open(f)) for f in sys.argv[1:]))' $kind.speedscope.json "$schema"
	done
else
	echo "the schema is not checked: no speedscope from npm, or no python3-jsonschema"
fi

# The program itself: what it calls the profiles, and how much is in the first one.
if [ -e "$release/index.html" ] && [ -n "$browser" ]; then
	for kind in plain hostile; do
		echo "speedscope.loadFileFromBase64('$kind.json', '$(base64 -w0 $kind.speedscope.json)')" >$kind.js
		in_browser "file://$release/index.html#localProfilePath=$work/$kind.js" >$kind.html
		grep -aq '<title>.* - speedscope</title>' $kind.html || fail "speedscope does not load $kind"
		grep -aq '<title>owned' $kind.html && fail "a name was executed"
	done
	grep -aq '<tr title="app 100"' plain.html || fail "speedscope does not show the threads"
else
	echo "speedscope itself was not run: it is not installed by npm, or there is no chromium"
fi
pass
