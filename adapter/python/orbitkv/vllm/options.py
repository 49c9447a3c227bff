"""The connector's options: checked once, when an engine starts."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Mapping

MIB = 1 << 20


class OptionError(ValueError):
    """An option that can not be used; the message names it, the cause and the fix."""


@dataclass(frozen=True)
class Options:
    """What ``kv_connector_extra_config`` may say. Durations are seconds, sizes bytes."""

    bootstrap_socket: str = field(metadata={"key": "orbitkv.bootstrap_socket"})
    """The Unix socket of this host's Manager."""
    tp_shard_bootstrap_sockets: tuple[str, ...] = field(
        default=(), metadata={"key": "orbitkv.tp_shard_bootstrap_sockets"}
    )
    """One socket a worker rank, where ranks use Managers of their own; else all use ``bootstrap_socket``."""
    wait_for_full_prefix: bool = field(default=False, metadata={"key": "orbitkv.wait_for_full_prefix"})
    """Asks again for the rest of a prefix, as long as each answer within ``lookup_timeout`` brings more of it."""
    lookup_timeout: float = field(default=1.0, metadata={"key": "orbitkv.lookup_timeout"})
    """How long a request waits for blocks from peers, at most, without progress."""
    staging_bytes: int = field(default=256 * MIB, metadata={"key": "orbitkv.staging_bytes"})
    """Shared memory of each worker that saves travel through. What finds no room in it is not saved."""
    require_manager: bool = field(default=True, metadata={"key": "orbitkv.require_manager"})
    """Refuse to start without a Manager; if false, the engine goes on without it and looks for it again."""
    save: bool = field(default=True, metadata={"key": "orbitkv.save"})
    """False: only load."""
    model_id: str = field(default="", metadata={"key": "orbitkv.model_id"})
    """Names the weights, in place of what is found in the model's files; the operator vouches for it."""

    @classmethod
    def of(cls, extra: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> "Options":
        """Reads ``kv_connector_extra_config``. An unknown key is an error, so that no typing error goes unseen."""
        fields = {f.metadata["key"]: f for f in cls.__dataclass_fields__.values()}
        unknown = sorted(set(extra) - set(fields))
        if unknown:
            raise OptionError(f"option {unknown[0]} is not known; there are: {', '.join(fields)}")
        values: dict[str, Any] = {}
        for key, f in fields.items():
            if key in extra:
                values[f.name] = _typed(key, extra[key])
        if "bootstrap_socket" not in values:
            shards = values.get("tp_shard_bootstrap_sockets", ())
            default = shards[0] if shards else environment.get("ORBITKV_BOOTSTRAP_SOCKET", "")
            if not default:
                raise OptionError(
                    "option orbitkv.bootstrap_socket is missing; give the path of the Manager's socket, which it "
                    "prints when it starts, in kv_connector_extra_config"
                )
            values["bootstrap_socket"] = default
        return cls(**values)

    def socket(self, rank: int) -> str:
        """Where the worker of a rank attaches."""
        if not self.tp_shard_bootstrap_sockets:
            return self.bootstrap_socket
        if rank >= len(self.tp_shard_bootstrap_sockets):
            raise OptionError(
                f"option orbitkv.tp_shard_bootstrap_sockets names {len(self.tp_shard_bootstrap_sockets)} sockets and "
                f"there is a worker of rank {rank}; name one for each rank"
            )
        return self.tp_shard_bootstrap_sockets[rank]


def _typed(key: str, value: Any) -> Any:
    if key in ("orbitkv.bootstrap_socket", "orbitkv.model_id"):
        if not isinstance(value, str) or not value:
            raise OptionError(f"option {key} is {value!r}; give a text")
        return value
    if key == "orbitkv.tp_shard_bootstrap_sockets":
        if not isinstance(value, (list, tuple)) or not value or not all(isinstance(v, str) and v for v in value):
            raise OptionError(f"option {key} is {value!r}; give a list of paths, one for each rank")
        return tuple(value)
    if key == "orbitkv.lookup_timeout":
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.001 <= value <= 3600:
            raise OptionError(f"option {key} is {value!r}; give seconds, 0.001 to 3600")
        return float(value)
    if key == "orbitkv.staging_bytes":
        if isinstance(value, bool) or not isinstance(value, int) or not MIB <= value <= 1 << 40:
            raise OptionError(f"option {key} is {value!r}; give bytes, {MIB} to {1 << 40}")
        return value
    if not isinstance(value, bool):
        raise OptionError(f"option {key} is {value!r}; give true or false")
    return value
