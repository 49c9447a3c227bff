"""What can go wrong, as exceptions. Each message names the thing, the cause and the fix."""

from __future__ import annotations

import enum


class Fault(enum.IntEnum):
    """Stable fault codes of OrbitKV. Numbers that this release does not know read as UNKNOWN."""

    UNKNOWN = 0
    INVALID = 1
    UNSUPPORTED = 2
    DENIED = 3
    NOT_FOUND = 4
    EXHAUSTED = 5
    IN_USE = 6
    STALE_EPOCH = 7
    STALE_GENERATION = 8
    GRANT_ENDED = 9
    PEER_LOST = 10
    DEADLINE = 11
    CANCELLED = 12
    DEVICE = 13
    CORRUPT = 14
    QUARANTINED = 15
    CLOSING = 16
    INTERNAL = 17

    @classmethod
    def of_wire(cls, number: int) -> "Fault":
        """The code of a wire number."""
        return cls(number) if 0 <= number <= cls.INTERNAL else cls.UNKNOWN

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later, with nothing mended."""
        return self in (Fault.EXHAUSTED, Fault.IN_USE, Fault.PEER_LOST)


class OrbitKVError(Exception):
    """Any failure of this package; ``fault`` is its stable code."""

    def __init__(self, message: str, fault: Fault = Fault.UNKNOWN) -> None:
        super().__init__(message)
        self.fault = fault


class ManagerUnavailable(OrbitKVError):
    """No Manager answers behind the socket: nothing was begun."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Fault.PEER_LOST)


class ManagerLost(OrbitKVError):
    """The session has ended and is final: connect again. What was outstanding may have happened."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Fault.PEER_LOST)


class Refused(OrbitKVError):
    """The Manager refused, before any side effect; ``fault`` says why."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message, fault)


class StaleEpoch(Refused):
    """What was named belongs to an earlier incarnation of the Manager, or to an earlier use of its number."""


class WrongVersion(Refused):
    """The two sides speak different versions of the protocol; the message names both."""

    def __init__(self, message: str) -> None:
        super().__init__(Fault.UNSUPPORTED, message)


class SquattedSocket(OrbitKVError):
    """The socket is held by a process of a user who is not the Manager's."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Fault.DENIED)


class Corrupt(OrbitKVError):
    """The Manager's bytes break the protocol; the session has ended."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Fault.CORRUPT)


class DeadlineExceeded(OrbitKVError, TimeoutError):
    """No answer in time. It says nothing about memory: what was asked for may still happen."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Fault.DEADLINE)


class SaveNotSubmitted(OrbitKVError):
    """A publish that provably never reached the Manager: its ranges are the caller's again."""


class LeaseEnded(OrbitKVError):
    """A lease that has expired or was closed: no copy may begin. Ask for the blocks again."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Fault.GRANT_ENDED)


class Closed(OrbitKVError):
    """This client, memory or handle was closed by its owner."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Fault.PEER_LOST)


class Forked(OrbitKVError):
    """Used in a child made by fork: the parent's session is not the child's. Connect in the child."""

    def __init__(self) -> None:
        super().__init__(
            "this client belongs to the process that connected it, not to its forked child; connect in the child",
            Fault.DENIED,
        )


class ConfigError(OrbitKVError):
    """The channel's configuration file can not be used."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Fault.INVALID)


def refused(code: int, text: str) -> Refused:
    """The exception of a refusal on the wire."""
    fault = Fault.of_wire(code)
    if fault in (Fault.STALE_EPOCH, Fault.STALE_GENERATION):
        return StaleEpoch(fault, text)
    return Refused(fault, text)
