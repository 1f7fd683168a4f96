"""`grade score`: saved reports and a changed rubric, nothing run again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import copy_solutions, grade, read_json, shipped_rubric, write_rubric

# The same mistake, which is in no catalogue, written in two ways.
MEDIAN = """
PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    middle = x.median(dim=-1, keepdim=True).values
    return (x - middle) / (x.var(dim=-1, keepdim=True, unbiased=False) + eps).sqrt()
"""
SORTED = """
PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    n = x.shape[-1]
    middle = x.sort(dim=-1).values[..., (n - 1) // 2].unsqueeze(-1)
    centred = x - x.mean(-1, keepdim=True)
    return (x - middle) / (centred.square().mean(-1, keepdim=True) + eps) ** 0.5
"""
UNBIASED = """
PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt()
"""
LAYERNORMS = {"median": MEDIAN, "sorted": SORTED, "unbiased": UNBIASED}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a class of four: three with a wrong LayerNorm, one with none."""
    folder = tmp_path_factory.mktemp("rescore")
    for name, source in LAYERNORMS.items():
        copy_solutions(folder / "class" / name)
        (folder / "class" / name / "milestone1_layernorm.py").write_text(source)
    copy_solutions(folder / "class" / "right")
    done = grade(folder / "class", "--out", folder / "results")
    assert done.returncode == 0, done.stderr
    return folder / "results"


@pytest.fixture
def results(graded: Path, tmp_path: Path) -> Path:
    """A copy of them, to be changed."""
    shutil.copytree(graded, tmp_path / "results")
    return tmp_path / "results"


def card(results: Path, student: str) -> dict[str, Any]:
    """The saved scorecard of a student."""
    content: dict[str, Any] = read_json(results / "students" / student / "score.json")
    return content


def snapshot(results: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(path.relative_to(results)): path.read_bytes()
        for path in sorted(results.rglob("*"))
        if path.is_file()
    }


def changed_rubric(folder: Path, change: dict[str, Any]) -> Path:
    """The shipped rubric with other keys at its top."""
    return write_rubric(folder / "rubric.yaml", {**shipped_rubric(), **change})


def milestones_with(criterion: int, **keys: Any) -> list[dict[str, Any]]:
    """The shipped milestones with keys of one criterion of the first changed."""
    milestones: list[dict[str, Any]] = shipped_rubric()["milestones"]
    milestones[0]["criteria"][criterion] |= keys
    return milestones


def test_equal_mistakes_have_one_group_whatever_the_source_looks_like(graded: Path) -> None:
    """A wrong answer that nothing explains is known by what it computes."""
    groups = {name: card(graded, name)["milestones"][0]["group"] for name in LAYERNORMS}
    assert groups["median"] == groups["sorted"] != ""
    assert groups["unbiased"] == ""
    assert f"layernorm:{groups['median']}" in (graded / "gradebook.csv").read_text()


def test_a_named_group_is_shown_to_all_of_it_without_running_anything(
    results: Path, tmp_path: Path
) -> None:
    """An instructor names it once; reports stay as they are."""
    group = card(results, "median")["milestones"][0]["group"]
    text = {"title": "Median for mean", "message": "Your code takes the value in the middle."}
    rubric = changed_rubric(tmp_path, {"groups": {group: text}})
    reports = {k: v for k, v in snapshot(results).items() if k.endswith("report.json")}
    done = grade("score", results, "--rubric", rubric)
    assert (done.returncode, done.stdout) == (0, "No score changes.\n")
    for student in ("median", "sorted"):
        (shown,) = card(results, student)["milestones"][0]["misconceptions"]
        assert (shown["title"], shown["id"]) == (text["title"], group)
        page = (results / "students" / student / "feedback.md").read_text()
        assert text["message"] in page
    assert "Median" not in (results / "students" / "unbiased" / "feedback.md").read_text()
    after = snapshot(results)
    assert {k: after[k] for k in reports} == reports


def test_a_known_misconception_keeps_its_part_of_the_points(results: Path, tmp_path: Path) -> None:
    """Only who made that mistake alone gains by it, and the table says so."""
    before = card(results, "unbiased")["score"]
    shares = milestones_with(1, misconceptions={"unbiased-variance": 0.75})
    done = grade("score", results, "--rubric", changed_rubric(tmp_path, {"milestones": shares}))
    assert done.returncode == 0
    assert card(results, "unbiased")["score"] == before + 3
    assert done.stdout.splitlines()[1].split() == [
        "unbiased",
        f"{before:g}",
        f"{before + 3:g}",
        "+3",
    ]
    assert len(done.stdout.splitlines()) == 2


def test_nothing_is_written_where_somebody_would_lose_points(results: Path, tmp_path: Path) -> None:
    """Losing points takes a --yes."""
    cheaper = changed_rubric(tmp_path, {"milestones": milestones_with(0, points=1)})
    before = snapshot(results)
    refused = grade("score", results, "--rubric", cheaper)
    assert refused.returncode == 2
    assert "4 of 4 students would lose points" in refused.stderr
    assert "--yes" in refused.stderr
    assert snapshot(results) == before
    accepted = grade("score", results, "--rubric", cheaper, "--yes", "--json")
    assert accepted.returncode == 0
    told = {entry["student"]: entry for entry in json.loads(accepted.stdout)}
    assert told["right"] == {"student": "right", "before": 100.0, "now": 99.0}
    assert card(results, "right")["score"] == 99.0
    assert (results / "gradebook.csv").read_text().count(",99,99,") == 1


def test_the_same_rubric_changes_no_byte(results: Path) -> None:
    """Scoring is a function of report and rubric."""
    before = snapshot(results)
    assert grade("score", results).returncode == 0
    assert snapshot(results) == before


def test_a_folder_without_students_is_refused(tmp_path: Path) -> None:
    """With what to give instead."""
    done = grade("score", tmp_path)
    assert done.returncode == 2
    assert "holds no graded students" in done.stderr
    assert list(tmp_path.iterdir()) == []
