#!/bin/sh
# pprof's protobuf, decoded by protoc, and by pprof where Go is.
. "$(dirname "$0")/convert_traces"
command -v protoc >/dev/null || skip "no protoc (protobuf-compiler)"
check_format pprof .pb.gz
# The first mapping is the program's, whatever was sampled first.
python3 - <<'EOF'
from convert_check import read_pprof
profile = read_pprof("plain.pb.gz")
files = [profile["string_table"][m["filename"][0]] for m in profile["mapping"]]
assert files == ["/opt/app", "/usr/lib/libx.so"], files
EOF
# Mappings with their build-ids, and the period of the first event.
zcat reduced.pb.gz | protoc --decode=pprof.Profile -I "$here/../../src/output/convert" pprof.proto >text
grep -q 'a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1' text || fail "no build-id"
grep -q '^period: 1553296$' text || fail "the period is not the last one"
for member in start_time_ns:time_nanos wall_ns:duration_nanos; do
	value=$("$ADAPTRACE" info --json reduced.atr | sed 's/.*"'"${member%:*}"'": *\([0-9]*\).*/\1/')
	[ "$value" -gt 0 ] && grep -q "^${member#*:}: $value$" text || fail "no ${member#*:}"
done
zcat plain.pb.gz | python3 -c 'import sys; data = sys.stdin.buffer.read()
assert data.index(b"cpu_clock") < data.index(b"nanoseconds") < data.index(b"page_faults") < data.index(b"count")'
if command -v go >/dev/null && [ -s "$(go env GOROOT 2>/dev/null)/pkg/tool/$(go env GOOS GOARCH | paste -sd_)/pprof" ]; then
	go tool pprof -top -unit=ns plain.pb.gz | grep -q half || fail "pprof does not read it"
	# By their whole names: those of templates, overloads and Rust's methods differ in brackets.
	go tool pprof -top hostile.pb.gz | grep -qF '{lambda(auto:1&&)#1}<T[3], std::map<int, char>>' ||
		fail "pprof shortens the names of functions"
fi
pass
