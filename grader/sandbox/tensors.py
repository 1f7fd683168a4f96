"""Tensors as plain data: in and out of safetensors bytes, with caps before any copy."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from grader.errors import FrameError, RefusedTensorError
from grader.sandbox.wire import MAX_PAYLOAD_BYTES

# The payload also holds the names and shapes of its tensors.
MAX_TENSOR_BYTES = MAX_PAYLOAD_BYTES // 2
PLAIN_DTYPES = frozenset(
    {
        torch.float64, torch.float32, torch.float16, torch.bfloat16,
        torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
    }
)  # fmt: skip


def pack(tensors: Mapping[str, Tensor]) -> bytes:
    """Serialise plain tensors; no tensors give no bytes.

    Raises:
        RefusedTensorError: if together they are too large for a frame.
    """
    if not tensors:
        return b""
    total = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    if total > MAX_TENSOR_BYTES:
        raise RefusedTensorError(f"tensors of {total} bytes are over the cap")
    return save({name: tensor.contiguous() for name, tensor in tensors.items()})


def unpack(payload: bytes) -> dict[str, Tensor]:
    """Read tensors from bytes that nobody has vouched for.

    Raises:
        FrameError: if the bytes are not what safetensors writes: a header that lies about
            lengths, negative or overlapping ranges, an unknown dtype.
    """
    if not payload:
        return {}
    try:
        return load(payload)
    except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise FrameError(f"a payload is not safetensors: {error}") from error


def plain(tensor: Tensor) -> Tensor:
    """Reduce a tensor of student code to its values: detached, dense, on the CPU, unshared.

    Raises:
        RefusedTensorError: naming what kind of tensor it is, if it has no plain values or
            would grow beyond the cap.
    """
    refusal = _refusal(tensor)
    if refusal:
        raise RefusedTensorError(refusal)
    base = tensor.detach()
    if type(base) is not Tensor:
        base = base.as_subclass(Tensor)
    return base.clone(memory_format=torch.contiguous_format).resolve_conj().resolve_neg()


def _refusal(tensor: Tensor) -> str:
    if tensor.is_meta:
        return "a meta tensor, which has a shape but no values"
    if tensor.device.type != "cpu":
        return f"a tensor on the device {tensor.device.type}"
    if tensor.layout is not torch.strided:
        return "a sparse tensor"
    if tensor.is_quantized:
        return "a quantized tensor"
    if tensor.dtype not in PLAIN_DTYPES:
        return f"a tensor of dtype {str(tensor.dtype).removeprefix('torch.')}"
    if tensor.numel() * tensor.element_size() > MAX_TENSOR_BYTES:
        return f"a tensor of {tensor.numel()} elements"
    return ""
