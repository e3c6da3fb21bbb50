#!/bin/sh
# Programs in shared memory are programs, though most code there is made at run time: with their
# names, be there a build-id or not. Code that is made there is not.
. "$(dirname "$0")/scenario"
need_sampling

shm=$(mktemp -d /dev/shm/test-XXXXXX) || skip "there is no /dev/shm"
trap 'rm -rf "$shm"; leave' EXIT
objcopy -R .note.gnu.build-id "$TARGETS/chain" "$shm/program" 2>/dev/null || skip "there is no objcopy"
"$shm/program" exec 1 0 >/dev/null || skip "/dev/shm is mounted noexec"

named() { # COMMAND...
	echo "-- $*"
	recorded -m 1M -F 1000 "$@" >said
	check <<'END'
import recording
samples = [s for s in recording.samples() if s["comm"] != "python3"]
named = [s for s in samples if s["stack"] and "burn_step" in [f["symbol"] for f in s["stack"]]]
assert len(named) > 100 and len(named) > 0.8 * len(samples), (len(named), len(samples))
assert not [s for s in named if not s["complete"]][5:]
END
}

named "$shm/program" exec 1 300000
named python3 -c 'import os, sys
fd = os.memfd_create("copy")
os.write(fd, open(sys.argv[1], "rb").read())
os.execve(fd, ["copy", "exec", "1", "300000"], os.environ)' "$shm/program"

echo "-- made there"
cat >made.py <<'END'
import ctypes, mmap, os, sys, time
fd = os.memfd_create("jit") if len(sys.argv) < 2 else os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 4096)
# 1: dec %rdi; jnz 1b; ret
os.write(fd, b"\x48\xff\xcf\x75\xfb\xc3")
code = mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
at = ctypes.addressof(ctypes.c_char.from_buffer(code))
spin = ctypes.CFUNCTYPE(None, ctypes.c_long)(at)
end = time.process_time() + 0.3
while time.process_time() < end:
    spin(1000000)
END
[ "$(uname -m)" = x86_64 ] || pass
for file in '' "$shm/made"; do
	recorded -m 1M -F 1000 python3 made.py $file
	check <<'END'
import recording
made = [s for s in recording.samples() if s["stack"][0]["module"] == "[anon]"]
assert len(made) > 100, len(made)
END
done
pass
