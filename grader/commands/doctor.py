"""`grade doctor`: the walls of this machine."""

from __future__ import annotations

import sys

from grader.commands.options import JsonOption, RubricOption, default_rubric, print_json
from grader.doctor import (
    doctor_processors,
    doctor_table,
    doctor_verdict,
    probe_answers,
    probe_walls,
)
from grader.errors import ExitStatus
from grader.report.console import console
from grader.rubric import load_rubric
from grader.sandbox.confinement import available_walls
from grader.sandbox.policy import FILE_WALLS


def doctor(*, rubric: RubricOption = None, as_json: JsonOption = False) -> int:
    """Try every wall around student code on this machine, and say what stands."""
    probes = probe_walls()
    walls = available_walls()
    if set(FILE_WALLS) & set(walls):  # without any of them there is nothing to try
        path = rubric or default_rubric()
        probes.append(probe_answers(load_rubric(path), path, walls))
    if as_json:
        print_json([probe.model_dump() for probe in probes])
    else:
        console(sys.stdout).print(doctor_table(probes))
        console(sys.stdout).print(doctor_verdict(probes), markup=False)
        console(sys.stdout).print(doctor_processors(), markup=False)
    return ExitStatus.DONE if all(probe.stands for probe in probes) else ExitStatus.NEEDS_ATTENTION
