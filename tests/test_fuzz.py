"""Arbitrary answers of a worker: never a hang, never more memory than the caps, never a pass."""

from __future__ import annotations

import json
import socket
import tracemalloc

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.errors import StudentFaultError
from grader.examiner.checks import Draw, expect_close
from grader.examiner.milestone import MilestoneUnderTest
from grader.examiner.source import Sources, Telling
from grader.examiner.student import Student
from grader.examiner.transport import Sandboxed
from grader.sandbox.channel import Worker
from grader.sandbox.output import KeptOutput
from grader.sandbox.policy import WorkerPolicy
from grader.sandbox.tensors import pack
from grader.sandbox.wire import MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES, PREFIX

LOADED = {"reply": "loaded", "names": {"layernorm_scratch": "function"}, "skipped": []}
# Several times what a frame may hold: reading one keeps a few copies of it.
MEMORY_CAP = 4 * (MAX_HEADER_BYTES + MAX_PAYLOAD_BYTES)


class FuzzSpawner:
    """Gives workers that have loaded the file and then say the given bytes, and no more."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer

    def spawn(self, policy: WorkerPolicy) -> Worker:
        """A worker whose answers lie in its channel before it is asked the second question."""
        channel, there = socket.socketpair()
        output, output_there = socket.socketpair()
        output_there.close()
        return ScriptedWorker(channel, output, there, self.answer)


class ScriptedWorker(Worker):
    """A worker played by the test: its answers are sent when a question has been put."""

    def __init__(
        self, channel: socket.socket, output: socket.socket, there: socket.socket, answer: bytes
    ) -> None:
        super().__init__(channel, output, NoHandle(), KeptOutput(1024))
        self._there = there
        self._script = [frame({"id": 0, "body": LOADED}), answer]

    def _send(self, data: memoryview) -> int:
        sent = super()._send(data)
        if self._script and sent == len(data):
            self._there.setblocking(False)
            answer = self._script.pop(0)
            self._there.send(answer[: 1 << 16]) if answer else None
            if not self._script:
                self._there.shutdown(socket.SHUT_WR)
        return sent


class NoSources(Sources):
    """Nothing is read ahead: the first question is that for the file."""

    def look_ahead(self, file: str, telling: Telling) -> None:
        """Read nothing."""


class NoHandle:
    """Nothing to end."""

    def kill(self) -> int | None:
        """Say that it ended by itself."""
        return 0

    def overfull(self) -> bool:
        """It writes nothing."""
        return False


def frame(header: object, payload: bytes = b"") -> bytes:
    """A well-formed frame around any header."""
    text = json.dumps(header).encode()
    return PREFIX.pack(len(text), len(payload)) + text + payload


def passes(answer: bytes) -> bool:
    """Whether a hidden test passes when the worker answers with some bytes."""
    policy = WorkerPolicy(folder="/", memory_mb=1, cpu_seconds=1)
    transport = Sandboxed(FuzzSpawner(answer), policy, lambda: 5.0)
    under_test = MilestoneUnderTest(
        transport,
        "milestone1_layernorm.py",
        ["milestone1_layernorm.py"],
        ["layernorm_scratch"],
        5,
        NoSources(transport),
    )
    student = Student()
    student.turn_to(under_test)
    x = Draw("fuzz").normal(2, 3)
    try:
        found = student.call("layernorm_scratch", x).tensor
        expect_close(found, x * 3 + 1, "The result", "It differs.")
    except StudentFaultError:
        return False
    finally:
        transport.end()
    return True


values = st.recursive(
    st.one_of(
        st.just({"kind": "foreign", "what": "NoneType"}),
        st.builds(lambda key: {"kind": "tensor", "key": key}, st.sampled_from(["t0", "t1", ""])),
    ),
    lambda inner: st.builds(
        lambda i: {"kind": "sequence", "items": i}, st.lists(inner, max_size=3)
    ),
    max_leaves=5,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
called = st.fixed_dictionaries(
    {
        "reply": st.sampled_from(["called", "ran", "loaded", "several", "faulted", "written"]),
        "output": values | json_values,
        "input_after": st.sampled_from(["", "t0", "t1"]) | json_values,
        "gradients": st.just({}) | json_values,
        "gradient_fault": st.none() | json_values,
        "operators": st.just([]) | json_values,
    }
)
tensors = st.sampled_from(
    [
        torch.zeros(2, 3),
        torch.zeros(0),
        torch.ones(()),
        torch.full((2, 3), float("nan")),
        torch.full((2, 3), float("inf")),
        torch.zeros(2, 3, dtype=torch.float64),
        torch.zeros(2, 3, dtype=torch.bfloat16),
    ]
)
payloads = st.one_of(
    st.binary(max_size=200),
    st.just(b""),
    st.builds(lambda tensor: pack({"t0": tensor}), tensors),
)
answers = st.one_of(
    st.binary(max_size=400),
    st.builds(
        lambda head, tail: PREFIX.pack(*head) + tail,
        st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)),
        st.binary(max_size=64),
    ),
    st.builds(frame, json_values, payloads),
    st.builds(
        lambda number, body, payload: frame({"id": number, "body": body}, payload),
        st.sampled_from([0, 1, 2, -1]),
        called | json_values,
        payloads,
    ),
)


def test_the_harness_can_pass() -> None:
    """The right answer passes here, so that the fuzz tests could fail."""
    right = Draw("fuzz").normal(2, 3) * 3 + 1
    body: dict[str, object] = {
        "reply": "called",
        "output": {"kind": "tensor", "key": "t0"},
        "input_after": "",
        "gradients": {},
        "gradient_fault": None,
        "operators": [],
    }
    assert passes(frame({"id": 1, "body": body}, pack({"t0": right})))


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(answers)
def test_arbitrary_answers_never_pass(answer: bytes) -> None:
    """Whatever a worker sends, the test neither passes nor fails the grader."""
    assert not passes(answer)


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(answers)
def test_twenty_thousand_answers_never_pass(answer: bytes) -> None:
    """The same for many more, watching the memory that is allocated."""
    tracemalloc.start()
    try:
        assert not passes(answer)
        assert tracemalloc.get_traced_memory()[1] < MEMORY_CAP
    finally:
        tracemalloc.stop()
