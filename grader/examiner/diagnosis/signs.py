"""Mistakes outside the mathematics: from exceptions, from the source, from how code behaves.

Each sign needs something that was seen to be wrong; the source only tells which cause it has.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence

from grader.errors import StudentFaultError
from grader.examiner.explain import MISSPELLED, NO_FORWARD, known_kind
from grader.examiner.student import Student
from grader.model import Verdict
from grader.sandbox.vocabulary import FunctionOutline, Outline

# Causes by a piece of an exception's text.
BY_TEXT = (
    ("before Module.__init__() call", "super-init-missing"),
    ("not compiled with CUDA", "moved-to-cuda"),
    ("Found no NVIDIA driver", "moved-to-cuda"),
    ("No CUDA GPUs are available", "moved-to-cuda"),
    ("a leaf Variable that requires grad", "input-changed-in-place"),
    ("No module named 'google", "colab-only"),
    ("Can't call numpy() on Tensor that requires grad", "numpy-used"),
    ("__array__", "numpy-used"),
)
BY_KIND = {
    "EOFError": "waits-for-input",
    "FileNotFoundError": "opens-missing-file",
    "ModuleNotFoundError": "missing-library",
    "NotImplementedError": "not-written-yet",
    "TabError": "mixed-tabs",
    MISSPELLED: "misspelled-name",
}
BY_LINE = {
    "merge-marker": "merge-marker",
    "notebook-line": "notebook-line",
    "prompt-line": "prompt-line",
    "tabs": "mixed-tabs",
}
LAYERS = (
    "torch.nn.Linear", "torch.nn.LayerNorm", "torch.nn.Sequential", "torch.nn.Embedding",
    "torch.nn.Conv1d", "torch.nn.Bilinear", "torch.nn.MultiheadAttention", "torch.nn.Parameter",
)  # fmt: skip
MAKES_TENSORS = (
    "torch.randn", "torch.rand", "torch.zeros", "torch.ones", "torch.empty", "torch.tensor",
    "torch.randn_like", "torch.normal", "torch.full",
)  # fmt: skip
CUTS: dict[str, Callable[[FunctionOutline], bool]] = {
    "gradient-cut": lambda f: "data" in f.attributes or _calls_method(f, "detach"),
    "no-grad": lambda f: _calls_any(f, ("torch.no_grad", "torch.inference_mode",
                                       "torch.autograd.no_grad")),
    "numpy-used": lambda f: _calls_module(f, "numpy") or any(
        _calls_method(f, name) for name in ("numpy", "tolist", "item", "from_numpy")
    ),
}  # fmt: skip
# A tensor from numbers cuts the gradient too; a constant made so does not.
FROM_NUMBERS = ("torch.tensor", "torch.Tensor", "torch.FloatTensor")
RANDOM = (
    "rand", "randn", "rand_like", "randn_like", "randint", "randperm", "bernoulli", "normal",
    "multinomial", "normal_", "uniform_", "random", "gauss", "uniform", "choice", "shuffle",
)  # fmt: skip


def fault_sign(error: StudentFaultError, student: Student) -> str:
    """What an exception tells; empty if nothing certain."""
    outline = student.outline
    kind, text = error.kind, error.text
    if kind == "NameError" and student.skipped:  # the name was to come from that statement
        kind, text = known_kind(student.skipped[0]), student.skipped[0].message
    for piece, name in BY_TEXT:
        if piece in text:
            return name
    if kind in ("SyntaxError", "IndentationError", "TabError") and outline is not None:
        return BY_LINE.get(outline.unreadable, "")
    if kind == "NotImplementedError" and NO_FORWARD in text:
        return _misspelled_method(outline, "forward")
    if kind == "TypeError" and "positional argument" in text:
        return _misspelled_method(outline, "__init__")
    if error.verdict == Verdict.MISSING.value and outline is not None and not kind:
        empty = not (outline.functions or outline.classes or outline.unreadable)
        return "not-written-yet" if empty else ""
    return BY_KIND.get(kind, "")


def _misspelled_method(outline: Outline | None, name: str) -> str:
    """Whether a class lacks a method, and has one with nearly that name."""
    methods = [f.name.split(".") for f in outline.functions] if outline else []
    for owner in {parts[0] for parts in methods if len(parts) == 2}:
        own = [parts[1] for parts in methods if parts[0] == owner]
        if name not in own and difflib.get_close_matches(name, own, cutoff=0.7):
            return "misspelled-name"
    return ""


def nothing_sign(functions: Iterable[FunctionOutline], name: str) -> str:
    """Why a function that is right to be asked returns None.

    Args:
        functions: of the source.
        name: of the function that was called.
    """
    own = next((f for f in functions if f.name == name or f.name.endswith(f".{name}")), None)
    if own is None or own.gives == "value":
        return ""
    names = {"printed": "printed-not-returned", "unwritten": "not-written-yet"}
    return names.get(own.gives, "nothing-returned")


def cut_sign(functions: Sequence[FunctionOutline]) -> str:
    """Why no gradient reaches the input, if the source shows exactly one reason."""
    found = [name for name, shows in CUTS.items() if any(shows(f) for f in functions)]
    if "numpy-used" in found and "gradient-cut" in found:
        found.remove("gradient-cut")  # x.detach().numpy() needs both
    if not found and any(_calls_any(f, FROM_NUMBERS) for f in functions):
        return "numpy-used"
    return found[0] if len(found) == 1 else ""


def random_sign(functions: Sequence[FunctionOutline]) -> str:
    """Why the same question has another answer the second time."""
    later = [call for f in functions if not f.name.endswith("__init__") for call in f.calls]
    kept = [kind for f in functions for kind in f.keeps.values()]
    random = any(call.rpartition(".")[2] in RANDOM for call in later)
    dropout = any("dropout" in name.lower() for name in (*later, *kept))
    return "dropout-left-on" if random or dropout else ""


def unregistered_sign(functions: Sequence[FunctionOutline]) -> str:
    """Why a module has fewer parameters than its layers hold, if the source shows one reason."""
    found = []
    made = [kind for f in functions if f.name.endswith("__init__") for kind in f.keeps.values()]
    if any(kind.startswith("list of ") and kind[8:] in LAYERS for kind in made):
        found.append("layers-in-list")
    if any(kind.split("()")[0] in MAKES_TENSORS for kind in made):
        found.append("tensors-not-parameters")
    later = [f for f in functions if not f.name.endswith("__init__")]
    if any(call in LAYERS for f in later for call in f.calls):
        found.append("layers-in-forward")
    return found[0] if len(found) == 1 else ""


def _calls_any(function: FunctionOutline, names: Sequence[str]) -> bool:
    return any(call in names for call in function.calls)


def _calls_method(function: FunctionOutline, name: str) -> bool:
    return any(call.rpartition(".")[2] == name and "." in call for call in function.calls)


def _calls_module(function: FunctionOutline, module: str) -> bool:
    return any(call.startswith(f"{module}.") for call in function.calls)
