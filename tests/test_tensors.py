"""Tensors as data: every plain one crosses, no other does, and no bytes are trusted."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from typing import Any

import pytest
import safetensors.torch
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from grader.errors import FrameError, RefusedTensorError
from grader.sandbox.tensors import DTYPE_NAMES, MAX_TENSOR_BYTES, pack, plain, unpack

SHAPES = [(), (0,), (3,), (2, 0, 3), (2, 3, 4), (1, 1, 1)]


def sample(dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
    """Values that tell dtypes, places and signs apart."""
    values = torch.arange(math.prod(shape), dtype=torch.float64).sub(1.0).mul(1.5)
    signed = values.abs() if dtype is torch.uint8 else values
    return signed.to(dtype).reshape(shape)


def same(left: dict[str, Tensor], right: dict[str, Tensor]) -> bool:
    """Names, dtypes, shapes and every bit."""
    return left.keys() == right.keys() and all(
        a.dtype == b.dtype and a.shape == b.shape and bits(a) == bits(b)
        for a, b in ((left[name], right[name]) for name in left)
    )


def bits(tensor: Tensor) -> bytes:
    content: bytes = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return content


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPE_NAMES, ids=str)
def test_every_plain_tensor_comes_back_bit_by_bit(
    dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    """Scalars and empty tensors too; and as the safetensors library writes and reads them."""
    tensors = {"first": sample(dtype, shape), "second": sample(dtype, (5,))}
    found = unpack(pack(tensors))
    assert same(found, tensors)
    assert same(found, safetensors.torch.load(safetensors.torch.save(tensors)))


def test_special_values_keep_their_bits() -> None:
    """NaN, infinities, minus zero and the smallest numbers are values like others."""
    tensors = {"x": torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1e-45])}
    assert same(unpack(pack(tensors)), tensors)


def test_tensors_that_are_not_contiguous_are_sent_as_they_look() -> None:
    """A transposed, a sliced and an expanded tensor carry their own values."""
    base = torch.arange(12.0).reshape(3, 4)
    tensors = {"t": base.T, "slice": base[:, ::2], "wide": base[:1].expand(3, 4)}
    found = unpack(pack(tensors))
    assert all(torch.equal(found[name], tensor) for name, tensor in tensors.items())


@given(st.dictionaries(st.text(max_size=8).filter(lambda n: n != "__metadata__"), st.just(1)))
def test_any_name_comes_back(names: dict[str, int]) -> None:
    """Parameter names are the student's: quotes, newlines and dots survive."""
    tensors = {name: torch.tensor(float(index)) for index, name in enumerate(names)}
    found = unpack(pack(tensors))
    assert {name: value.item() for name, value in found.items()} == {
        name: value.item() for name, value in tensors.items()
    }


def test_no_tensors_are_no_bytes() -> None:
    """A frame without tensors has an empty payload."""
    assert pack({}) == b""
    assert unpack(b"") == {}


def test_tensors_that_are_too_large_together_are_refused() -> None:
    """The cap holds for the sum, and before anything is copied."""
    half = torch.zeros(1, dtype=torch.uint8).expand(MAX_TENSOR_BYTES // 2 + 1)
    assert len(pack({"a": half})) > MAX_TENSOR_BYTES // 2
    with pytest.raises(RefusedTensorError, match="too many elements"):
        pack({"a": half, "b": half})


def test_a_tensor_over_the_cap_is_refused_before_it_is_copied() -> None:
    """A terabyte that an expanded tensor claims to be is never allocated."""
    with pytest.raises(RefusedTensorError, match="too many elements"):
        plain(torch.zeros(1).expand(10**12))


def sparse() -> Tensor:
    return torch.eye(3).to_sparse()


def compressed() -> Tensor:
    return torch.eye(3).to_sparse_csr()


def quantized() -> Tensor:
    return torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)


def nested() -> Tensor:
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: torch.ones(2, device="meta"), "meta"),
        (sparse, "sparse"),
        (compressed, "sparse"),
        (quantized, "quantized"),
        (lambda: torch.ones(2, dtype=torch.complex64), "complex64"),
        (lambda: torch.ones(2, dtype=torch.float8_e5m2), "float8_e5m2"),
        (nested, "nested"),
    ],
    ids=["meta", "sparse", "csr", "quantized", "complex", "float8", "nested"],
)
def test_tensors_without_plain_values_are_refused(make: Callable[[], Tensor], named: str) -> None:
    """The message says what kind of tensor it is."""
    with pytest.raises(RefusedTensorError, match=named):
        plain(make())


class Agreeable(Tensor):
    """A tensor that answers every comparison with yes."""

    __slots__ = ()

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return True


def test_a_subclass_is_reduced_to_its_values() -> None:
    """What a subclass overrides does not reach the other side."""
    tensor = torch.arange(3.0).as_subclass(Agreeable)
    with torch._C.DisableTorchFunctionSubclass():
        found = plain(tensor)
    assert type(found) is Tensor
    assert found.tolist() == [0.0, 1.0, 2.0]


def test_a_plain_tensor_shares_nothing_with_its_origin() -> None:
    """Neither memory nor a gradient graph; a parameter becomes a tensor."""
    parameter = nn.Parameter(torch.ones(2, 3))
    found = plain(parameter.T)
    with torch.no_grad():
        parameter.zero_()
    assert torch.equal(found, torch.ones(3, 2))
    assert type(found) is Tensor
    assert not found.requires_grad
    assert found.is_contiguous()


def payload_of(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def claim(shape: list[int], begin: int, end: int, dtype: str = "F32") -> dict[str, Any]:
    return {"x": {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}}


LYING = {
    "header length": struct.pack("<Q", 1 << 62) + b"{}",
    "header cut": struct.pack("<Q", 50) + b"{}",
    "no header": b"\1\2\3",
    "not JSON": payload_of(b"{]"),
    "not an object": payload_of([1]),
    "longer than the data": payload_of(claim([4], 0, 16), b"\0" * 8),
    "shorter than the data": payload_of(claim([1], 0, 4), b"\0" * 8),
    "another shape": payload_of(claim([3], 0, 16), b"\0" * 16),
    "negative size": payload_of(claim([-4], 0, 16), b"\0" * 16),
    "huge shape": payload_of(claim([1 << 62, 1 << 62], 0, 0)),
    "huge size of nothing": payload_of(claim([0, (1 << 63)], 0, 0)),
    "backwards": payload_of(claim([4], 16, 0), b"\0" * 16),
    "unknown dtype": payload_of(claim([4], 0, 16, "PICKLE"), b"\0" * 16),
    "overlap": payload_of(
        {**claim([4], 0, 16), "y": {"dtype": "F32", "shape": [4], "data_offsets": [8, 24]}},
        b"\0" * 24,
    ),
    "fraction": payload_of({"x": {"dtype": "F32", "shape": [1.5], "data_offsets": [0, 4]}}),
}


@pytest.mark.parametrize("payload", LYING.values(), ids=LYING.keys())
def test_a_header_that_lies_is_refused(payload: bytes) -> None:
    """Lengths, shapes, ranges and dtypes are held against the bytes that are there."""
    with pytest.raises(FrameError):
        unpack(payload)


numbers = st.integers(-1, 40) | st.sampled_from([2**31, 2**32, 2**62, 2**63, 2**64])
claims = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(
            [*DTYPE_NAMES.values(), "F8_E4M3", "F8_E5M2", "C64", "U16", "U32", "U64", "F4", "?"]
        ),
        "shape": st.lists(numbers, max_size=4),
        "data_offsets": st.tuples(numbers, numbers).map(list),
    }
)
payloads = st.builds(
    payload_of, st.dictionaries(st.text(max_size=4), claims, max_size=3), st.binary(max_size=40)
)


@settings(max_examples=400)
@given(st.binary(max_size=80) | payloads)
@example(payload_of({"__metadata__": {"a": "b"}}))
@example(payload_of(claim([0, 2**62], 0, 0)))
@example(payload_of(claim([0, 2**63], 0, 0)))
def test_arbitrary_payloads_give_tensors_or_a_frame_error(payload: bytes) -> None:
    """No bytes bring another exception out, and no tensor is larger than the bytes."""
    try:
        found = unpack(payload)
    except FrameError:
        return
    assert sum(t.numel() * t.element_size() for t in found.values()) <= len(payload)
