"""Questions about a student's modules: building, parameters, running and looking on."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from grader.sandbox.vocabulary import Built, Faulted, Ran
from tests.questions import Questions, fault

pytestmark = pytest.mark.usefixtures("untouched_process")


@pytest.fixture
def questions(tmp_path: Path) -> Questions:
    """Questions about a loaded file."""
    return Questions(tmp_path)


def test_building_claims_parameters_and_children(questions: Questions) -> None:
    """Names, values and whether they are trained; children with their classes; no buffers."""
    reply, carried = questions.build("Unit", ("d", 2), ("f", 5))
    assert isinstance(reply, Built)
    trained = {p.name: p.requires_grad for p in reply.parameters}
    assert trained == {
        "frozen": False,
        "lin.weight": True,
        "lin.bias": True,
        "inner.0.weight": True,
        "inner.0.bias": True,
    }
    shapes = {p.name: tuple(carried[p.key].shape) for p in reply.parameters}
    assert (shapes["lin.weight"], shapes["inner.0.weight"]) == ((5, 2), (2, 5))
    assert reply.buffers == ()
    assert {c.name: c.type for c in reply.children} == {
        "lin": "Linear",
        "drop": "Dropout",
        "inner": "Sequential",
        "inner.0": "Linear",
        "inner.1": "Tanh",
    }


def test_the_same_seed_builds_the_same_module(questions: Questions) -> None:
    """Two builds are two modules; the seed decides their values."""
    weights = []
    for seed in (1, 1, 2):
        reply, carried = questions.build("Unit", ("d", 2), seed=seed)
        by_name = {p.name: carried[p.key] for p in reply.parameters}
        weights.append((reply.handle, by_name["lin.weight"]))
    handles = {handle for handle, _ in weights}
    assert len(handles) == 3
    assert torch.equal(weights[0][1], weights[1][1])
    assert not torch.equal(weights[0][1], weights[2][1])


def test_what_is_no_module_is_a_fault(questions: Questions) -> None:
    """A class without nn.Module is named."""
    kind, message, _ = fault(questions.build("NotAModule", ("d", 2))[0])
    assert (kind, message) == ("TypeError", "NotAModule is not an nn.Module")


def test_a_value_of_another_shape_is_a_fault(questions: Questions) -> None:
    """The module stays usable."""
    handle = questions.build("Unit", ("d", 2))[0].handle
    reply, _ = questions.put(
        "run",
        {"p": torch.ones(9), "x": torch.ones(1, 2)},
        handle=handle,
        parameters={"frozen": "p"},
        tensors=[["x", "x"]],
        mode="eval",
        watch=[],
        upstream="",
        operators=False,
    )
    assert isinstance(reply, Faulted)
    assert isinstance(questions.run(handle, torch.ones(1, 2))[0], Ran)


def test_a_run_in_eval_mode_repeats_and_one_in_train_mode_does_not(questions: Questions) -> None:
    """The mode is set for each run."""
    handle = questions.build("Unit", ("d", 2), ("f", 64))[0].handle
    x = torch.randn(4, 2)
    found = []
    for mode in ("eval", "train", "eval"):
        reply, carried = questions.run(handle, x, mode=mode)
        found.append(carried[reply.output.key])
    assert torch.equal(found[0], found[2])
    assert not torch.equal(found[0], found[1])


def test_a_run_sets_parameters_that_travel_with_it(questions: Questions) -> None:
    """They stay set."""
    handle = questions.build("Unit", ("d", 2))[0].handle
    values = {"frozen": torch.full((2,), 100.0)}
    first, carried = questions.run(handle, torch.zeros(1, 2), values=values)
    assert bool((carried[first.output.key] > 90).all())
    second, carried = questions.run(handle, torch.zeros(1, 2))
    assert bool((carried[second.output.key] > 90).all())


def test_a_run_brings_gradients_of_input_and_parameters(questions: Questions) -> None:
    """Fresh ones for each run, none for what is not trained."""
    handle = questions.build("Unit", ("d", 2))[0].handle
    x, upstream = torch.randn(3, 2), torch.randn(3, 2)
    first, one = questions.run(handle, x, upstream=upstream)
    second, two = questions.run(handle, x, upstream=upstream)
    names = {"lin.weight", "lin.bias", "inner.0.weight", "inner.0.bias"}
    assert first.parameter_gradients.keys() == second.parameter_gradients.keys() == names
    assert first.input_gradients.keys() == {"0"}
    for name in names:
        before, after = one[first.parameter_gradients[name]], two[second.parameter_gradients[name]]
        assert torch.equal(before, after)


def test_a_run_without_upstream_has_no_gradients(questions: Questions) -> None:
    """Nothing is computed that nobody asked for."""
    handle = questions.build("Unit", ("d", 2))[0].handle
    reply, _ = questions.run(handle, torch.randn(3, 2))
    assert (reply.input_gradients, reply.parameter_gradients, reply.gradient_fault) == (
        {},
        {},
        None,
    )


def test_watched_children_are_observed_in_the_order_of_their_calls(questions: Questions) -> None:
    """Each call with what went in and came out; others are not looked at."""
    handle = questions.build("Unit", ("d", 2))[0].handle
    x = torch.randn(3, 2)
    reply, carried = questions.run(handle, x, watch=["inner", "lin", "absent"])
    assert [entry.child for entry in reply.observations] == ["lin", "inner"]
    first, second = reply.observations
    assert torch.equal(carried[first.inputs[0].key], x)
    assert torch.equal(carried[first.output.key], carried[second.inputs[0].key])


def test_overridden_methods_of_a_module_are_not_asked(questions: Questions) -> None:
    """A class that replaces what nn.Module offers is examined all the same."""
    handle = questions.build("Odd")[0].handle
    reply, carried = questions.run(handle, torch.zeros(2), watch=["part", "last"])
    assert reply.output.what == "NoneType"
    assert [entry.child for entry in reply.observations] == ["part", "last", "part"]
    assert carried[reply.observations[2].inputs[0].key].tolist() == [1.0, 1.0]


def test_hooks_are_gone_after_a_run(questions: Questions) -> None:
    """Watching once does not slow or change later runs."""
    handle = questions.build("Counting")[0].handle
    counts = []
    for watch in (["part"], []):
        reply, carried = questions.run(handle, torch.zeros(1), watch=watch)
        counts.append(carried[reply.output.key].item())
    assert counts == [1.0, 0.0]


def test_a_child_that_is_called_without_end_is_seen_so_often_only(questions: Questions) -> None:
    """Hundreds of calls do not make a reply that is over the cap."""
    handle = questions.build("Counting")[0].handle
    reply, _ = questions.run(handle, torch.zeros(1), watch=["part"])
    assert len(reply.observations) == 256


def test_a_whole_module_computes_like_torchs_own(questions: Questions) -> None:
    """A run with known weights gives what these weights give here."""
    reply, carried = questions.build("Unit", ("d", 2))
    values = {p.name: carried[p.key] for p in reply.parameters}
    x = torch.randn(3, 2)
    ran, after = questions.run(reply.handle, x)
    hidden = F.linear(x, values["lin.weight"], values["lin.bias"])
    expected = torch.tanh(F.linear(hidden, values["inner.0.weight"], values["inner.0.bias"]))
    assert torch.allclose(after[ran.output.key], expected + 1, atol=1e-6)
