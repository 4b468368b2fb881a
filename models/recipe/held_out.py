"""Writes the part of a model's data that it was not trained on, for whoever measures it again.

A safetensors file (https://github.com/huggingface/safetensors): `input.<name>` [n, ...] for every input of the network,
`target` [n, ...], and `baseline` [1 or n, ...]: what somebody would answer who did not look at the inputs, in the form
of the network's output. Its metadata name the `metric`. Numbers of one or two bytes stand for value · scale + offset,
with `<tensor>.scale` and `<tensor>.offset` in the metadata.
"""

import json
from pathlib import Path

import numpy as np

DTYPES = {"float32": "F32", "float16": "F16", "uint8": "U8", "int8": "I8", "int16": "I16", "int32": "I32"}

Packed = tuple[np.ndarray, float, float]  # integers, scale, offset


def pack(values: np.ndarray, dtype: str = "uint8", low: float | None = None, high: float | None = None) -> Packed:
    """Integers for floats between low and high (their own extremes where none are named)."""
    low = float(values.min()) if low is None else low
    high = float(values.max()) if high is None else high
    info = np.iinfo(dtype)
    scale = (high - low) / (info.max - info.min) or 1.0
    offset = low - info.min * scale
    whole = np.rint((values - offset) / scale).clip(info.min, info.max).astype(dtype)
    return whole, scale, offset


def unpack(packed: Packed | np.ndarray) -> np.ndarray:
    """The float32 that a reader of the file computes: in doubles, rounded once."""
    if isinstance(packed, np.ndarray):
        return packed.astype(np.float32)
    whole, scale, offset = packed
    return (whole.astype(np.float64) * scale + offset).astype(np.float32)


def write_held_out(path: Path, metric: str, tensors: dict[str, Packed | np.ndarray], **metadata: str) -> None:
    """Tensors by name, the widest numbers first so that each lies where its type may begin."""
    header: dict = {"__metadata__": {"metric": metric, **metadata}}
    arrays = {}
    for name, value in tensors.items():
        array, scale, offset = value if isinstance(value, tuple) else (value, None, None)
        arrays[name] = np.ascontiguousarray(array)
        if scale is not None:
            header["__metadata__"][f"{name}.scale"] = repr(scale)
            header["__metadata__"][f"{name}.offset"] = repr(offset)
    at = 0
    for name, array in sorted(arrays.items(), key=lambda item: -item[1].itemsize):
        end = at + array.nbytes
        header[name] = {"dtype": DTYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    body = b"".join(arrays[name].tobytes() for name in header if name != "__metadata__")
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
