"""A Manager that dies, a process that forks, a socket with nobody behind it."""

from __future__ import annotations

import multiprocessing
import os
import socket
import tempfile
import threading
import time
import unittest

import orbitkv

from .support import DEADLINE, Manager, finished, name, needs_manager, program, publish, shared, until


@needs_manager
class ManagerKilledTest(unittest.TestCase):
    def setUp(self) -> None:
        self.manager = Manager()
        self.addCleanup(self.manager.end)

    # Guard: Session._serve ending all waits when the pidfd or the socket tells. Without it they last for their timeout.
    def test_waits_end_at_once_and_say_why(self) -> None:
        client = orbitkv.connect(self.manager.socket, timeout=600)
        block = name()
        publish(client, {block: b"bytes"})
        lease = client.query([block])
        memory = client.register(4096)
        self.manager.stop()
        publication = client.publish([orbitkv.Piece(name(), memory, 0, 1)])
        ended: list[BaseException] = []

        def wait(call: object) -> None:
            try:
                call()  # type: ignore[operator]
            except BaseException as e:
                ended.append(e)

        threads = [
            threading.Thread(target=wait, args=(call,))
            for call in (client.ping, client.status, lambda: client.query([name()]), publication.wait)
        ]
        for thread in threads:
            thread.start()
        until("all wait", lambda: len(client._session._pending) == 4)
        begin = time.monotonic()
        self.manager.kill()
        for thread in threads:
            thread.join(DEADLINE)
        self.assertLess(time.monotonic() - begin, DEADLINE)
        self.assertEqual([type(e) for e in ended], [orbitkv.ManagerLost] * 4)
        for e in ended:
            self.assertRegex(str(e), "Manager behind .* is lost, .*; connect again")
            self.assertNotIn("\n", str(e))
        self.assertFalse(client.connected)
        self.assertFalse(client.peer_alive())
        self.assertFalse(publication.retained)  # the Manager has exited, so nothing copies any more
        self.assertFalse(client.activity().manager_alive)
        # What was leased stays readable; what is new is refused without having been submitted.
        page = bytearray(5)
        lease.copy_into(0, page)
        self.assertEqual(page, b"bytes")
        with self.assertRaises(orbitkv.SaveNotSubmitted):
            client.publish([orbitkv.Piece(name(), memory, 0, 1)])
        with self.assertRaises(orbitkv.ManagerLost):
            client.ping()
        memory.close()
        lease.close()
        client.close()

    def test_idle_client_knows_it_by_the_pidfd(self) -> None:
        with orbitkv.connect(self.manager.socket) as client:
            self.assertTrue(client.peer_alive())
            self.manager.kill()
            self.assertFalse(client.peer_alive())
            with self.assertRaises(orbitkv.ManagerLost):
                client.ping()


@needs_manager
class ForkTest(unittest.TestCase):
    # Guard: ForkMark, asked at each use. Without it the child touches memory that it has not mapped, and is killed.
    def test_child_is_refused_and_the_parent_goes_on(self) -> None:
        block = name()
        with orbitkv.connect(shared().socket, instance="fork", role="worker") as client:
            publish(client, {block: b"bytes"})
            lease = client.query([block])
            memory = client.register(4096)
            plan = client.promise([block], redeemers=1)
            assert plan is not None
            claim = client.claim(plan.record, plan.generation)
            publication = client.publish([orbitkv.Piece(name(), memory, 0, 1)])
            calls = (
                client.ping,
                client.status,
                client.pump,
                lambda: client.query([block]),
                lambda: lease.copy_into(0, bytearray(5)),
                lambda: client.register(4096),
                lambda: client.publish([orbitkv.Piece(name(), memory, 0, 1)]),
                lambda: client.claim(0, 1),
                claim.part_ended,
                lambda: memory.buffer,
            )
            child = os.fork()
            if child == 0:
                refused = 0
                try:
                    for call in calls:
                        try:
                            call()
                        except orbitkv.Forked:
                            refused += 1
                    claim.end(False)
                    lease.close()
                    memory.close()
                    client.close()
                    refused += not client.connected
                finally:
                    os._exit(refused)
            _, status = os.waitpid(child, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), len(calls) + 1)
            client.ping()
            self.assertIsNotNone(publication.wait(DEADLINE))
            page = bytearray(5)
            lease.copy_into(0, page)
            self.assertEqual(page, b"bytes")
            claim.copy_into(0, page)
            claim.end()
            lease.close()
            memory.close()

    def test_child_connects_for_itself(self) -> None:
        with orbitkv.connect(shared().socket) as client:
            client.ping()
            context = multiprocessing.get_context("fork")
            process = context.Process(target=_ping, args=(shared().socket,))
            process.start()
            process.join(DEADLINE)
            self.assertEqual(process.exitcode, 0)
            client.ping()


def _ping(path: str) -> None:
    with orbitkv.connect(path) as client:
        client.ping()


@needs_manager
class TwoProcessesTest(unittest.TestCase):
    def test_what_one_publishes_the_other_reads(self) -> None:
        block = name()
        script = (
            "import orbitkv, sys\n"
            "with orbitkv.connect(sys.argv[1]) as c, c.query([('python-tests', bytes.fromhex(sys.argv[2]))]) as l:\n"
            "    page = bytearray(l.blocks[0].bytes); l.copy_into(0, page); print(page.hex())\n"
        )
        data = os.urandom(5000)
        with orbitkv.connect(shared().socket) as client:
            publish(client, {block: data})
            self.assertEqual(finished(program(script, shared().socket, block.hash.hex())).strip(), data.hex())

    # Guard: the pidfd that goes with HELLO; the Manager ends what an exited process held.
    def test_killed_process_leaves_no_lease(self) -> None:
        block = name()
        script = (
            "import orbitkv, sys\n"
            "c = orbitkv.connect(sys.argv[1])\n"
            "l = c.query([('python-tests', bytes.fromhex(sys.argv[2]))]); print(len(l), flush=True); input()\n"
        )
        with orbitkv.connect(shared().socket) as client:
            publish(client, {block: b"bytes"})
            process = program(script, shared().socket, block.hash.hex())
            assert process.stdout is not None
            self.assertEqual(process.stdout.readline().strip(), "1")
            self.assertEqual(client.status()["leases"]["open"], 1)
            process.kill()
            process.communicate()
            until("its lease has ended", lambda: client.status()["leases"]["open"] == 0)


class NobodyTest(unittest.TestCase):
    def test_missing_manager_is_told_at_once(self) -> None:
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            path = os.path.join(folder, "s")
            with self.assertRaisesRegex(orbitkv.ManagerUnavailable, f"no Manager behind {path} .*start one"):
                orbitkv.connect(path)
            left = socket.socket(socket.AF_UNIX)
            left.bind(path)  # a file that a dead Manager left
            left.close()
            with self.assertRaises(orbitkv.ManagerUnavailable):
                orbitkv.connect(path)

    # Guard: the uid in bootstrap._check_user.
    def test_socket_of_another_user_is_a_squatter(self) -> None:
        with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
            path = os.path.join(folder, "s")
            listener.bind(path)
            listener.listen()
            with self.assertRaisesRegex(orbitkv.SquattedSocket, "user"):
                orbitkv.connect(path, manager_uid=os.getuid() + 1, timeout=DEADLINE)

    # Guard: the deadline of bootstrap._answer.
    def test_silent_socket_is_waited_for_no_longer_than_the_timeout(self) -> None:
        with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
            path = os.path.join(folder, "s")
            listener.bind(path)
            listener.listen()
            with self.assertRaises(orbitkv.DeadlineExceeded):
                orbitkv.connect(path, timeout=0.2)
