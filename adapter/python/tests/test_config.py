"""ORBITKV_CHANNEL_CONFIG, each in a process of its own, since a process reads it once."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from .fake import FakeManager
from .support import environment

SCRIPT = """
import sys, orbitkv
path = sys.argv[1] or None
try:
    with orbitkv.connect(path, timeout=20) as client:
        print("connected", client.socket_path)
except orbitkv.OrbitKVError as e:
    print(type(e).__name__, e)
"""


class ConfigTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="okvcfg-", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "domain"

    def connect(self, config: str, socket: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, socket],
            env={**environment(), "ORBITKV_CHANNEL_CONFIG": config},
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        return done.stdout.strip()

    def test_its_socket_is_the_only_one(self) -> None:
        def script(fake: FakeManager) -> None:
            fake.greet()
            header, _ = fake.frame()
            fake.send(13, header.request_id, b"")

        with FakeManager(script) as fake:
            self.file.write_text(f"# a domain\n\nsocket={fake.path}\ninstance = ours\n")
            self.assertEqual(self.connect(str(self.file)), f"connected {fake.path}")
            said = self.connect(str(self.file), "/tmp/another.sock")
            self.assertRegex(said, "ConfigError socket /tmp/another.sock is not .*the only one")

    # Guard: each check of ChannelConfig; a line is one way to be wrong.
    def test_anything_wrong_with_it_is_refused(self) -> None:
        good = f"socket={self.folder}/s\n"
        (self.folder / "real").mkdir()
        (self.folder / "link").symlink_to(self.folder / "real")
        self.file.write_text(good)
        (self.folder / "linked").symlink_to(self.file)
        os.mkfifo(self.folder / "pipe")
        for config, reason in (
            ("domain", "absolute"),
            (f"{self.folder}/../{self.folder.name}/domain", "absolute"),
            (str(self.folder), "regular file"),
            (str(self.folder / "pipe"), "regular file"),
            (str(self.folder / "linked"), "symlink"),
            (str(self.folder / "missing"), "can not be looked at"),
        ):
            self.assertRegex(self.connect(config), f"ConfigError .*{reason}")
        for text, reason in (
            ("", "names no socket"),
            ("socket=relative", "absolute"),
            (f"socket={self.folder}/link/s", "symlink"),
            (f"socket={self.folder}/nowhere/s", "can not be looked at"),
            (f"socket={self.folder}/domain/s", "not a folder|can not be looked at"),
            (good + good, "twice"),
            (good + "color=red", "no key=value"),
            (good + "word", "no key=value"),
            (good + "manager-uid=-1", "no user id"),
            (good + "instance=", "1 to 64"),
            (good + f"registry-directory={self.folder}/nowhere", "can not be looked at"),
            (good + "#" * (64 << 10), "longer than"),
        ):
            with self.subTest(text[:40]):
                self.file.write_text(text)
                self.assertRegex(self.connect(str(self.file)), f"ConfigError .*({reason})")
        self.file.write_bytes(good.encode() + b"\xff")
        self.assertRegex(self.connect(str(self.file)), "ConfigError .*UTF-8")
        self.file.write_text(good)
        self.assertRegex(self.connect(str(self.file)), "ManagerUnavailable ")

    def test_without_it_a_socket_must_be_named(self) -> None:
        self.assertRegex(self.connect(""), "ConfigError ORBITKV_CHANNEL_CONFIG is not set")
