"""How arguments reach a student's function, whose parameters may have other names or order."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch import Tensor


def bind(
    function: Callable[..., Any],
    arguments: Sequence[tuple[str, Any]],
    tensors: dict[str, Tensor],
) -> tuple[list[Any], dict[str, Any]]:
    """Sort arguments into positional and named ones.

    Tensors come first, by position.  An argument goes by name where the signature knows the
    name, otherwise by position; so a renamed parameter gets its value by its place, and a
    signature in another order by its names.

    Args:
        function: a function or class of the student's.
        arguments: name in the stub and value, in the order of the stub.
        tensors: input tensors, by the name in the stub.
    """
    positional: list[Any] = list(tensors.values())
    if not arguments:
        return positional, {}
    wanted = [name for name, _ in arguments]
    if _plainly_has(function, wanted) or _named_parameters(function, wanted).issuperset(wanted):
        return positional, dict(arguments)
    return [*positional, *(value for _, value in arguments)], {}


def _plainly_has(function: Callable[..., Any], wanted: Sequence[str]) -> bool:
    """Tell whether a plain function, or a class with a plain constructor, has these parameters.

    `inspect` would find the same in fifty times the time.
    """
    plain: Any = function
    if type(plain) is type and getattr(plain, "__new__", None) is object.__new__:
        plain = vars(plain).get("__init__")
    if type(plain) is not types.FunctionType or vars(plain):  # `vars`: it may wrap another
        return False
    code = plain.__code__
    by_name = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    return set(by_name).issuperset(wanted)


def _named_parameters(function: Callable[..., Any], wanted: Iterable[str]) -> set[str]:
    """Names by which arguments can be given; any name where only `**kwargs` takes the rest."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return set()
    kinds = {parameter.kind for parameter in parameters}
    if inspect.Parameter.VAR_KEYWORD in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        return set(wanted)
    usable = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {parameter.name for parameter in parameters if parameter.kind in usable}
