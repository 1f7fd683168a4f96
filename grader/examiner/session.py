"""One warm pytest session over the hidden suites."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from grader.examiner import plugin
from grader.examiner.loop import ExaminerLoop
from grader.examiner.messages import Setup
from grader.sandbox.channel import Spawner
from grader.sandbox.spawn import ColdSpawner, WarmSpawner

SETTINGS = Path(__file__).with_name("pytest.ini")


def run_session(command: socket.socket, requests: socket.socket) -> int:
    """Read the setup, collect the suites, examine what the command sends; return the status."""
    setup = Setup.model_validate(json.loads(_read_line(command)))
    output_bytes = setup.output_kb * 1024
    spawner: Spawner
    spawner = ColdSpawner(output_bytes) if setup.cold else WarmSpawner(requests, output_bytes)
    loop = ExaminerLoop(setup, command, spawner, requests)
    return run_pytest(setup, [plugin, loop], ("--json-report-file=none",))


def run_pytest(setup: Setup, plugins: list[object], extra: tuple[str, ...] = ()) -> int:
    """Run pytest on the suites with nothing from outside: no plugins, no settings, no conftest."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    arguments = [
        *setup.suites,
        "-c",
        str(SETTINGS),
        f"--rootdir={setup.root}",
        f"--confcutdir={setup.root}",
        "--noconftest",
        "-p",
        "pytest_jsonreport.plugin",
        "--json-report",
        *extra,
    ]
    return int(pytest.main(arguments, plugins=plugins))


def _read_line(command: socket.socket) -> bytes:
    """Read up to the end of the first line, and not a byte more."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = command.recv(1)
        if not byte:
            break
        line += byte
    return bytes(line)
