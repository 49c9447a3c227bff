"""An isolated domain: the one socket at which the processes of it meet their Manager.

The file that ``ORBITKV_CHANNEL_CONFIG`` names says which. A process reads it once, at its first connect; from then on
it attaches to no other socket. Anything wrong with the file, or with the folders it names, is refused in one line.
"""

from __future__ import annotations

import _thread
import os
import stat

from .errors import ConfigError

VARIABLE = "ORBITKV_CHANNEL_CONFIG"
MAX_BYTES = 64 << 10

_KEYS = ("socket", "manager-uid", "instance", "registry-directory")


class PathIdentity:
    """What the components of a path were when it was looked at: device and inode of each, none of them a symlink."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._components: list[tuple[str, tuple[int, int]]] = []
        at = "/"
        self.mode = self._look(at)
        for name in path.split("/"):
            if name:
                at = os.path.join(at, name)
                self.mode = self._look(at)

    def _look(self, at: str) -> int:
        found = _lstat(self._path, at)
        self._components.append((at, (found.st_dev, found.st_ino)))
        return found.st_mode

    def check(self) -> None:
        """Raises if anything on the way is not what it was."""
        for at, identity in self._components:
            found = _lstat(self._path, at)
            if (found.st_dev, found.st_ino) != identity:
                raise ConfigError(f"{at} is not what it was when this process began; start the process again")


def _lstat(path: str, at: str) -> os.stat_result:
    try:
        found = os.lstat(at)
    except (OSError, ValueError) as e:
        raise ConfigError(f"{path}: {at} can not be looked at ({e}); make it first") from e
    if stat.S_ISLNK(found.st_mode):
        raise ConfigError(f"{path}: {at} is a symlink; write the path without one")
    return found


class ChannelConfig:
    """A domain, read from its file."""

    def __init__(self, name: str) -> None:
        _absolute(f"{VARIABLE}={name}", name)
        self.file = name
        before = PathIdentity(name)
        if not stat.S_ISREG(before.mode):
            raise ConfigError(f"{name} is not a regular file; name one")
        values = _values(name, _read(name))
        before.check()
        if "socket" not in values:
            raise ConfigError(f"{name} names no socket; add a line socket=PATH")
        self.socket = values["socket"]
        _absolute(f"{name}: socket={self.socket}", self.socket)
        if len(os.fsencode(self.socket)) > 107:
            raise ConfigError(f"{name}: socket of more than 107 bytes; use a shorter folder")
        self.instance = values.get("instance")
        if self.instance is not None and not 1 <= len(self.instance.encode()) <= 64:
            raise ConfigError(f"{name}: instance must have 1 to 64 bytes")
        self.manager_uid = _uid(name, values.get("manager-uid"))
        self._folders = [self._folder(os.path.dirname(self.socket))]
        registry = values.get("registry-directory")
        if registry is not None:
            _absolute(f"{name}: registry-directory={registry}", registry)
            self._folders.append(self._folder(registry))

    def check(self, asked: str) -> None:
        """To be asked before and after a socket is used: whether it is the domain's, in the folders of the start."""
        if os.path.abspath(asked) != self.socket:
            raise ConfigError(
                f"socket {asked} is not {self.socket} of {self.file}, the only one that this process may use; drop it,"
                f" or unset {VARIABLE}"
            )
        for folder in self._folders:
            folder.check()
        if os.path.islink(self.socket):
            raise ConfigError(f"{self.socket} is a symlink; remove it")

    def _folder(self, path: str) -> PathIdentity:
        identity = PathIdentity(path)
        if not stat.S_ISDIR(identity.mode):
            raise ConfigError(f"{self.file}: {path} is not a folder; name one")
        return identity


def _absolute(where: str, path: str) -> None:
    if not path.startswith("/") or "\0" in path or os.path.normpath(path) != path or path.startswith("//"):
        raise ConfigError(f"{where} is not an absolute path without . and ..; write one")


def _read(name: str) -> str:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as e:
        raise ConfigError(f"{name} can not be read ({e.strerror}); make it readable") from e
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{name} is longer than {MAX_BYTES} bytes; shorten it")
    try:
        return data.decode()
    except UnicodeDecodeError as e:
        raise ConfigError(f"{name} is not UTF-8; write it so") from e


def _values(name: str, text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        key = key.strip()
        if not equals or key not in _KEYS:
            raise ConfigError(
                f"{name}:{number}: {key!r} is no key=value of this file; the keys are {', '.join(_KEYS)}"
            )
        if key in values:
            raise ConfigError(f"{name}:{number}: {key} is there twice; remove one")
        values[key] = value.strip()
    return values


def _uid(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) < 1 << 31):
        raise ConfigError(f"{name}: manager-uid={text} is no user id; write its number")
    return int(text)


_lock = _thread.allocate_lock()
_of_process: list[ChannelConfig | ConfigError | None] = []


def of_process() -> ChannelConfig | None:
    """The domain of this process, read at the first call; raises at every call if it was wrong at the first."""
    with _lock:
        if not _of_process:
            name = os.environ.get(VARIABLE)
            try:
                _of_process.append(ChannelConfig(name) if name else None)
            except ConfigError as e:
                _of_process.append(e)
        found = _of_process[0]
    if isinstance(found, ConfigError):
        raise ConfigError(str(found))
    return found
