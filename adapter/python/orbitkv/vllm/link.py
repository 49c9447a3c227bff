"""A connection to one Manager that is made again when it is lost."""

from __future__ import annotations

import logging
import threading
from typing import Callable

import orbitkv
from orbitkv import Client, OrbitKVError

logger = logging.getLogger("vllm.orbitkv")

RETRY_SECONDS = 0.5


class ManagerLink:
    """Looks for the Manager again, in a thread that runs only while there is none. Thread-safe.

    A client that was lost is not closed here: what it has mapped may still be copied out of. Who takes it by
    :meth:`lost` closes it.
    """

    def __init__(
        self, socket: str, instance: str, role: str, attached: Callable[[Client], None] = lambda client: None
    ) -> None:
        self.socket = socket
        self._instance = instance
        self._role = role
        self._attached = attached
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._lost: list[Client] = []
        self._closed = threading.Event()
        self._seeker: threading.Thread | None = None

    def start(self, required: bool) -> None:
        """Connects now; without a Manager raises, or goes on looking for it."""
        try:
            self._connect()
        except OrbitKVError as e:
            if required:
                raise RuntimeError(
                    f"OrbitKV: {e} (or let the engine start without it: option orbitkv.require_manager=false)"
                ) from e
            logger.warning("OrbitKV: %s; the engine goes on without it and looks for it every %s s", e, RETRY_SECONDS)
            self._seek()

    @property
    def client(self) -> Client | None:
        """A client whose Manager runs, or None. Never blocks."""
        client = self._client
        if client is None or (client.connected and client.peer_alive()):
            return client
        with self._lock:
            if self._client is client:
                self._client = None
                self._lost.append(client)
        logger.warning("OrbitKV: the Manager behind %s is lost; lookups are misses until it is back", self.socket)
        self._seek()
        return None

    @property
    def epoch(self) -> str:
        """Of the Manager it is connected to; empty without one."""
        client = self.client
        return client.manager_epoch if client else ""

    def lost(self) -> list[Client]:
        """The clients lost since the last call. Each is the caller's to close."""
        with self._lock:
            taken, self._lost = self._lost, []
            return taken

    def close(self) -> None:
        """Ends it, and the client. Does not wait for an attempt that is under way: that ends by itself."""
        with self._lock:
            self._closed.set()
            clients = [*self._lost, *([self._client] if self._client else [])]
            self._client, self._lost = None, []
        for client in clients:
            client.close()

    def _connect(self) -> None:
        client = orbitkv.connect(self.socket, instance=self._instance, role=self._role)
        try:
            self._attached(client)
        except BaseException:
            client.close()
            raise
        with self._lock:
            if not self._closed.is_set():
                self._client = client
                return
        client.close()

    def _seek(self) -> None:
        with self._lock:
            if self._closed.is_set() or (self._seeker is not None and self._seeker.is_alive()):
                return
            self._seeker = threading.Thread(target=self._run, name="orbitkv-seek", daemon=True)
            self._seeker.start()

    def _run(self) -> None:
        while not self._closed.wait(RETRY_SECONDS):
            try:
                self._connect()
            except OrbitKVError as e:
                logger.debug("OrbitKV: still no Manager: %s", e)
                continue
            logger.info("OrbitKV: attached to the Manager behind %s", self.socket)
            return
