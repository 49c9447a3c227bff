"""verify-engines: installs vLLM into an environment of its own, runs the cases, prints a table and their count."""

from __future__ import annotations

import argparse
import pathlib
import shutil
import sys
import tempfile
import time

import environment
from cases import CASES
from rig import Failed, Rig


def main() -> int:
    parser = argparse.ArgumentParser(prog="./orbitkv verify-engines", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"some of: {', '.join(CASES)} (default: all)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the prompts and orders")
    parser.add_argument("--prompts", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--keep", action="store_true", help="keep the logs also if all passed")
    options = parser.parse_args()
    unknown = sorted(set(options.cases) - set(CASES))
    if unknown:
        parser.error(f"case {unknown[0]} is not known; there are: {', '.join(CASES)}")
    environment.make()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="orbitkv-engines-"))
    print(f"seed {options.seed}, {options.prompts} prompts, logs in {folder}", file=sys.stderr, flush=True)
    rig = Rig(folder, options.seed, options.prompts)
    passed = failed = 0
    try:
        rig.compute()
        for name in options.cases or CASES:
            began = time.monotonic()
            try:
                seen, good = CASES[name](rig), True
            except (Failed, RuntimeError) as e:
                seen, good = str(e), False
            finally:
                rig.end()
            passed, failed = passed + good, failed + (not good)
            print(f"{'passed' if good else 'FAILED'}  {name:<28} {time.monotonic() - began:6.1f} s  {seen}", flush=True)
    finally:
        rig.end()
    if not failed and not options.keep:
        shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed, {len(CASES) - passed - failed} not run")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
