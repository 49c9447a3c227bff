"""Blocks between this client and the Java one, which is the command's."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import subprocess
import tempfile
import unittest

import orbitkv
from orbitkv.__main__ import main

from .support import DEADLINE, LAUNCHER, environment, needs_manager, publish, shared


@needs_manager
class JavaTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="okvjava-", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "file"
        self.key = "key-" + os.urandom(8).hex()
        self.data = os.urandom(300_001)
        self.client = orbitkv.connect(shared().socket, timeout=DEADLINE)
        self.addCleanup(self.client.close)

    def java(self, *arguments: str) -> None:
        line = [str(LAUNCHER), *arguments, "--namespace", "between", "--socket", shared().socket]
        done = subprocess.run(line, env=environment(), capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_java_publishes_python_reads(self) -> None:
        self.file.write_bytes(self.data)
        self.java("put", self.key, str(self.file), "--digest")
        with self.client.query([("between", self.key.encode())]) as lease:
            page = bytearray(lease.blocks[0].bytes)
            lease.copy_into(0, page)
        self.assertEqual(page, self.data)

    def test_what_python_publishes_java_reads(self) -> None:
        publish(self.client, {orbitkv.BlockName("between", self.key.encode()): self.data})
        self.java("get", self.key, str(self.file))
        self.assertEqual(self.file.read_bytes(), self.data)


@needs_manager
class CommandTest(unittest.TestCase):
    def test_ping_and_stat(self) -> None:
        for line, code, said in (
            (["ping", shared().socket, "--count", "10"], 0, "10 round trips: p50 "),
            (["stat", shared().socket], 0, '"sessions"'),
            (["ping", "/tmp/nobody.sock"], 1, ""),
        ):
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                self.assertEqual(main(line), code)
            self.assertIn(said, out.getvalue())
            self.assertEqual(len(err.getvalue().splitlines()), code)
