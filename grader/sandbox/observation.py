"""Looking on while a student's module runs: its children's calls, and the operators used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils.hooks import RemovableHandle

from grader.sandbox.values import Outgoing

MAX_OBSERVATIONS = 256
MAX_OPERATORS = 2_000


class Observer:
    """Records what watched children receive and return, in the order of the calls."""

    def __init__(self, module: nn.Module, watch: Sequence[str], outgoing: Outgoing) -> None:
        self.observations: list[dict[str, Any]] = []
        self._outgoing = outgoing
        self._handles: list[RemovableHandle] = []
        modules = nn.Module.named_modules(module) if watch else ()
        self._children = {name: child for name, child in modules if name in watch}

    def __enter__(self) -> Observer:
        for name, child in self._children.items():
            hook = self._hook(name)
            handle = nn.Module.register_forward_hook(child, hook, with_kwargs=True)
            self._handles.append(handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for handle in self._handles:
            handle.remove()

    def _hook(self, name: str) -> Callable[..., None]:
        def record(
            child: nn.Module,
            positional: Sequence[object],
            named: Mapping[str, object],
            output: object,
        ) -> None:
            if len(self.observations) < MAX_OBSERVATIONS:
                received = [v for v in (*positional, *named.values()) if isinstance(v, Tensor)]
                self.observations.append(
                    {
                        "child": name[:300],
                        "inputs": [self._outgoing.value(value) for value in received[:8]],
                        "output": self._outgoing.value(output),
                    }
                )

        return record


class OperatorRecorder:
    """Collects the names of torch functions called, and of the gradient nodes of the result."""

    def __init__(self, wanted: bool) -> None:
        self._mode = _FunctionNames() if wanted else None

    def __enter__(self) -> OperatorRecorder:
        if self._mode is not None:
            self._mode.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._mode is not None:
            self._mode.__exit__(kind, error, trace)  # type: ignore[no-untyped-call]

    def names(self, result: object) -> tuple[str, ...]:
        """All names, sorted; none when they were not wanted."""
        if self._mode is None:
            return ()
        found = self._mode.found | _gradient_nodes(result)
        return tuple(sorted(found))[:MAX_OPERATORS]


class _FunctionNames(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        self.found.add(str(getattr(func, "__name__", ""))[:300])
        return func(*args, **(kwargs or {}))


def _gradient_nodes(result: object) -> set[str]:
    found: set[str] = set()
    start = result.grad_fn if isinstance(result, Tensor) else None
    waiting: list[Any] = [start] if start is not None else []
    seen: set[Any] = set()
    while waiting and len(seen) < MAX_OPERATORS:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        found.add(str(node.name())[:300])
        waiting += [following for following, _ in node.next_functions if following is not None]
    return found
