"""Answers questions about a student's file, inside the process that holds the student's code.

The same `Runtime` serves a confined worker, where everything it says is only a claim, and
trusted code in the examiner's own process.  It knows no test, no reference and no score.
Its replies are plain data in the form of `grader.sandbox.vocabulary`; the trusted side checks them.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from grader.errors import RefusedTensorError
from grader.sandbox.arguments import bind
from grader.sandbox.faults import fault_of
from grader.sandbox.loader import StatementLoader, load_file
from grader.sandbox.observation import Observer, OperatorRecorder
from grader.sandbox.outline import names_in, outline_of
from grader.sandbox.reach import way_to
from grader.sandbox.values import Outgoing, foreign_word, is_literal, kind_of
from grader.sandbox.vocabulary import Fault, Origin

MAX_EARLIER = 3
MAX_NAMES = 2_000

Question = dict[str, Any]
Tensors = dict[str, Tensor]
Body = dict[str, Any]
Answer = tuple[Body, Tensors]


class NameNotFoundError(Exception):
    """The file does not define what the question asks for."""


class Runtime:
    """A submission's loaded files and the modules built from them.

    Args:
        folder: the submission's own files; only frames below it are reported.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: dict[str, types.ModuleType] = {}
        self.loaders: dict[str, StatementLoader] = {}
        self.built: dict[int, nn.Module] = {}
        self.questions: dict[str, Callable[[Question, Tensors, Outgoing], Body]] = {
            "outline": self._outline,
            "names": self._names,
            "load": self._load,
            "constant": self._constant,
            "call": self._call,
            "build": self._build,
            "run": self._run,
            "reach": self._reach,
        }

    def answer(self, question: Question, tensors: Tensors) -> Answer:
        """Answer one question; whatever the student's code raises becomes a fault.

        Args:
            question: the question and its arguments, as plain data.
            tensors: the tensors that the question names, by key.

        Returns:
            Header and tensors of the reply.
        """
        outgoing = Outgoing()
        if question["question"] == "several":
            parts = [self._body(part, tensors, outgoing) for part in question["questions"]]
            body: Body = {"reply": "several", "replies": parts}
        else:
            body = self._body(question, tensors, outgoing)
        return {"id": question["id"], "body": body}, outgoing.tensors

    def _body(self, question: Question, tensors: Tensors, outgoing: Outgoing) -> Body:
        _reset()
        try:
            return self.questions[question["question"]](question, tensors, outgoing)
        except RefusedTensorError as error:
            return _faulted(Fault(kind="", message=str(error), origin="refused"))
        except NameNotFoundError as error:
            return _faulted(Fault(kind="", message=str(error), origin="not-found"))
        except BaseException as error:
            return _faulted(fault_of(error, self.folder))

    def _outline(self, question: Question, tensors: Tensors, outgoing: Outgoing) -> Body:
        files = {name: outline_of(self.folder / name) for name in question["files"]}
        return {"reply": "outlined", "files": files}

    def _names(self, question: Question, tensors: Tensors, outgoing: Outgoing) -> Body:
        names = names_in(self.folder / question["file"])
        if names is None or len(names) > MAX_NAMES:
            return {"reply": "named", "names": None}
        return {"reply": "named", "names": [name[:300] for name in names]}

    def _load(self, question: Question, tensors: Tensors, outgoing: Outgoing) -> Body:
        path = self.folder / question["file"]
        folders = list(dict.fromkeys([path.parent, self.folder]))
        module, loader = load_file(path, folders, question["definitions_only"])
        self.modules[question["file"]] = module
        self.loaders[question["file"]] = loader
        names = {
            str(name)[:100]: kind_of(value)
            for name, value in list(vars(module).items())[:MAX_NAMES]
            if not str(name).startswith("__")
        }
        return {
            "reply": "loaded",
            "names": names,
            "skipped": [fault.model_dump() for fault in loader.skipped],
        }

    def _constant(self, question: Question, tensors: Tensors, outgoing: Outgoing) -> Body:
        value = self._find(question["file"], question["name"])
        loader = self.loaders[question["file"]]
        bound = loader.values_of(question["name"]) if question["earlier"] else []
        earlier = [old for old in bound[:MAX_EARLIER] if is_literal(old)]
        if is_literal(value):
            return {"reply": "constant", "value": value, "earlier": earlier}
        return {"reply": "constant", "value": None, "foreign": foreign_word(value)}

    def _call(self, question: Question, tensors: Tensors, outgoing: Outgoing) -> Body:
        function = self._find(question["file"], question["function"])
        upstream = tensors.get(question["upstream"]) if question["upstream"] else None
        inputs = _fresh_inputs(question, tensors, upstream is not None)
        positional, named = bind(function, question["arguments"], inputs)
        with OperatorRecorder(question["operators"]) as recorder:
            result = function(*positional, **named)
        operators = recorder.names(result)
        output = outgoing.value(result)
        fault = self._backward(result, upstream)
        return {
            "reply": "called",
            "output": output,
            "input_after": outgoing.add(next(iter(inputs.values())))
            if question["input_after"]
            else "",
            "gradients": _gradients(_numbered(inputs), outgoing),
            "gradient_fault": fault,
            "operators": operators,
        }

    def _build(self, question: Question, tensors: Tensors, outgoing: Outgoing) -> Body:
        create = self._find(question["file"], question["class"])
        # torch.manual_seed also looks for every kind of accelerator, 1 ms each time.
        torch.default_generator.manual_seed(question["seed"])
        positional, named = bind(create, question["arguments"], {})
        module = create(*positional, **named)
        if not isinstance(module, nn.Module):
            raise TypeError(f"{question['class']} is not an nn.Module")
        handle = len(self.built)
        self.built[handle] = module
        return {
            "reply": "built",
            "handle": handle,
            "parameters": _claims(_named_parameters(module), outgoing),
            "buffers": [],  # nobody asks for them, and they may be of any kind and size
            "children": [
                {"name": name[:300], "type": type(child).__name__[:300]}
                for name, child in nn.Module.named_modules(module)
                if name
            ],
        }

    def _run(self, question: Question, tensors: Tensors, outgoing: Outgoing) -> Body:
        module = self.built[question["handle"]]
        upstream = tensors.get(question["upstream"]) if question["upstream"] else None
        inputs = _fresh_inputs(question, tensors, upstream is not None)
        _set_mode(module, question["mode"] == "train")
        needed = question["parameters"] or upstream is not None
        parameters = dict(_named_parameters(module)) if needed else {}
        _set_values(parameters, question["parameters"], tensors)
        leaves = parameters if upstream is not None else {}
        for parameter in leaves.values():
            parameter.grad = None
        if question.get("seed") is not None:
            torch.default_generator.manual_seed(question["seed"])
        with (
            Observer(module, question["watch"], outgoing) as observer,
            OperatorRecorder(question["operators"]) as recorder,
            torch.set_grad_enabled(upstream is not None),
        ):
            result = module(*inputs.values())
        operators = recorder.names(result)
        output = outgoing.value(result)
        fault = self._backward(result, upstream)
        return {
            "reply": "ran",
            "output": output,
            "observations": observer.observations,
            "input_gradients": _gradients(_numbered(inputs), outgoing),
            "parameter_gradients": _gradients(leaves, outgoing),
            "gradient_fault": fault,
            "operators": operators,
        }

    def _reach(self, question: Question, tensors: Tensors, outgoing: Outgoing) -> Body:
        ways = {str(n): way_to(Path(path)) for n, path in enumerate(question["paths"])}
        return {"reply": "reached", "ways": {n: way for n, way in ways.items() if way}}

    def _find(self, file: str, name: str) -> Any:
        # The value is whatever the student bound to the name.
        try:
            return vars(self.modules[file])[name]
        except KeyError:
            raise NameNotFoundError(name) from None

    def _backward(self, result: object, upstream: Tensor | None) -> Body | None:
        """Send the upstream gradient back; say why if that is not possible."""
        if upstream is None:
            return None
        if not isinstance(result, Tensor):
            return _fault("no-tensor", "the result is not a tensor")
        if not result.requires_grad:
            return _fault("gradient-cut", "the result is cut off from the input")
        if result.shape != upstream.shape:
            return _fault("wrong-shape", f"the result has shape {tuple(result.shape)}")
        try:
            # Through a scalar: a gradient argument would make torch import sympy, 0.3 s a process.
            torch.autograd.backward((result * upstream).sum())
        except BaseException as error:
            return fault_of(error, self.folder).model_dump()
        return None


def _reset() -> None:
    """Undo what student code may have set for the whole process.  Mostly there is nothing."""
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)


def _fault(origin: Origin, message: str) -> Body:
    return Fault(kind="", message=message, origin=origin).model_dump()


def _faulted(fault: Fault) -> Body:
    return {"reply": "faulted", "fault": fault.model_dump()}


def _numbered(inputs: Tensors) -> Tensors:
    return {str(index): tensor for index, tensor in enumerate(inputs.values())}


def _fresh_inputs(question: Question, tensors: Tensors, needs_gradient: bool) -> Tensors:
    """Copies of the input tensors, by argument name, as leaves of a new gradient graph."""
    inputs = {}
    for name, key in question["tensors"]:
        tensor = tensors[key].clone()
        floating = tensor.dtype.is_floating_point
        inputs[name] = tensor.requires_grad_(needs_gradient and floating)
    return inputs


def _set_mode(module: nn.Module, training: bool) -> None:
    """Set train or eval mode where it is not in force already."""
    if any(part.training is not training for part in nn.Module.modules(module)):
        nn.Module.train(module, training)


def _set_values(parameters: Tensors, keys: dict[str, str], tensors: Tensors) -> None:
    with torch.no_grad():
        for name, key in keys.items():
            parameters[name].copy_(tensors[key])


def _named_parameters(module: nn.Module) -> list[tuple[str, Tensor]]:
    return list(nn.Module.named_parameters(module))


def _claims(named: Sequence[tuple[str, Tensor]], outgoing: Outgoing) -> list[Body]:
    return [
        {"name": name[:300], "key": outgoing.add(t), "requires_grad": bool(t.requires_grad)}
        for name, t in named
    ]


def _gradients(leaves: Tensors, outgoing: Outgoing) -> dict[str, str]:
    return {
        name[:300]: outgoing.add(leaf.grad)
        for name, leaf in leaves.items()
        if leaf.grad is not None
    }
