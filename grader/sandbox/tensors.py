"""Tensors as plain data: in and out of safetensors bytes, with caps before any copy.

Reading, where nobody can be trusted, is left to the safetensors library.  Writing is done here:
the format is a length, a JSON header and the raw bytes, and the library's writer takes 0.1 ms
more a frame, a good part of a question's whole cost.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from grader.errors import FrameError, RefusedTensorError
from grader.sandbox.wire import MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES, to_json

# The payload also holds the names and shapes of its tensors.
MAX_TENSOR_BYTES = MAX_PAYLOAD_BYTES // 2
# The format's names: https://github.com/huggingface/safetensors, "Format".
DTYPE_NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def pack(tensors: Mapping[str, Tensor]) -> bytes:
    """Serialise plain tensors; no tensors give no bytes.

    Raises:
        RefusedTensorError: if together they are too large for a frame.
    """
    if not tensors:
        return b""
    total = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    if total > MAX_TENSOR_BYTES:
        raise RefusedTensorError("a tensor with too many elements")
    header = {}
    parts = []
    start = 0
    for name, tensor in tensors.items():
        # NumPy knows no bfloat16, but integers of its size.
        known = tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor
        content = known.numpy().tobytes()
        end = start + len(content)
        header[name] = {
            "dtype": DTYPE_NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
        parts.append(content)
        start = end
    text = to_json(header)
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


def unpack(payload: bytes) -> dict[str, Tensor]:
    """Read tensors from bytes that nobody has vouched for.

    Raises:
        FrameError: if the bytes are not what safetensors writes: a header that lies about
            lengths, negative or overlapping ranges, an unknown dtype.
    """
    if not payload:
        return {}
    if len(payload) < 8 or struct.unpack("<Q", payload[:8])[0] > MAX_HEADER_BYTES:
        raise FrameError("a payload names too many tensors")
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
    copy = base.clone(memory_format=torch.contiguous_format)
    return copy.resolve_neg() if copy.is_neg() else copy


def _refusal(tensor: Tensor) -> str:
    if tensor.is_meta:
        return "a meta tensor, which has a shape but no values"
    if tensor.device.type != "cpu":
        return f"a tensor on the device {tensor.device.type}"
    if tensor.is_nested:
        return "a nested tensor"
    if tensor.layout is not torch.strided:
        return "a sparse tensor"
    if tensor.is_quantized:
        return "a quantized tensor"
    if tensor.dtype not in DTYPE_NAMES:
        return f"a tensor of dtype {str(tensor.dtype).removeprefix('torch.')}"
    if tensor.numel() * tensor.element_size() > MAX_TENSOR_BYTES:
        return "a tensor with too many elements"
    return ""
