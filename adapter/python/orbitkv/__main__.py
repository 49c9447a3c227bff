"""``python -m orbitkv ping|stat SOCKET``: whether a Manager answers, and its state."""

from __future__ import annotations

import argparse
import json
import sys
import time

from . import OrbitKVError, connect


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m orbitkv", description=__doc__)
    parser.add_argument("command", choices=("ping", "stat"))
    parser.add_argument("socket", nargs="?", help="the Manager's socket; by default what ORBITKV_CHANNEL_CONFIG says")
    parser.add_argument("--count", type=int, default=1000, help="round trips of ping (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.count < 1:
        parser.error(f"--count {options.count} must be at least 1")
    try:
        with connect(options.socket, timeout=options.timeout) as client:
            if options.command == "stat":
                print(json.dumps(client.status(), indent=2))
                return 0
            times = []
            for _ in range(options.count):
                begin = time.perf_counter_ns()
                client.ping()
                times.append(time.perf_counter_ns() - begin)
    except (OrbitKVError, ValueError) as e:
        print(f"orbitkv: {e}", file=sys.stderr)
        return 1
    times.sort()
    p50, p99 = times[len(times) // 2] / 1e3, times[len(times) * 99 // 100] / 1e3
    print(f"{len(times)} round trips: p50 {p50:.1f} us, p99 {p99:.1f} us, longest {times[-1] / 1e3:.1f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
