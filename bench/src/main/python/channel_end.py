"""The Python end of `orbitkv bench channel`: channel_end.py SOCKET.

Speaks by lines as channel_loop.c does. Needs the package orbitkv.
"""

import json
import os
import sys
import time

import orbitkv


def measure(ping, pace_ns, length_ns):
    clock = time.perf_counter_ns
    found = []
    start = following = clock()
    while True:
        if pace_ns:
            left = following - clock()
            if left > 0:
                time.sleep(left / 1e9)
            following += pace_ns
        begun = clock()
        ping()
        ended = clock()
        found.append(ended - begun)
        following = max(following, ended)
        if ended - start >= length_ns:
            break
    found.sort()

    def micros(share):
        return found[int(len(found) * share)] / 1e3

    return {
        "operations": len(found),
        "p50_us": micros(0.5),
        "p99_us": micros(0.99),
        "p999_us": micros(0.999),
    }


def main():
    with orbitkv.connect(sys.argv[1]) as client:
        client.ping()
        print("ready", os.getpid(), 0, flush=True)
        for line in sys.stdin:
            words = line.split()
            if len(words) == 2:
                found = measure(client.ping, int(words[0]) * 1000, int(float(words[1]) * 1e9))
                print(json.dumps(found), flush=True)
            else:
                print("idle", flush=True)


if __name__ == "__main__":
    main()
