"""Runs all tests and writes a line of JSON for each: ``python3 -m tests.report FILE``. For a runner of another language."""

from __future__ import annotations

import json
import sys
import time
import unittest
from typing import Any, TextIO


class Lines(unittest.TextTestResult):
    """Writes each test's end to a file, at once."""

    file: TextIO

    def startTest(self, test: unittest.TestCase) -> None:
        self._begun = time.monotonic()
        self._outcome, self._detail = "passed", ""
        super().startTest(test)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._failed(self.failures[-1][1])

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._failed(self.errors[-1][1])
        if not isinstance(test, unittest.TestCase):  # of a class's or a module's own set-up
            self._write(str(test), "failed", self.errors[-1][1], 0)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            text = (self.failures or self.errors)[-1][1]
            self._failed(f"{subtest}: {text}")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._outcome, self._detail = "skipped", reason

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self._failed("succeeded against expectation")

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self._write(test.id(), self._outcome, self._detail, int((time.monotonic() - self._begun) * 1000))

    def _failed(self, detail: str) -> None:
        self._outcome = "failed"
        self._detail = f"{getattr(self, '_detail', '')}{detail}"

    def _write(self, test: str, outcome: str, detail: str, millis: int) -> None:
        print(json.dumps({"test": test, "outcome": outcome, "detail": detail, "millis": millis}), file=self.file, flush=True)


def main(path: str) -> int:
    """Exit code 0 if none failed."""
    with open(path, "w", encoding="utf-8") as file:
        Lines.file = file
        suite = unittest.defaultTestLoader.discover("tests", top_level_dir=".")
        result = unittest.TextTestRunner(resultclass=Lines, verbosity=2).run(suite)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
