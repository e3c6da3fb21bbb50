"""Exit status 0 where the kernel lets this user sample its own time at all."""

import ctypes
import platform
import struct
import sys

# perf_event_open
CALL = 298 if platform.machine() == "x86_64" else 241
CPU_CLOCK = 0
EXCLUDE_KERNEL_HV = 1 << 5 | 1 << 6
attr = struct.pack("=IIQQQQQ", 1, 112, CPU_CLOCK, 1000000, 1, 0, EXCLUDE_KERNEL_HV)
fd = ctypes.CDLL(None).syscall(CALL, attr.ljust(112, b"\0"), 0, -1, -1, 0)
sys.exit(fd < 0)
