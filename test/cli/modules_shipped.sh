#!/bin/sh
# The modules that are installed, read by the programs that they write for: promtool, an InfluxDB, a reader
# of the public definition of pprof's profiles; LDMS and Pyroscope have stand-ins. First lines with names
# that are hard to quote, then those of a recording.
. "$(dirname "$0")/scenario"
modules=$here/../../share/modules
# A program of a large Debian package, which need not be installed for it: the path, or nothing.
of_package() { # PROGRAM PACKAGE
	command -v "$1" && return
	fetched=${ADAPTRACE%/*}/$1
	[ -x "$fetched" ] || (mkdir "$2" && cd "$2" && apt-get download "$2" && dpkg -x "$2"*.deb . &&
		mv "usr/bin/$1" "$fetched") >/dev/null 2>&1
	[ ! -x "$fetched" ] || echo "$fetched"
}

# -- stand-ins and servers ----------------------------------------------------------------------
mkdir bin
cat >bin/ldmsd_stream_publish <<'END'
#!/bin/sh
echo "$*" >ldms.options
cat >ldms.lines
END
chmod 755 bin/*
cat >server <<'END'
import email, http.server, os

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "ingest?" in self.path:  # a form with one file
            head = "Content-Type: " + self.headers["Content-Type"] + "\n\n"
            (file,) = email.message_from_bytes(head.encode() + body).get_payload()
            assert file.get_param("name", header="content-disposition") == "profile"
            open("posted.path", "w").write(self.path)
            open("posted.new", "wb").write(file.get_payload(decode=True))
            os.rename("posted.new", "posted.pb.gz")
        else:
            open("posted.influx", "ab").write(body)
        self.send_response(204)
        self.end_headers()

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open("port.new", "w").write(str(server.server_port))
os.rename("port.new", "port")
server.serve_forever()
END
python3 server 2>/dev/null &
background="$background $!"
influxd=$(of_package influxd influxdb)
influx_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
influx_url=http://127.0.0.1:$influx_port
if [ -n "$influxd" ]; then
	INFLUXDB_META_DIR=$work/meta INFLUXDB_DATA_DIR=$work/data INFLUXDB_DATA_WAL_DIR=$work/wal \
		INFLUXDB_HTTP_BIND_ADDRESS=127.0.0.1:$influx_port INFLUXDB_BIND_ADDRESS=127.0.0.1:0 \
		INFLUXDB_REPORTING_DISABLED=true "$influxd" -config /dev/null >influxd.log 2>&1 &
	background="$background $!"
	await curl -sS --fail -o answer "$influx_url/query" --data-urlencode 'q=CREATE DATABASE runs'
else
	echo "no influxd (influxdb): its lines were read by their rules alone"
fi
promtool=$(of_package promtool prometheus)
[ -n "$promtool" ] || echo "no promtool (prometheus): the metrics were not checked by it"
await [ -e port ]
url=http://127.0.0.1:$(cat port)
cat >read_shares.py <<'END'
# The shares of functions as an InfluxDB has them, in a list of (event, function, module, share).
import json, sys, urllib.parse, urllib.request

def shares(url):
    query = urllib.parse.urlencode({"db": "runs", "epoch": "ns", "q": "SELECT * FROM adaptrace"})
    (result,) = json.load(urllib.request.urlopen(f"{url}/query?{query}"))["results"]
    for series in result.get("series", []):
        for row in series["values"]:
            row = dict(zip(series["columns"], row))
            yield row["event"], row["function"], row["module"], row["share"], row["samples"], row["time"]
END

# -- names that are hard to quote ---------------------------------------------------------------
cat >hard.py <<'END'
import json

NAMES = ["operator,(a=b, c)", 'operator""_x', "a b", "back\\slash", "back\\", "two\\\\", "new\nline", "=", ",", '"',
         "#", "ünïcode ∑", "\x1b[31m", "{}", "<T[3], std::map<int, char>>", "tab\there", "\\,", "\\n", "' or 1=1"]

def lines():
    yield {"watch": 1, "trace": '/tmp/a b,c="d"\\.atr', "pid": 1, "start_ns": 5, "real_start_ns": 1764369000000000000,
           "events": [{"name": "cache-misses:u", "unit": ""}], "sample": ["ns", "thread", "path"]}
    rows = [{"symbol": name, "module": "lib, 1=.so", "self": 10 + i, "samples": i} for i, name in enumerate(NAMES)]
    rows.append({"symbol": "", "module": "", "self": 1, "samples": 1})
    rows.append({"symbol": "idle", "module": "x", "self": 0, "samples": 0})
    yield {"time_ns": 7, "left_out": 2, "event": "cycles:u", "samples": 100, "total_weight": 1000, "functions": rows}
    yield {"time_ns": 8, "left_out": 0, "event": "cycles:u", "samples": 0, "total_weight": 0, "functions": []}

def samples():
    yield next(lines())
    yield {"time_ns": 7, "left_out": 0, "weights": [1000], "threads": [[0, 1, 1, "a"]], "first_ns": 6,
           "functions": [[i, name, "m"] for i, name in enumerate(NAMES)],
           "paths": [[i + 1, 0, i] for i in range(len(NAMES))], "nr": len(NAMES),
           "samples": [n for i in range(len(NAMES)) for n in (1, 0, i + 1)]}
    yield {"state": "ended"}

if __name__ == "__main__":
    import sys
    for line in (lines if sys.argv[1] == "tables" else samples)():
        print(json.dumps(line))
END
export PYTHONPATH=$work:$here
python3 hard.py tables >hard.tables
python3 hard.py samples >hard.samples
for module in prometheus influx ldms pyroscope; do
	"$modules/$module" </dev/null >said 2>&1 && fail "$module with nothing to write to"
	grep -q "$module .*FILE\|$module .*URL\|usage: $module" said && ! grep -q Traceback said ||
		fail "$module: $(cat said)"
done
"$modules/prometheus" hard.prom <hard.tables || fail "prometheus"
[ -z "$promtool" ] || "$promtool" check metrics <hard.prom || fail "promtool: $(cat hard.prom)"
"$modules/influx" hard.influx <hard.tables || fail "influx"
if [ -n "$influxd" ]; then
	"$modules/influx" "$influx_url/write?db=runs" <hard.tables 2>said || fail "influx: $(cat said)"
	[ ! -s said ] || fail "influxd: $(cat said)"
	check "$influx_url" <<'END'
import hard, read_shares, sys

(_, line, _) = hard.lines()
def kept(text):  # a line of the protocol can hold neither a newline nor a backslash at the end of a name
    return text.replace("\n", " ").rstrip("\\") or "-"
rows = sorted((row for row in line["functions"] if row["self"]), key=lambda row: -row["self"])[:20]
wanted = {("cycles:u", kept(row["symbol"]), kept(row["module"]), row["self"] / 1000, row["samples"],
           1764369000000000002) for row in rows}
found = set(read_shares.shares(sys.argv[1]))
assert found == wanted, (found - wanted, wanted - found)
END
	curl -sS -o answer "$influx_url/query" --data-urlencode 'db=runs' --data-urlencode 'q=DROP MEASUREMENT adaptrace'
fi
"$modules/pyroscope" "$url" hard <hard.samples || fail "pyroscope"
[ "$(cat posted.path)" = "/ingest?name=hard&from=1764369000&until=1764369001" ] || fail "$(cat posted.path)"
read_profile() { # CODE
	if command -v protoc >/dev/null; then
		check "$@"
	else
		echo "no protoc (protobuf-compiler): the profile was not read"
	fi
}
read_profile <<'END'
import convert_check, hard

stacks = convert_check.read_pprof_stacks("posted.pb.gz")["cache-misses"]
assert sorted(stacks) == sorted(([name], 1000) for name in hard.NAMES), stacks
END

# -- a recording --------------------------------------------------------------------------------
mv posted.pb.gz hard.pb.gz
need_sampling
start_recording -F 1000 -o x.atr "$TARGETS/shares" 100000 >/dev/null 2>errors
! grep -q "no room in /dev/shm" errors || skip "no room in /dev/shm"
PATH=$work/bin:$PATH "$ADAPTRACE" watch $recorder --samples --interval 0.2 \
	--module "$modules/ldms profile -x sock -h localhost" --module "$modules/pyroscope $url shares" 2>said2 &
samples=$!
[ -n "$influxd" ] || influx_url=$url
"$ADAPTRACE" watch $recorder --interval 0.2 --module "$modules/prometheus x.prom" \
	--module "$modules/influx x.influx" --module "$modules/influx '$influx_url/write?db=runs'" 2>said3 &
tables=$!
background="$background $samples $tables"
await sh -c "grep -qs six x.prom && grep -qs six x.influx && cp x.prom y.prom && [ -s ldms.lines ]"
sleep 1
kill $recorder
wait $recorder
wait $samples || fail "watch --samples ended with $?: $(cat said2)"
wait $tables || fail "watch --tables ended with $?: $(cat said3)"
[ ! -s said2 ] && [ ! -s said3 ] || fail "$(cat said2 said3)"
[ ! -e x.prom ] || fail "metrics of a recording that has ended"
grep -q '^adaptrace_function_ratio{trace=".*x.atr",event=".*",function="six",module="shares"} 0\.' y.prom ||
	fail "$(cat y.prom)"
[ -z "$promtool" ] || "$promtool" check metrics <y.prom || fail "promtool: $(cat y.prom)"

if [ -n "$influxd" ]; then
	check "$influx_url" <<'END'
import collections, read_shares, sys

sums = collections.Counter()
for event, function, module, share, samples, _ in read_shares.shares(sys.argv[1]):
    assert 0 < share <= 1 and samples > 0
    sums[function] += share
assert sums.most_common(1)[0][0] == "six", sums
END
	cp x.influx posted.influx
fi
# A line of InfluxDB, read by its rules: commas and spaces end a part unless they are escaped.
cat >influx.py <<'END'
import re, sys

NAME = r"(?:[^\\,= \n]|\\[,= ]|\\(?![,= ]))+"
LINE = re.compile(rf"({NAME})((?:,{NAME}={NAME})*) ([a-z]+=[0-9.e-]+i?(?:,[a-z]+=[0-9.e-]+i?)*) ([0-9]+)")
shares = {}
for line in sys.stdin.read().splitlines():
    found = LINE.fullmatch(line)
    assert found, line
    tags = dict(re.split(r"(?<!\\)=", tag, maxsplit=1) for tag in re.split(r"(?<!\\),", found[2])[1:])
    assert set(tags) == {"hostname", "trace", "event", "function", "module"}, tags
    fields = dict(field.split("=") for field in found[3].split(","))
    assert fields["samples"].endswith("i") and 0 < float(fields["share"]) <= 1, line
    assert 1e18 < int(found[4]) < 4e18, line
    shares[tags["function"]] = shares.get(tags["function"], 0) + float(fields["share"])
print(max(shares, key=shares.get))
END
for file in x.influx posted.influx; do
	[ "$(python3 influx.py <$file)" = six ] || fail "$file: $(head -c 300 $file)"
done
python3 influx.py <hard.influx >found || fail "hard.influx: $(cat hard.influx)"

[ "$(cat ldms.options)" = "-x sock -h localhost -s profile -t json -l -f /dev/stdin" ] || fail "ldms: $(cat ldms.options)"
check <<'END'
import json

lines = [json.loads(line) for line in open("ldms.lines")]
assert lines[0]["watch"] == 1 and lines[-1] == {"state": "ended"} and any("samples" in line for line in lines)
assert open("posted.path").read().startswith("/ingest?name=shares&from=")
END
read_profile <<'END'
import collections, convert_check

leaves = collections.Counter()
stacks = convert_check.read_pprof_stacks("posted.pb.gz")["cpu"]
for stack, weight in stacks:
    leaves[stack[-1]] += weight
assert any("main" in stack for stack, _ in stacks), stacks
assert leaves.most_common(1)[0][0] == "six" and leaves["six"] > 1e6, leaves
END
go_pprof=$(go env GOTOOLDIR 2>/dev/null)/pprof
if [ -x "$go_pprof" ]; then
	for file in hard posted; do
		"$go_pprof" -top $file.pb.gz >top || fail "pprof does not read $file.pb.gz"
	done
	grep -q ' six$' top || fail "$(cat top)"
fi
pass
