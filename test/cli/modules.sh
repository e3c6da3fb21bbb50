#!/bin/sh
# Modules of adaptrace watch: the shipped ones say what others read, and one that stops reading, crashes
# or floods is in nobody's way.
# Waits: for modules to be given up.
. "$(dirname "$0")/scenario"
need_sampling
modules=$here/../../share/modules
proto=$here/../../src/output/convert

start_recording -F 1000 -o x.atr "$TARGETS/shares" 100000 >/dev/null 2>errors
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"

# Some that fail. The first reads a line now and then; its pipe has room for a page.
cat >slow <<'END'
import fcntl, json, time

fcntl.fcntl(0, fcntl.F_SETPIPE_SZ, 4096)
left_out = 0
for line in open(0):
    left_out += json.loads(line).get("left_out", 0)
    open("left", "w").write(str(left_out))
    time.sleep(0.3)
END
cat >steers <<'END'
read -r first
echo '{"mark":"of a module"}'
head -c 5000 /dev/zero
echo
echo '{"ctl":"pause","recording":true,"seconds":0.1}'
echo '{"ctl":"leap"}'
cat >/dev/null
END
"$ADAPTRACE" watch $recorder --interval 0.1 --module 'python3 slow' --module 'kill -SEGV $$' \
	--module 'yes' --module 'sleep 6' --module 'sh steers' 2>said &
bad=$!

# The shipped ones, against stand-ins.
mkdir bin
cat >bin/ldmsd_stream_publish <<'END'
#!/bin/sh
echo "$*" >ldms.options
cat >ldms.lines
END
chmod 755 bin/*
cat >server <<'END'
import http.server, os

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        open("posted" + self.path.split("/")[1].split("?")[0], "ab").write(self.path.encode() + b"\n" + body)
        self.send_response(204)
        self.end_headers()

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open("port.new", "w").write(str(server.server_port))
os.rename("port.new", "port")
server.serve_forever()
END
python3 server 2>/dev/null &
background="$background $bad $!"
await sh -c "[ -e port ]"
url=http://127.0.0.1:$(cat port)
PATH=$work/bin:$PATH "$ADAPTRACE" watch $recorder --samples --interval 0.2 \
	--module "$modules/ldms profile -x sock -h localhost" --module "$modules/pyroscope $url shares" 2>said2 &
samples=$!
"$ADAPTRACE" watch $recorder --interval 0.2 --module "$modules/prometheus x.prom" \
	--module "$modules/influx x.influx" --module "$modules/influx '$url/write?bucket=x'" 2>said3 &
tables=$!
background="$background $samples $tables"
await sh -c "grep -qs six x.prom && grep -qs six x.influx && cp x.prom y.prom && [ -s ldms.lines ]"
await sh -c "grep -qs '[1-9]' left"
sleep 1
kill $recorder
wait $recorder
wait $samples || fail "watch --samples ended with $?: $(cat said2)"
wait $tables || fail "watch --tables ended with $?: $(cat said3)"
wait $bad && fail "modules that failed are not told"
[ ! -s said2 ] && [ ! -s said3 ] || fail "$(cat said2 said3)"
[ ! -e x.prom ] || fail "metrics of a recording that has ended"

grep -q "module 'kill -SEGV .* was killed by signal 11" said || fail "no crash: $(cat said)"
grep -q "[0-9] lines of module 'yes' were not carried out" said || fail "no flood: $(cat said)"
check <<'END'
import recording

info = recording.info("x.atr")
assert info["samples"]["taken"] == info["samples"]["stored"] + info["samples"]["reduced"], info["samples"]
assert info["samples"]["lost"] == 0, info["samples"]
actions = [(a["action"], a["text"]) for a in info["actions"]]
assert ("mark", "of a module") in actions, actions
assert [a for a, _ in actions].count("pause") == 1 and len(actions) < 4, actions
assert int(open("left").read()) > 0, "a slow module lost nothing"
END

# A line of InfluxDB, read by its rules: commas and spaces end a part unless they are escaped.
cat >influx.py <<'END'
import re, sys

NAME = r"(?:[^\\,= \n]|\\[,= ]|\\(?![,= ]))+"
LINE = re.compile(rf"({NAME})((?:,{NAME}={NAME})*) ([a-z]+=[0-9.e-]+i?(?:,[a-z]+=[0-9.e-]+i?)*) ([0-9]+)")
shares = {}
for line in sys.stdin.read().splitlines():
    found = LINE.fullmatch(line)
    assert found, line
    tags = dict(tag.split("=", 1) for tag in re.split(r"(?<!\\),", found[2])[1:])
    assert set(tags) == {"hostname", "trace", "event", "function", "module"}, tags
    fields = dict(field.split("=") for field in found[3].split(","))
    assert fields["samples"].endswith("i") and 0 < float(fields["share"]) <= 1, line
    assert 1e18 < int(found[4]) < 4e18, line
    shares[tags["function"]] = shares.get(tags["function"], 0) + float(fields["share"])
assert max(shares, key=shares.get) == "six", shares
END
python3 influx.py <x.influx || fail "x.influx"
sed '/^.write/d' postedwrite | python3 influx.py || fail "posted lines: $(head -c 300 postedwrite)"
[ "$(cat ldms.options)" = "-x sock -h localhost -s profile -t json -l -f /dev/stdin" ] || fail "ldms: $(cat ldms.options)"
check <<'END'
import io, gzip, json

lines = [json.loads(line) for line in open("ldms.lines")]
assert lines[0]["watch"] == 1 and lines[-1] == {"state": "ended"} and any("samples" in line for line in lines)
posted = open("postedingest", "rb").read()
assert posted.startswith(b"/ingest?name=shares&from="), posted[:100]
packed = io.BytesIO(posted[posted.index(b"\x1f\x8b"):])
open("profile", "wb").write(gzip.GzipFile(fileobj=packed).read1(1 << 24))
END
if command -v protoc >/dev/null; then
	protoc --decode=pprof.Profile -I "$proto" pprof.proto <profile >decoded || fail "pprof"
	check <<'END'
import collections, re

text = open("decoded").read()
strings = re.findall(r'^string_table: "(.*)"$', text, re.M)
names = {int(i): strings[int(n)] for i, n in re.findall(r"^function {\n  id: (\d+)\n  name: (\d+)", text, re.M)}
leaves = collections.Counter()
for location, value in re.findall(r"^sample {\n  location_id: (\d+)(?:\n  location_id: \d+)*\n  value: (\d+)", text, re.M):
    leaves[names[int(location)]] += int(value)
assert strings[0] == "" and "nanoseconds" in strings and "main" in names.values(), strings
assert leaves.most_common(1)[0][0] == "six" and leaves["six"] > 1e6, leaves
END
fi

# The real promtool, of the package prometheus, which need not be installed for that.
promtool=$(command -v promtool) || {
	promtool=${ADAPTRACE%/*}/promtool
	[ -x "$promtool" ] || (mkdir deb && cd deb && apt-get download prometheus && dpkg -x prometheus*.deb . &&
		mv usr/bin/promtool "$promtool") >/dev/null 2>&1
}
grep -q '^adaptrace_function_ratio{trace=".*x.atr",event=".*",function="six",module="shares"} 0\.' y.prom ||
	fail "$(cat y.prom)"
[ ! -x "$promtool" ] || "$promtool" check metrics <y.prom || fail "promtool: $(cat y.prom)"
pass
